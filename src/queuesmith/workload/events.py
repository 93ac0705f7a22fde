"""What was submitted to the UBCCR Slurm simulator: ``*.events``, one job a line.

A line is ``-dt 49 -e submit_batch_job | -J job_2 -sim-walltime 1201 --uid=ann -t 30 -n 12 run.sh``:
seconds since the beginning, what happens, then the options of sbatch. What became of the jobs is
not told: their start is what a replay finds out.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, log_name, read_bytes
from queuesmith.workload.clean import Overrun, RawLog, clean
from queuesmith.workload.sbatch import requests_of, sbatch_options
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Change, Ints, Workload

SUBMIT = "submit_batch_job"
#: Columns of whole numbers and of texts; all others are for the reader alone.
_NUMBERS = (
    *("requested_nodes", "most_nodes", "tasks", "tasks_per_node", "cores_per_task"),
    *("memory_per_node", "memory_per_core", "gpus_per_node", "gpus", "exclusive"),
    *("array", "array_limit"),
)
_TEXTS = (
    *("gpu_type", "constraint", "partition", "qos", "account", "dependency"),
    *("wanted_nodes", "excluded_nodes", "licenses", "reservation"),
)
_NUMBER_AT_THE_END = re.compile(r"(?:.*?)([0-9]{1,15})")
_MOST_TASKS = 10_000_000


@dataclass
class _Jobs:
    """The jobs read so far, and what could not be used."""

    submit: list[float] = field(default_factory=list)
    runtime: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    strange: Counter[str] = field(default_factory=Counter)
    other_events: Counter[str] = field(default_factory=Counter)


def read_events(path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False) -> Workload:
    """Read the jobs that were submitted to a Slurm simulator, plain or gzipped.

    Parameters
    ----------
    path
        The file.
    overrun
        Has no effect: a job that would run beyond its time limit is ended there by Slurm.
    strict
        Raise instead of leaving jobs out.

    Returns
    -------
    Workload
        Second 0 is the beginning of the simulation. ``extra`` holds what the jobs ask for, see
        `queuesmith.workload.requests`.
    """
    return parse_events(read_bytes(path), path, overrun=overrun, strict=strict)


def parse_events(
    data: bytes, path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False
) -> Workload:
    """Read jobs from bytes; ``path`` is what messages call them."""
    text = decoded(check_text(data, path, "a list of events"))
    jobs = _Jobs()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            _read_line(jobs, line, f"line {number} of '{path}'")
    if not jobs.submit:
        raise WorkloadError(
            f"'{path}' submits no job. Give a file whose lines have -dt SECONDS -e {SUBMIT} | ..."
        )
    log, changes = _raw_log(jobs, path)
    workload = clean(log, overrun=overrun, strict=strict)
    return workload.noting(*changes)


def _read_line(jobs: _Jobs, line: str, place: str) -> None:
    event, bar, call = line.partition("|")
    when, _ = sbatch_options(event.split(), own=("dt",))
    kind = when.get("e", "")
    if not bar or "dt" not in when:
        raise WorkloadError(
            f"{place} is {line.strip()[:60]!r}, but an event is written as "
            f"-dt SECONDS -e {SUBMIT} | OPTIONS. Correct the line."
        )
    if kind != SUBMIT:
        jobs.other_events[kind] += 1
        return
    try:
        words = shlex.split(call) if '"' in call or "'" in call else call.split()
        options, _ = sbatch_options(words, own=("sim-walltime", "jobid"))
        runtime = _seconds(options.pop("sim-walltime", "-1"))
        options.pop("jobid", None)
        found = requests_of(options, jobs.strange)
        submit = _seconds(when["dt"])
    except (ValueError, OverflowError) as error:
        raise WorkloadError(
            f"{place} has a value that sbatch does not take ({error}). Correct the line."
        ) from None
    _add(jobs, submit, runtime, options.get("job-name", ""), found)
    if len(jobs.submit) > _MOST_TASKS:
        raise WorkloadError(f"{place} asks for more than {_MOST_TASKS:,} jobs. Ask for fewer.")


def _seconds(text: str) -> float:
    value = float(text)
    if not abs(value) < 2**40:
        raise ValueError(text)
    return value


def _add(jobs: _Jobs, submit: float, runtime: float, name: str, found: dict[str, Any]) -> None:
    """Add a job, or each task of its array."""
    tasks = found.pop("array_tasks", None)
    if tasks is not None:
        found["array"] = len(jobs.submit) + 1
    for _ in range(min(tasks or 1, _MOST_TASKS + 1)):
        jobs.submit.append(submit)
        jobs.runtime.append(runtime)
        jobs.names.append(name if tasks is None else "")
        jobs.requests.append(found)


def _raw_log(jobs: _Jobs, path: AnyPath) -> tuple[RawLog, list[Change]]:
    times = np.array([jobs.submit, jobs.runtime])
    fractions = int(np.count_nonzero((times != np.rint(times)).any(axis=0)))
    submit, runtime = np.rint(times).astype(np.int64)
    limit = _column(jobs, "time")
    endless, short = runtime < 0, runtime == 0
    # Without a runtime of its own, a job of the simulator runs until Slurm ends it.
    long = (limit > 0) & (runtime > limit)
    runtime = np.where(endless | long, limit, np.where(short, 1, runtime))
    users, user_names = coded([request.get("user", "") for request in jobs.requests])
    extra, labels = _columns(jobs)
    log = RawLog(
        id=_ids(jobs.names),
        submit=submit,
        runtime=runtime,
        requested_time=limit,
        requested_cores=_cores(jobs),
        allocated_cores=np.full(len(submit), -1, np.int64),
        user=users,
        extra=extra,
        labels={"user": user_names, **labels},
        name=log_name(path),
    )
    ended = int(np.count_nonzero(endless | long))
    return log, [
        Change("fractions of a second rounded", fractions, dropped=False),
        Change("ran for less than a second; taken to run for one", int(short.sum()), dropped=False),
        Change("runs until its time limit, where Slurm ends it", ended, dropped=False),
        *(_passed_over("option", jobs.strange)),
        *(_passed_over("event", jobs.other_events)),
    ]


def _passed_over(what: str, names: Counter[str]) -> list[Change]:
    reason = "means nothing here"
    return [Change(f"{name} {reason}", n, dropped=False, what=what) for name, n in names.items()]


def _column(jobs: _Jobs, name: str, unknown: int = -1) -> Ints:
    return np.array([request.get(name, unknown) for request in jobs.requests], np.int64)


def _cores(jobs: _Jobs) -> Ints:
    """Return tasks times cores of each; without tasks, those of the nodes or one a node."""
    nodes, per_node = (
        np.maximum(_column(jobs, "requested_nodes"), 1),
        _column(jobs, "tasks_per_node"),
    )
    tasks = _column(jobs, "tasks")
    tasks = np.where(tasks > 0, tasks, nodes * np.maximum(per_node, 1))
    return tasks * np.maximum(_column(jobs, "cores_per_task"), 1)


def _ids(names: list[str]) -> Ints:
    """Return the numbers at the end of the jobs' names where all differ, else 1, 2, 3."""
    matches = [_NUMBER_AT_THE_END.fullmatch(name) for name in names]
    numbers = [int(match[1]) for match in matches if match is not None]
    if len(numbers) < len(names) or len(set(numbers)) < len(numbers):
        return np.arange(1, len(names) + 1)
    return np.array(numbers, np.int64)


def _columns(jobs: _Jobs) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, ...]]]:
    columns: dict[str, NDArray[Any]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for name in _NUMBERS:
        column = _column(jobs, name)
        if (column >= 0).any():
            columns[name] = np.maximum(column, 0) if name == "exclusive" else column
    for name in _TEXTS:
        codes, names = coded([request.get(name, "") for request in jobs.requests])
        if names:
            columns[name], labels[name] = codes, names
    return columns, labels

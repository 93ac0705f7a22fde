"""The parallel jobs that a federation runs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import number, seeded, whole_number
from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import (
    AnyPath,
    check_text,
    decoded,
    log_name,
    read_bytes,
    write_bytes,
)
from queuesmith.base.words import so_many
from queuesmith.federation.model.clusters import Clusters, Floats, Ints
from queuesmith.federation.model.fitting import can_split
from queuesmith.workload import Workload
from queuesmith.workload.workload import Change

COLUMNS = ("id", "tasks", "base_time", "task_bandwidth", "sigma")
OPTIONAL_COLUMNS = ("submit",)
#: The columns of a job that only federations look at.
JOB_COLUMNS = ("base_time", "task_bandwidth", "sigma")
#: The longest base time and latest arrival: sums of many stay exact to the second.
LONGEST_TIME = 2**40
MOST_TASKS = 2**20


@dataclass(frozen=True, eq=False)
class FederationJobs:
    """Rigid parallel jobs in the order of their arrival, as read-only columns.

    Parameters
    ----------
    tasks
        How many tasks each job has. Every task takes one node; all run at the same time.
    base_time
        The seconds each job takes on dedicated nodes of power 1; need not be whole.
    task_bandwidth
        The bandwidth each of its tasks needs, in the unit of the links.
    sigma
        The share of its time that is processing, 0 to 1; the rest is communication.
    submit
        When each job arrives, in whole seconds; by default all at 0.
    id
        What each job is called; by default ``1``, ``2``, and so on.
    name
        What messages and figures call these jobs.
    changes
        What was dropped or mended on the way here, with its reason.
    """

    tasks: Ints
    base_time: Floats
    task_bandwidth: Floats
    sigma: Floats
    submit: Ints
    id: tuple[str, ...]
    name: str
    changes: tuple[Change, ...] = field(default=())

    def __init__(
        self,
        tasks: ArrayLike,
        base_time: ArrayLike,
        task_bandwidth: ArrayLike,
        sigma: ArrayLike,
        *,
        submit: ArrayLike | None = None,
        id: Sequence[object] | None = None,
        name: str = "jobs",
        changes: tuple[Change, ...] = (),
    ) -> None:
        count = np.size(np.asarray(tasks))
        names = tuple(str(x) for x in (range(1, count + 1) if id is None else id))
        columns: dict[str, NDArray[Any]] = {
            "tasks": _numbers(tasks, "tasks"),
            "base_time": _numbers(base_time, "base_time"),
            "task_bandwidth": _numbers(task_bandwidth, "task_bandwidth"),
            "sigma": _numbers(sigma, "sigma"),
            "submit": _numbers(np.zeros(count) if submit is None else submit, "submit"),
        }
        _check_columns(columns, names, name)
        columns["tasks"] = columns["tasks"].astype(np.int64)
        columns["submit"] = columns["submit"].astype(np.int64)
        order = np.argsort(columns["submit"], kind="stable")
        for key, values in columns.items():
            column = values[order]
            column.setflags(write=False)
            object.__setattr__(self, key, column)
        object.__setattr__(self, "id", tuple(names[i] for i in order))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "changes", tuple(changes))

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        return (
            f"<FederationJobs '{self.name}': {so_many(len(self), 'job')}, "
            f"{so_many(self.tasks.sum(), 'task')}>"
        )

    @cached_property
    def offset(self) -> Ints:
        """Where each job's nodes begin in a list of the nodes of all jobs; one more at the end."""
        offset = np.concatenate([[0], np.cumsum(self.tasks)]).astype(np.int64)
        offset.setflags(write=False)
        return offset

    @cached_property
    def workload(self) -> Workload:
        """The same jobs, in the same order, as a schedule has them.

        A task is a core, the runtime is the base time rounded up, and what only federations look
        at are further columns. Jobs are numbered from 0; ``labels["id"]`` are their names.
        """
        seconds = np.ceil(self.base_time).astype(np.int64)
        return Workload(
            self.submit,
            seconds,
            seconds,
            self.tasks,
            id=np.arange(len(self)),
            extra={column: getattr(self, column) for column in JOB_COLUMNS},
            labels={"id": self.id},
            name=self.name,
            changes=self.changes,
        )

    @classmethod
    def of(cls, workload: Workload) -> FederationJobs:
        """Return the jobs that a workload was made of; see `workload`."""
        return cls(
            workload.cores,
            *(workload.extra[column] for column in JOB_COLUMNS),
            submit=workload.submit,
            id=[workload.label("id", number) for number in workload.id.tolist()],
            name=workload.name,
            changes=workload.changes,
        )

    # -- making other jobs of them -----------------------------------------------------------

    def select(self, chosen: ArrayLike) -> FederationJobs:
        """Keep the jobs of a mask or of a list of positions."""
        index = np.arange(len(self))[np.asarray(chosen)]
        columns = {key: getattr(self, key)[index] for key in (*COLUMNS[1:], "submit")}
        ids = [self.id[i] for i in index]
        return FederationJobs(**columns, id=ids, name=self.name, changes=self.changes)

    def queued(self) -> FederationJobs:
        """Return the same jobs as one queue: all wait at second 0, in order of arrival."""
        if not self.submit.any():
            return self
        columns = {key: getattr(self, key) for key in COLUMNS[1:]}
        return FederationJobs(**columns, id=self.id, name=self.name, changes=self.changes)

    def fitting(self, federation: Clusters, saturation: float = 1.0) -> FederationJobs:
        """Keep the jobs that the federation can run, and note how many are left out.

        Parameters
        ----------
        federation
            Where they should run.
        saturation
            How many times its bandwidth each link may be loaded.
        """
        fits = _which_fit(federation, self, saturation)
        if fits.all():
            return self
        kept = self.select(fits)
        reason = f"federation '{federation.name}' cannot run them even when it is empty"
        change = Change(reason, int(np.count_nonzero(~fits)), dropped=True)
        object.__setattr__(kept, "changes", (*kept.changes, change))
        return kept

    # -- files and logs ----------------------------------------------------------------------

    @classmethod
    def read(cls, path: AnyPath) -> FederationJobs:
        """Read jobs from CSV with ``id,tasks,base_time,task_bandwidth,sigma``, maybe ``submit``."""
        text = decoded(check_text(read_bytes(path), path, "CSV"))
        rows = list(csv.reader(io.StringIO(text, newline="")))
        head = [word.strip() for word in rows[0]]
        _check_head(head, path)
        lines = [(n, row) for n, row in enumerate(rows[1:], 2) if any(map(str.strip, row))]
        columns: dict[str, list[Any]] = {name: [] for name in head}
        for line, row in lines:
            if len(row) != len(head):
                raise WorkloadError(
                    f"line {line} of '{path}' has {so_many(len(row), 'value')}, but its header has "
                    f"{so_many(len(head), 'column')}. Correct it."
                )
            for column, word in zip(head, row, strict=True):
                value = word.strip()
                columns[column].append(
                    value if column == "id" else _number(value, column, line, path)
                )
        return cls(
            *(columns[name] for name in COLUMNS[1:]),
            submit=columns.get("submit"),
            id=columns["id"],
            name=log_name(path),
        )

    def write(self, path: AnyPath) -> None:
        """Write the jobs as CSV; every number reads back as the same."""
        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*COLUMNS, *OPTIONAL_COLUMNS])
        columns = [_plain(getattr(self, key)) for key in (*COLUMNS[1:], *OPTIONAL_COLUMNS)]
        table.writerows(zip(self.id, *columns, strict=True))
        write_bytes(path, text.getvalue().encode())

    @classmethod
    def from_workload(
        cls,
        workload: Workload,
        *,
        cores_per_node: int = 1,
        sigma: tuple[float, float] = (0.7, 0.7),
        task_bandwidth: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
    ) -> FederationJobs:
        """Take the jobs of a log as jobs of a federation.

        A log says nothing of communication, so the following is assumed: a task is one node's
        worth of cores; the runtime in the log is the base time on dedicated nodes of power 1 (at
        least one second); sigma and the bandwidth of a task are drawn evenly from a range.

        Parameters
        ----------
        workload
            The jobs. Second 0 is the first submission.
        cores_per_node
            How many cores make a node; a job's last node may be used in part.
        sigma, task_bandwidth
            The least and the greatest value; by default jobs are as in the paper (sigma 0.7) and
            do not use the links.
        seed
            Same seed, same jobs.
        """
        width = whole_number("cores_per_node", cores_per_node, 1, "Give for example 32.")
        low, high = _checked_range("sigma", sigma, 1.0)
        thin, thick = _checked_range("task_bandwidth", task_bandwidth, 1e12)
        if not len(workload):
            raise WorkloadError(f"log '{workload.name}' has no jobs to place. Give another one.")
        rng = seeded(seed)
        short = int(np.count_nonzero(workload.runtime < 1))
        reason = "ran for no whole second; counted as one second"
        return cls(
            -(-workload.cores // width),
            np.maximum(workload.runtime, 1),
            rng.uniform(thin, thick, len(workload)),
            rng.uniform(low, high, len(workload)),
            submit=workload.submit - workload.submit[0],
            id=_unique([str(number) for number in workload.id]),
            name=workload.name,
            changes=(*workload.changes, *([Change(reason, short, dropped=False)] if short else [])),
        )


def check_fits(federation: Clusters, jobs: FederationJobs, saturation: float = 1.0) -> None:
    """Raise an error that names the first job which the federation can never run, if there is one.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    saturation
        How many times its bandwidth each link may be loaded; 1 means that none saturates.
    """
    if not len(jobs):
        raise WorkloadError(f"'{jobs.name}' has no jobs to place. Give at least one.")
    fits = _which_fit(federation, jobs, saturation)
    if fits.all():
        return
    job = int(np.argmin(fits))
    tasks, wide = int(jobs.tasks[job]), federation.nodes
    if tasks > wide:
        raise WorkloadError(
            f"job {jobs.id[job]} has {tasks} tasks, but federation '{federation.name}' has "
            f"{so_many(wide, 'node')}, one for each task. Leave the job out, or add nodes."
        )
    raise WorkloadError(
        f"job {jobs.id[job]} has {so_many(tasks, 'task')} of bandwidth "
        f"{jobs.task_bandwidth[job]:g}, but however they are spread over federation "
        f"'{federation.name}', a link is loaded beyond {saturation:g} times its bandwidth. Leave "
        "the job out, or allow more with --saturation."
    )


def _which_fit(federation: Clusters, jobs: FederationJobs, saturation: float) -> NDArray[np.bool_]:
    """Which jobs can run when nothing else does."""
    room = federation.bandwidth * saturation
    return can_split(jobs.tasks, jobs.task_bandwidth, federation.cluster_nodes, room)


def _numbers(values: ArrayLike, column: str) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WorkloadError(f"column '{column}' has values that are no numbers.") from None
    return array


#: The rule of each column: the least and the greatest value, whether whole, and how it is said.
RULES = {
    "tasks": (1, MOST_TASKS, True, f"a whole number from 1 to {MOST_TASKS:,}"),
    "base_time": (1e-3, LONGEST_TIME, False, f"seconds from 0.001 to {LONGEST_TIME:,}"),
    "task_bandwidth": (0, 1e12, False, f"a number from 0 to {1e12:g}"),
    "sigma": (0, 1, False, "a share from 0 to 1"),
    "submit": (0, LONGEST_TIME, True, f"whole seconds from 0 to {LONGEST_TIME:,}"),
}


def _check_columns(
    columns: dict[str, NDArray[np.float64]], ids: tuple[str, ...], name: str
) -> None:
    for column, values in columns.items():
        if values.shape != (len(ids),):
            raise WorkloadError(
                f"column '{column}' of '{name}' has the shape {values.shape}, but there "
                f"{'is 1 id' if len(ids) == 1 else f'are {len(ids)} ids'}. Give one value for each "
                "job."
            )
        least, greatest, whole, words = RULES[column]
        right = (values >= least) & (values <= greatest)
        if whole:
            right &= values == np.floor(values)
        if not right.all():
            job = int(np.argmin(right))
            raise WorkloadError(
                f"job {ids[job]} of '{name}' has the {column} {values[job]:g}, but it must be "
                f"{words}. Correct it, or leave the job out."
            )
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise WorkloadError(
            f"'{name}' has two jobs called '{twice}', but ids tell jobs apart. Rename one."
        )


def _check_head(head: list[str], path: AnyPath) -> None:
    wanted = ",".join(COLUMNS)
    for column in COLUMNS:
        if column not in head:
            raise WorkloadError(
                f"'{path}' has no column '{column}', but jobs have the header '{wanted}' and, if "
                "wanted, 'submit'. Add it."
            )
    for column in head:
        if column not in (*COLUMNS, *OPTIONAL_COLUMNS) or head.count(column) > 1:
            raise WorkloadError(
                f"'{path}' has the column '{column}' too much: jobs have the header '{wanted}' "
                "and, if wanted, 'submit'. Remove it."
            )


def _number(word: str, column: str, line: int, path: AnyPath) -> float:
    try:
        return float("" if "_" in word else word)  # Python takes 1_0 for 10
    except ValueError:
        raise WorkloadError(
            f"line {line} of '{path}' has the {column} '{word}', but it must be "
            f"{RULES[column][3]}. Correct it."
        ) from None


def _plain(column: NDArray[Any]) -> list[int | float]:
    """The values of a column, whole ones without a decimal point."""
    return [int(value) if value == int(value) else value for value in column.tolist()]


def _checked_range(name: str, values: tuple[float, float], most: float) -> tuple[float, float]:
    low, high = values
    number(f"the least {name}", low, 0, most, "Give for example 0.5.")
    number(f"the greatest {name}", high, low, most, "Give for example 0.9.")
    return float(low), float(high)


def _unique(names: list[str]) -> list[str]:
    """The same names, later ones of a name told apart by a number: logs may number jobs anew."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        times = seen[name] = seen.get(name, 0) + 1
        if times > 1:
            names[place] = f"{name}#{times}"
    return names

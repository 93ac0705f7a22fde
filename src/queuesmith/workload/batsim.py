"""Workloads of the simulator Batsim: one JSON object with jobs and the profiles that they follow.

Only profiles whose time does not hang on a platform have a runtime: ``delay``, and sequences
(``composed``, ``sequence``) of these. Jobs of other profiles are left out and counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, log_name, read_bytes
from queuesmith.base.words import so_many
from queuesmith.workload.clean import Overrun, RawLog, clean
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Change, Workload

SEQUENCES = ("composed", "sequence")
DEEPEST = 50


def read_batsim(path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False) -> Workload:
    """Read a workload of Batsim, plain or gzipped.

    Parameters
    ----------
    path
        The JSON file.
    overrun
        What to do where a job runs longer than its walltime: ``"raise"`` the walltime, or
        ``"cut"`` the job.
    strict
        Raise instead of leaving jobs out.
    """
    return parse_batsim(read_bytes(path), path, overrun=overrun, strict=strict)


def parse_batsim(
    data: bytes, path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False
) -> Workload:
    """Read jobs from bytes; ``path`` is what messages call them."""
    content = _content(decoded(check_text(data, path, "a workload of Batsim")), path)
    profiles = content.get("profiles", {})
    jobs = [_job(job, place, path) for place, job in enumerate(content["jobs"])]
    seconds = [_runtime(profiles, job.get("profile"), path) for job in jobs]
    known = [i for i, runtime in enumerate(seconds) if runtime is not None]
    lost = Change("has a profile whose time hangs on a platform", len(jobs) - len(known), True)
    if strict and lost.count:
        have = "has a profile" if lost.count == 1 else "have profiles"
        raise WorkloadError(
            f"{so_many(lost.count, 'job')} of '{path}' {have} whose time hangs on a platform. "
            "Leave such jobs out by not asking for --strict."
        )
    if not known:
        raise WorkloadError(
            f"no job of '{path}' has a profile with a time of its own. Give jobs with profiles of "
            "the type delay."
        )
    return _cleaned(
        [jobs[i] for i in known],
        [seconds[i] or 0.0 for i in known],
        content,
        path,
        overrun=overrun,
        strict=strict,
    ).noting(lost)


def _cleaned(
    jobs: list[dict[str, Any]],
    runtime: list[float],
    content: Mapping[str, Any],
    path: AnyPath,
    *,
    overrun: Overrun,
    strict: bool,
) -> Workload:
    names = [str(job["id"]) for job in jobs]
    numbered = all(name.isdecimal() for name in names) and len(set(names)) == len(names)
    users, user_names = coded([str(job.get("user", "")) for job in jobs])
    labels = {"user": user_names} if user_names else {}
    count = len(jobs)
    walltime = [-1 if job.get("walltime") == "inf" else job.get("walltime", -1) for job in jobs]
    log = RawLog(
        id=np.array([int(name) for name in names] if numbered else range(1, count + 1), np.int64),
        submit=np.array([math.floor(job["subtime"]) for job in jobs], np.int64),
        # A part of a second is one: time is in whole seconds.
        runtime=np.array([math.ceil(each) for each in runtime], np.int64),
        requested_time=np.array([math.ceil(each) for each in walltime], np.int64),
        requested_cores=np.array([job["res"] for job in jobs], np.int64),
        allocated_cores=np.full(count, -1, np.int64),
        user=users if user_names else np.zeros(count, np.int64),
        labels=labels,
        name=log_name(path),
        machine_cores=content["nb_res"] if _is_count(content.get("nb_res")) else None,
    )
    return clean(log, overrun=overrun, strict=strict)


def _content(text: str, path: AnyPath) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkloadError(f"'{path}' is no JSON ({error}). Correct it.") from None
    there = isinstance(content, dict) and isinstance(content.get("jobs"), list)
    if not there or not isinstance(content.get("profiles", {}), dict):
        raise WorkloadError(
            f"'{path}' is no workload of Batsim, which is an object with 'jobs' (a list) and "
            "'profiles' (an object). Name another format."
        )
    if not content["jobs"]:
        raise WorkloadError(f"'{path}' has no jobs. Give a workload that has.")
    return content  # type: ignore[no-any-return]  # seen above


def _job(job: Any, place: int, path: AnyPath) -> dict[str, Any]:
    """Return a job as it stands there, or say what is wrong with it."""
    if not isinstance(job, dict) or not {"id", "subtime", "res"} <= set(job):
        raise WorkloadError(
            f"job number {place + 1} of '{path}' must have 'id', 'subtime' and 'res'. Correct it."
        )
    walltime = job.get("walltime", -1)
    times = [("subtime", job["subtime"]), ("walltime", walltime if walltime != "inf" else -1)]
    for name, value in times:
        if not _is_number(value) or abs(value) > LARGEST_TIME:
            raise WorkloadError(
                f"job '{job['id']}' of '{path}' has {name} {value!r}, but that must be a number of "
                "seconds. Correct it."
            )
    if not _is_count(job["res"]):
        raise WorkloadError(
            f"job '{job['id']}' of '{path}' has res {job['res']!r}, but that must be a whole "
            "number above 0. Correct it."
        )
    return job


def _runtime(profiles: Mapping[str, Any], name: Any, path: AnyPath, depth: int = 0) -> float | None:
    """Return how long a profile takes; None where that hangs on the platform."""
    profile = profiles.get(str(name))
    if not isinstance(profile, dict):
        raise WorkloadError(
            f"a job of '{path}' follows the profile '{name}', which is not among the profiles. "
            "Add it."
        )
    if profile.get("type") == "delay" and _is_number(profile.get("delay")):
        return float(profile["delay"])
    parts = profile.get("seq")
    if profile.get("type") not in SEQUENCES or not isinstance(parts, list) or depth > DEEPEST:
        return None
    times = [_runtime(profiles, part, path, depth + 1) for part in parts]
    if any(each is None for each in times):
        return None
    return float(profile.get("repeat", 1)) * sum(each for each in times if each is not None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40

"""What a worker does with units: replay or learn, measure, and write a shard."""

from __future__ import annotations

import functools
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.campaign.study_file import LearnedPolicy, Log
from queuesmith.campaign.units import Unit, read_log, written_as
from queuesmith.cluster import Cluster
from queuesmith.engine import simulate
from queuesmith.learning.methods import make_method
from queuesmith.learning.split import split_in_time
from queuesmith.learning.tune import tune
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.policy.own_metrics import add_metric
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.starvation import group_waits
from queuesmith.study.engines import abandoned, under_watch
from queuesmith.study.naming import log_digest
from queuesmith.study.shards import Shards
from queuesmith.workload import Workload
from queuesmith.workload.synthetic import GENERATORS

#: Logs that a worker keeps in memory, as units of one log come together.
KEPT_LOGS = 2


@dataclass(frozen=True)
class ChunkDone:
    """What came of a chunk: how many units were written, and the processor time they took."""

    units: int
    seconds: float
    left: tuple[Unit, ...]


def work_on(units: Sequence[Unit], folder: str, least_seconds: float) -> ChunkDone:
    """Compute units for at least so many seconds, write them as one shard, return what is left.

    What was computed before an error is written, too.
    """
    return under_watch(lambda: _work_on(units, folder, least_seconds))


def _work_on(units: Sequence[Unit], folder: str, least_seconds: float) -> ChunkDone:
    shards = Shards(folder)
    began, done, results = time.monotonic(), 0, {}
    with shards.busy([unit.name for unit in units]):
        try:
            for unit in units:
                results[unit.name] = evaluate(unit)
                done += 1
                if abandoned.is_set() or time.monotonic() - began >= least_seconds:
                    break
        finally:
            shards.write(results)
    seconds = sum(result["seconds"] for result in results.values())
    return ChunkDone(done, seconds, tuple(units[done:]))


def evaluate(unit: Unit) -> dict[str, Any]:
    """Return the values of a unit, what groups wait, or why there are none, and jobs left out.

    Files that are gone or have changed since the study was begun are an error and no result: once
    they are back, the unit has its values.
    """
    began = time.process_time()
    _check_files(unit)
    values, waits, why, changes = None, {}, None, []
    try:
        jobs = _jobs(unit)
        changes = [str(change) for change in jobs.changes]
        schedule = _replayed(unit, jobs)
        values = [Objective(metric)(schedule) for metric in unit.metrics]
        waits = {group: each.to_dict() for group, each in group_waits(schedule).items()}
    except QueuesmithError as error:
        why = str(error)
    return {
        "values": values,
        "waits": waits,
        "why": why,
        "changes": changes,
        "seconds": time.process_time() - began,
        "host": platform.node(),
    }


def _check_files(unit: Unit) -> None:
    """Raise where files no longer hold what names the unit."""
    if unit.log.generate is None:
        _log(unit.log, None, unit.digest)
    if written_as(unit) != unit.written_as:
        raise UsageError(
            f"the policy '{unit.policy_name}', or a file with an order or a metric of your own, "
            "has changed since the study was begun. What is done is kept; repeat this command to "
            "go on with what stands there now."
        )


def _jobs(unit: Unit) -> Workload:
    """Return the jobs of a unit that fit its machine."""
    jobs = _log(unit.log, unit.seed if unit.log.generate else None, unit.digest)
    if unit.load_factor != 1.0:
        jobs = jobs.with_load_factor(unit.load_factor)
    return jobs.fitting(unit.cores)


def _replayed(unit: Unit, jobs: Workload) -> Schedule:
    for own in unit.own_metrics:  # again for each unit: the file may have changed meanwhile
        add_metric(own)
    machine = Cluster(unit.cores, unit.log.name)
    parts = split_in_time(jobs, unit.split)
    policy: AnyPolicy | str = unit.policy or ""
    if unit.learned is not None:
        policy = _learned(unit.learned, parts.learning, machine, unit.seed or 0)
    judged = parts.learning if parts.held_out is None else parts.held_out
    schedule = simulate(judged, machine, as_policy(policy))
    return schedule.trimmed(unit.warm_up, unit.cool_down)


def _learned(learned: LearnedPolicy, jobs: Workload, machine: Cluster, seed: int) -> AnyPolicy:
    parameters = {k: tuple(v) if isinstance(v, list) else v for k, v in learned.parameters.items()}
    method = make_method(learned.method, **parameters)
    # One thread: a worker is one core, and the answer is the same.
    found = tune(jobs, machine, learned.objective, method, seed=seed, split=None, workers=1)
    return found.policy


@functools.lru_cache(maxsize=KEPT_LOGS)
def _log(log: Log, seed: int | None, digest: str | None) -> Workload:
    if log.generate is not None:
        generator = GENERATORS[log.generate]
        jobs = generator(log.jobs, log.cores, load=log.load, seed=seed or 0, name=log.name)
        return jobs if log.head is None else jobs.head(log.head)
    jobs = read_log(log)
    if log_digest(jobs) != digest:
        raise UsageError(
            f"the log '{log.file}' on {platform.node()} has other jobs than when the study was "
            "begun. Copy it there again, or repeat this command to go on with what it has now; "
            "what is done is kept."
        )
    return jobs

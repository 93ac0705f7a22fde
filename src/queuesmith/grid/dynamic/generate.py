"""Scenarios made at random, or of the jobs of a log."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.checks import number, positive, seeded, whole_number
from queuesmith.base.errors import WorkloadError
from queuesmith.base.registry import known
from queuesmith.grid.dynamic.machine_events import MachineEvent
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.files import from_work
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.workload import Workload

#: What counts as the work of a job of a log.
WORK_OF = ("core-seconds", "seconds")


def generate_scenario(
    jobs: int = 1000,
    machines: int = 16,
    *,
    load: float = 0.8,
    seed: int = 0,
    work_seconds: float = 600.0,
    work_spread: float = 1.0,
    speed_spread: float = 0.5,
    inconsistency: float = 0.0,
    up_seconds: float | None = None,
    down_seconds: float = 3600.0,
) -> Scenario:
    """Make jobs that arrive at random on machines of different speed.

    Parameters
    ----------
    jobs, machines
        How many of each.
    load
        The offered load, see `Scenario.load`.
    seed
        Same seed, same scenario.
    work_seconds, work_spread
        The median time of a job on a machine of speed 1, and the standard deviation of its
        natural logarithm. Gaps between arrivals are exponential.
    speed_spread
        The standard deviation of the natural logarithm of the speeds, whose median is 1.
    inconsistency
        The standard deviation of the logarithm of a factor for each pair of job and machine.
    up_seconds, down_seconds
        How long a machine stays and stays away on average; by default none leaves.
    """
    count = whole_number("the number of jobs", jobs, 1, "Give for example 1000.")
    width = whole_number("the number of machines", machines, 1, "Give for example 16.")
    positive("work_seconds", work_seconds, "Give for example 600.")
    for name, spread in (("work_spread", work_spread), ("speed_spread", speed_spread)):
        number(name, spread, 0, 5, "Give for example 1.")
    rng = seeded(seed)
    work = rng.lognormal(np.log(work_seconds), work_spread, count)
    speed = rng.lognormal(0.0, speed_spread, width)
    gaps = rng.exponential(1.0, count)
    matrix = _with_noise(from_work(work, speed, name=f"grid.{seed}"), inconsistency, rng)
    submit = np.cumsum(gaps) - gaps[0]
    scenario = Scenario(submit, matrix)
    if count > 1:
        scenario = scenario.with_load(load)
    if up_seconds is None:
        return scenario
    return scenario.with_churn(up_seconds, down_seconds, seed=seed)


def scenario_from_log(
    workload: Workload,
    speeds: ArrayLike,
    *,
    work: str = "core-seconds",
    events: Iterable[MachineEvent] = (),
    machine_names: tuple[str, ...] | None = None,
    inconsistency: float = 0.0,
    seed: int = 0,
) -> Scenario:
    """Take the jobs of a log as work for machines of given speeds.

    Parameters
    ----------
    workload
        The jobs. Second 0 is the first submission.
    speeds
        Of each machine: the work it does in a second.
    work
        What a job's work is: its ``core-seconds``, or the ``seconds`` of its runtime.
    events
        Who joins and leaves when, in seconds from the first submission.
    machine_names
        By default ``0``, ``1``, and so on.
    inconsistency, seed
        As in `generate_scenario`.
    """
    known("kind of work", work, WORK_OF)
    if not len(workload):
        raise WorkloadError(f"log '{workload.name}' has no jobs to map. Give another one.")
    amount = workload.work if work == "core-seconds" else workload.runtime
    names = tuple(str(number) for number in workload.id)
    matrix = from_work(
        amount, speeds, name=workload.name, job_names=names, machine_names=machine_names
    )
    matrix = _with_noise(matrix, inconsistency, seeded(seed))
    return Scenario(workload.submit - workload.submit[0], matrix, events)


def _with_noise(matrix: EtcMatrix, inconsistency: float, rng: np.random.Generator) -> EtcMatrix:
    number("inconsistency", inconsistency, 0, 5, "Give for example 0.5, or 0 for none.")
    if inconsistency == 0:
        return matrix
    factor = rng.lognormal(0.0, inconsistency, matrix.times.shape)
    return EtcMatrix(
        matrix.times * factor,
        name=matrix.name,
        job_names=matrix.job_names,
        machine_names=matrix.machine_names,
    )

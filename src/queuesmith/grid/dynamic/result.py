"""What became of jobs that arrived over time, and the check that it can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.files import _csv_text
from queuesmith.grid.etc.matrix import Floats

Ints = NDArray[np.int64]

#: How far two times may differ that are the same but for rounding, relatively.
ROUNDING = 1e-9


class Run(NamedTuple):
    """One attempt at a job: finished, or broken off because the machine left."""

    job: int
    machine: int
    start: float
    end: float
    finished: bool


@dataclass(frozen=True, eq=False)
class DynamicResult:
    """When and where each job ran, and what deciding it took.

    Parameters
    ----------
    scenario
        What happened to the grid.
    method
        What mapped the jobs.
    runs
        All attempts, in the order of their starts.
    decisions
        How many times waiting jobs were mapped.
    seconds_deciding
        How long that took in all.
    """

    scenario: Scenario
    method: str
    runs: tuple[Run, ...]
    decisions: int
    seconds_deciding: float

    def __post_init__(self) -> None:
        verify(self)

    @cached_property
    def _final(self) -> list[Run]:
        finished = {run.job: run for run in self.runs if run.finished}
        return [finished[job] for job in range(self.scenario.jobs)]

    @cached_property
    def machine(self) -> Ints:
        """Where each job finished."""
        return np.array([run.machine for run in self._final], dtype=np.int64)

    @cached_property
    def start(self) -> Floats:
        """When each job started the attempt that finished."""
        return np.array([run.start for run in self._final])

    @cached_property
    def end(self) -> Floats:
        """When each job finished."""
        return np.array([run.end for run in self._final])

    @cached_property
    def restarts(self) -> Ints:
        """How many times each job began anew because its machine left."""
        begun = np.bincount([run.job for run in self.runs], minlength=self.scenario.jobs)
        return np.asarray(begun - 1, dtype=np.int64)

    @property
    def response(self) -> Floats:
        """The time of each job from its arrival to its end."""
        return np.asarray(self.end - self.scenario.submit)

    @property
    def makespan(self) -> float:
        """When the last job has finished."""
        return float(self.end.max())

    @property
    def flowtime(self) -> float:
        """The sum of the finishing times of all jobs (Carretero et al., eq. 1)."""
        return float(self.end.sum())

    @property
    def lost_seconds(self) -> float:
        """The machine time of attempts that were broken off."""
        return float(sum(run.end - run.start for run in self.runs if not run.finished))

    @property
    def utilization(self) -> float:
        """The share of the machines' presence up to the makespan in which they compute."""
        there = sum(
            max(0.0, min(last, self.makespan) - first)
            for spans in self.scenario.presence()
            for first, last in spans
        )
        return float(sum(run.end - run.start for run in self.runs) / there)

    def to_dict(self) -> dict[str, Any]:
        """Return the measures, ready for JSON."""
        return {
            "instance": self.scenario.matrix.name,
            "jobs": self.scenario.jobs,
            "machines": self.scenario.machines,
            "method": self.method,
            "load": self.scenario.load,
            "mean_response": float(self.response.mean()),
            "max_response": float(self.response.max()),
            "makespan": self.makespan,
            "flowtime": self.flowtime,
            "utilization": self.utilization,
            "restarts": int(self.restarts.sum()),
            "lost_seconds": self.lost_seconds,
            "decisions": self.decisions,
            "seconds_deciding": self.seconds_deciding,
        }


def write_runs(result: DynamicResult, path: AnyPath) -> None:
    """Write all attempts as CSV: job, machine, submit, start, end, and whether it finished."""
    matrix, submit = result.scenario.matrix, result.scenario.submit
    rows = [
        (
            matrix.job_names[run.job],
            matrix.machine_names[run.machine],
            repr(float(submit[run.job])),
            repr(run.start),
            repr(run.end),
            "yes" if run.finished else "no",
        )
        for run in result.runs
    ]
    head = ("job", "machine", "submit", "start", "end", "finished")
    write_bytes(path, _csv_text([head, *rows], ","))


def verify(result: DynamicResult) -> DynamicResult:
    """Return the result unchanged if it can have happened; raise if not.

    Every job finished exactly once and after its arrival, took its time, and ran only on machines
    that were there; none was broken off unless its machine left; no machine ran two at once.
    """
    finished = np.zeros(result.scenario.jobs, np.int64)
    presence = result.scenario.presence()
    for run in result.runs:
        _check_run(run, result.scenario, presence[run.machine])
        finished[run.job] += run.finished
    if (finished != 1).any():
        job = int(np.argmax(finished != 1))
        raise ScheduleError(
            f"job {job} finished {finished[job]} times under '{result.method}', but every job "
            "finishes exactly once. Report this mapper."
        )
    _check_overlaps(result.runs)
    return result


def _check_run(run: Run, scenario: Scenario, there: list[tuple[float, float]]) -> None:
    wrong = None
    needed = float(scenario.matrix.times[run.job, run.machine])
    slack = ROUNDING * max(1.0, abs(run.end))
    inside = [last for first, last in there if first <= run.start and run.end <= last + slack]
    if run.start < scenario.submit[run.job]:
        wrong = f"starts before it arrives at {scenario.submit[run.job]:g}"
    elif not inside:
        wrong = "runs while that machine is not there"
    elif run.finished and abs(run.end - run.start - needed) > slack:
        wrong = f"takes another time than its {needed:g} s"
    elif not run.finished and (run.end != inside[0] or run.end - run.start > needed + slack):
        wrong = "breaks off although that machine does not leave then"
    if wrong is not None:
        raise ScheduleError(
            f"job {run.job} on machine {run.machine} from {run.start:g} to {run.end:g} {wrong}. "
            "Report this schedule."
        )


def _check_overlaps(runs: tuple[Run, ...]) -> None:
    until: dict[int, Run] = {}
    for run in sorted(runs, key=lambda run: (run.start, run.end)):
        before = until.get(run.machine)
        if before is not None and run.start < before.end:
            raise ScheduleError(
                f"machine {run.machine} runs job {run.job} from {run.start:g} on while job "
                f"{before.job} runs until {before.end:g}, but it runs one at a time. "
                "Report this schedule."
            )
        until[run.machine] = run

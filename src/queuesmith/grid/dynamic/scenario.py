"""What happens to a grid over time: jobs arrive, machines join and leave."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import number, positive, seeded, whole_number
from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.base.registry import known
from queuesmith.cluster.machine import Places
from queuesmith.grid.etc.files import from_work
from queuesmith.grid.etc.matrix import EtcMatrix, Floats, workload_of
from queuesmith.grid.etc.measures import MEASURES
from queuesmith.grid.etc.rules import first_wrong, misplaced, rounding
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.workload import Workload

#: What counts as the work of a job of a log.
WORK_OF = ("core-seconds", "seconds")


@dataclass(frozen=True, order=True)
class MachineEvent:
    """A machine joins the grid or leaves it.

    Parameters
    ----------
    time
        When, in seconds.
    machine
        Which, by its number.
    joins
        Whether it joins; else it leaves, and what runs on it is lost and begins anew elsewhere.
    """

    time: float
    machine: int
    joins: bool


@dataclass(frozen=True, eq=False)
class Scenario:
    """Jobs that arrive over time, and machines that come and go.

    It is what a schedule of these jobs runs on.

    Parameters
    ----------
    submit
        When each job arrives, in seconds from 0.
    matrix
        The time of each job on each machine that is ever there.
    events
        Who joins and leaves when. A machine whose first event is to join is absent before; all
        others are there from the start.
    """

    submit: Floats
    matrix: EtcMatrix
    events: tuple[MachineEvent, ...]

    def __init__(
        self, submit: ArrayLike, matrix: EtcMatrix, events: Iterable[MachineEvent] = ()
    ) -> None:
        arrival = np.array(submit, dtype=np.float64)
        arrival.setflags(write=False)
        _check_arrivals(arrival, matrix)
        ordered = tuple(sorted(events, key=lambda event: event.time))
        _check_events(ordered, matrix)
        object.__setattr__(self, "submit", arrival)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "events", ordered)

    @property
    def jobs(self) -> int:
        """How many jobs arrive."""
        return self.matrix.jobs

    @property
    def machines(self) -> int:
        """How many machines are ever there."""
        return self.matrix.machines

    @property
    def load(self) -> float:
        """The offered load: what all machines together need for all jobs, over the arrivals' span.

        If a job could be spread over all machines, each doing it at its own pace, it would take
        the reciprocal of the sum of its machines' rates; the load is the sum of that. Machines
        count as if they were always there.
        """
        span = float(self.submit.max() - self.submit.min())
        alone = 1.0 / (1.0 / self.matrix.times).sum(axis=1)
        return float(alone.sum() / span) if span > 0 else float("inf")

    def with_load(self, load: float) -> Scenario:
        """Return the scenario with its arrivals moved so that the offered load is as asked."""
        wanted = positive("the load", load, "Give for example 0.8.")
        if not self.load < float("inf"):
            raise WorkloadError(
                "all jobs arrive in the same second, but only arrivals at different times can be "
                "moved to another load. Give more jobs, or no load."
            )
        first = self.submit.min()
        submit = first + (self.submit - first) * (self.load / wanted)
        return Scenario(submit, self.matrix, self.events)

    def present_at_start(self) -> set[int]:
        """Return the machines that are there from the start."""
        first = {event.machine: event.joins for event in reversed(self.events)}
        return {machine for machine in range(self.machines) if not first.get(machine, False)}

    def presence(self) -> list[list[tuple[float, float]]]:
        """Return for each machine the times from which and up to which it is there."""
        since = dict.fromkeys(self.present_at_start(), 0.0)
        spans: list[list[tuple[float, float]]] = [[] for _ in range(self.machines)]
        for event in self.events:
            if event.joins:
                since[event.machine] = event.time
            else:
                spans[event.machine].append((since.pop(event.machine), event.time))
        for machine, start in since.items():
            spans[machine].append((start, float("inf")))
        return spans

    # -- as the machine of a schedule ----------------------------------------------------------

    @property
    def name(self) -> str:
        """What messages and figures call it."""
        return self.matrix.name

    @property
    def cores(self) -> int:
        """How many machines are ever there: each runs one job at a time."""
        return self.machines

    @property
    def places(self) -> Places:
        """The machines by name, with one core each."""
        return self.matrix.places

    @property
    def measures(self) -> Mapping[str, Callable[[Schedule], float]]:
        """What the literature of grids measures: mean_flowtime and fitness."""
        return MEASURES

    @cached_property
    def workload(self) -> Workload:
        """The jobs as a log has them, by their arrival in whole seconds."""
        return workload_of(self.matrix, self.submit)

    def violations(self, schedule: Schedule) -> list[str]:
        """Return a sentence for each rule of this grid that a schedule breaks.

        Every attempt begins after its job has arrived and runs while its machine is there. The last
        one takes the job's time; the others are broken off, each when its machine leaves.
        """
        found = misplaced(schedule, self.matrix.times)
        if found:
            return found
        parts = schedule.parts
        row = schedule.workload.id[parts.job]
        needed, slack = self.matrix.times[row, parts.place], rounding(parts.end)
        leaves, ends = self._leaving(parts), schedule.end[parts.job]
        final = parts.end == ends
        rules: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
            (
                parts.start < self.submit[row],
                lambda piece: f"starts before it arrives at {self.submit[row[piece]]:g}",
            ),
            (
                ~(parts.end <= leaves + slack),
                lambda piece: "runs while that machine is not there",
            ),
            (
                final & (np.abs(parts.length - needed) > slack),
                lambda piece: f"takes another time than its {needed[piece]:g} s",
            ),
            (
                ~final & ((parts.end != leaves) | (parts.length > needed + slack)),
                lambda piece: "breaks off although that machine does not leave then",
            ),
            (parts.end > ends, lambda piece: "begins anew although the job has finished"),
        ]
        return [sentence for rule in rules for sentence in first_wrong(schedule, *rule)]

    def _leaving(self, parts: Pieces) -> Floats:
        """Return when the machine of each attempt leaves next; -inf where it is not there."""
        leaves = np.full(len(parts), -np.inf)
        for machine, spans in enumerate(self.presence()):
            mine = np.flatnonzero(parts.place == machine)
            first, last = np.array(spans).reshape(-1, 2).T
            span = np.searchsorted(first, parts.start[mine], side="right") - 1
            leaves[mine] = np.where(span >= 0, last[np.maximum(span, 0)], -np.inf)
        return leaves


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
    span = float(scenario.submit[-1])
    events = churn(width, span, up_seconds=up_seconds, down_seconds=down_seconds, seed=seed)
    return Scenario(scenario.submit, matrix, events)


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


def churn(
    machines: int, span: float, *, up_seconds: float, down_seconds: float, seed: int = 0
) -> list[MachineEvent]:
    """Let machines leave and come back at random up to a time; all come back in the end.

    Parameters
    ----------
    machines, span
        How many machines, and up to when they leave.
    up_seconds, down_seconds
        How long each stays and stays away on average, exponentially distributed.
    seed
        Same seed, same events.
    """
    positive("up_seconds", up_seconds, "Give for example 86400.")
    positive("down_seconds", down_seconds, "Give for example 3600.")
    rng = seeded(seed)
    events = []
    for machine in range(machines):
        clock = rng.exponential(up_seconds)
        while clock < span:
            back = clock + rng.exponential(down_seconds)
            events += [MachineEvent(clock, machine, False), MachineEvent(back, machine, True)]
            clock = back + rng.exponential(up_seconds)
    return sorted(events)


def read_machine_events(path: AnyPath, machine_names: Sequence[str]) -> list[MachineEvent]:
    """Read events from CSV with the columns ``time``, ``machine`` and ``event``, join or leave."""
    text = decoded(check_text(read_bytes(path), path, "a list of events"))
    table = csv.DictReader(io.StringIO(text, newline=""))
    number = {name: place for place, name in enumerate(machine_names)}
    return [_event(row, line, number, path) for line, row in enumerate(table, 2)]


def _event(row: dict[str, str], line: int, number: dict[str, int], path: AnyPath) -> MachineEvent:
    words = [(row.get(column) or "").strip() for column in ("time", "machine", "event")]
    try:
        joins = {"join": True, "leave": False}[words[2]]
        return MachineEvent(float(words[0]), number[words[1]], joins)
    except (KeyError, ValueError):
        raise WorkloadError(
            f"line {line} of '{path}' says '{','.join(words)}', but an event is a time, the name "
            f"of a machine ({', '.join(list(number)[:4])}, ...) and 'join' or 'leave', below the "
            "header 'time,machine,event'. Correct it."
        ) from None


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


def _check_arrivals(submit: Floats, matrix: EtcMatrix) -> None:
    if submit.shape != (matrix.jobs,) or not np.isfinite(submit).all() or (submit < 0).any():
        raise WorkloadError(
            f"the arrivals of '{matrix.name}' have the shape {submit.shape}, but there must be one "
            f"time from 0 up for each of its {matrix.jobs} jobs. Correct them."
        )
    if matrix.ready.any():
        raise WorkloadError(
            f"instance '{matrix.name}' has ready times, but here machines begin with nothing. "
            "Let a busy machine join later instead."
        )


def _check_events(events: tuple[MachineEvent, ...], matrix: EtcMatrix) -> None:
    for event in events:
        if not 0 <= event.machine < matrix.machines or not 0 <= event.time < float("inf"):
            raise WorkloadError(
                f"machine {event.machine} has an event at second {event.time:g}, but machines are "
                f"numbered 0 to {matrix.machines - 1} and times begin at 0. Correct it."
            )
    by_machine = sorted(events, key=lambda event: event.machine)  # stable: still by time
    for one, two in itertools.pairwise(by_machine):
        if one.machine == two.machine and (one.joins == two.joins or one.time == two.time):
            raise WorkloadError(
                f"machine {one.machine} {'joins' if two.joins else 'leaves'} at second "
                f"{two.time:g} after it {'joined' if one.joins else 'left'} at {one.time:g}, but "
                "it must join and leave in turn, at different times. Correct the events."
            )

"""What happens to a grid over time: jobs arrive, machines join and leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import positive
from queuesmith.base.errors import WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster.machine import Places
from queuesmith.grid.dynamic.machine_events import MachineEvent, check_events, churn
from queuesmith.grid.etc.matrix import EtcMatrix, Floats, workload_of
from queuesmith.grid.etc.measures import MEASURES
from queuesmith.grid.etc.rules import first_wrong, misplaced, rounding
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.workload import Workload


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
        check_events(ordered, matrix.machines)
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
        """Return the scenario with its arrivals moved so that the offered load is as asked.

        Events stay where they are: let machines leave (`with_churn`) after arrivals were moved.
        """
        wanted = positive("the load", load, "Give for example 0.8.")
        if not self.load < float("inf"):
            raise WorkloadError(
                "all jobs arrive in the same second, but only arrivals at different times can be "
                "moved to another load. Give more jobs, or no load."
            )
        first = self.submit.min()
        submit = first + (self.submit - first) * (self.load / wanted)
        return Scenario(submit, self.matrix, self.events)

    def with_churn(self, up_seconds: float, down_seconds: float, *, seed: int = 0) -> Scenario:
        """Return the scenario with machines that leave and come back until the last job arrives.

        They take the place of all events there were; see `churn`.
        """
        events = churn(
            self.machines,
            float(self.submit.max()),
            up_seconds=up_seconds,
            down_seconds=down_seconds,
            seed=seed,
        )
        return Scenario(self.submit, self.matrix, events)

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


def _check_arrivals(submit: Floats, matrix: EtcMatrix) -> None:
    if submit.shape != (matrix.jobs,) or not np.isfinite(submit).all() or (submit < 0).any():
        raise WorkloadError(
            f"the arrivals of '{matrix.name}' have the shape {submit.shape}, but there must be one "
            f"time from 0 up for each of its {so_many(matrix.jobs, 'job')}. Correct them."
        )
    if matrix.ready.any():
        raise WorkloadError(
            f"instance '{matrix.name}' has ready times, but here machines begin with nothing. "
            "Let a busy machine join later instead."
        )

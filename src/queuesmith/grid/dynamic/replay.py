"""Dynamic batch mode: every so often, the waiting jobs are mapped by a chosen method.

The order of events at one instant is::

    (completions, machines leaving and joining, arrivals, one mapping, starts)

Times are exact: a job takes on a machine what the matrix says. On each machine, short jobs of one
mapping run first. A job that has started stays, unless its machine leaves: then it begins anew.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.mapping import checked_machines
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.heuristics.heuristics import HEURISTICS, heuristic_named, load_heuristic
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify

#: Maps waiting jobs to the machines that are there: a machine for each row of the matrix.
Mapper = Callable[[EtcMatrix], NDArray[np.int64]]

AT_ONCE = "-at-once"
NEVER = math.inf


@dataclass(frozen=True)
class Trigger:
    """When waiting jobs are mapped.

    Parameters
    ----------
    seconds
        At every multiple of so many seconds.
    jobs
        As soon as so many jobs have come since the last time (or came back from a machine that
        left); those left over are mapped when no further job arrives.
    keep_planned
        Whether jobs mapped earlier stay on their machine although they have not started; else they
        are mapped again with the others.
    """

    seconds: float | None = None
    jobs: int | None = None
    keep_planned: bool = False

    def __post_init__(self) -> None:
        if self.seconds is None and self.jobs is None:
            raise UsageError(
                "it is not said when waiting jobs are mapped. Give an interval in seconds, a "
                "number of jobs, or both."
            )
        if self.seconds is not None:
            positive("the interval", self.seconds, "Give for example 60 seconds.")
        if self.jobs is not None:
            whole_number("the number of jobs", self.jobs, 1, "Give for example 20.")


#: Each job is mapped the moment it arrives, and stays there.
IMMEDIATE = Trigger(jobs=1, keep_planned=True)


def replay_grid(
    scenario: Scenario,
    method: str | Mapper = "min-min",
    *,
    trigger: Trigger | None = None,
    name: str | None = None,
) -> Schedule:
    """Replay arrivals and machine events; map the waiting jobs every so often.

    The schedule has a piece for each attempt: those broken off because a machine left, and the one
    that finished, from which ``start`` and ``end`` are. ``seconds`` is how long deciding took.

    Parameters
    ----------
    scenario
        Jobs, machines and what happens when.
    method
        A name in ``HEURISTICS``, the same with ``-at-once`` behind it for mapping each job as it
        arrives, or a function that takes a matrix and returns a machine for each of its jobs.
    trigger
        When waiting jobs are mapped; by default every 60 seconds.
    name
        What the result is called; by default after the method.

    >>> from queuesmith.grid.dynamic.generate import generate_scenario
    >>> len(replay_grid(generate_scenario(20, 3), "mct-at-once").parts)
    20
    """
    mapper, chosen = _mapper(method, trigger or Trigger(seconds=60.0))
    label = method if isinstance(method, str) else str(getattr(method, "__name__", "mapper"))
    return verify(_GridReplay(scenario, mapper, chosen).run(label if name is None else name))


def compare_dynamic(
    scenario: Scenario,
    methods: Sequence[str] | Mapping[str, str | Mapper],
    *,
    loads: Sequence[float] = (),
    trigger: Trigger | None = None,
) -> list[Schedule]:
    """Replay the same jobs under several methods and loads: load by load, method by method.

    Parameters
    ----------
    scenario
        Jobs, machines and what happens when.
    methods
        Names, or methods by the name they are to have, each as in `replay_grid`.
    loads
        The offered loads to which the arrivals are moved; by default only the one they have.
    trigger
        When waiting jobs are mapped; methods ``-at-once`` do not wait for it.
    """
    named = dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    scenarios = [scenario.with_load(load) for load in loads] or [scenario]
    return [
        replay_grid(each, method, trigger=trigger, name=name)
        for each in scenarios
        for name, method in named.items()
    ]


def _mapper(method: str | Mapper, trigger: Trigger) -> tuple[Mapper, Trigger]:
    if not isinstance(method, str):
        return method, trigger
    plain = method.removesuffix(AT_ONCE)
    function = heuristic_named(plain if plain in HEURISTICS else method)
    load_heuristic(function)

    def mapper(matrix: EtcMatrix) -> NDArray[np.int64]:
        return function(matrix, np.arange(matrix.jobs))

    return mapper, IMMEDIATE if method.endswith(AT_ONCE) else trigger


@dataclass
class _Machine:
    """A machine: what runs on it, and what is planned for it in this order."""

    there: bool
    running: int | None = None
    started: float = 0.0
    until: float = 0.0
    planned: list[int] = field(default_factory=list)


class _Attempt(NamedTuple):
    """One attempt at a job: finished, or broken off because the machine left."""

    start: float
    job: int
    machine: int
    end: float
    finished: bool


class _GridReplay:
    """A replay in progress."""

    def __init__(self, scenario: Scenario, mapper: Mapper, trigger: Trigger) -> None:
        self.scenario, self.mapper, self.trigger = scenario, mapper, trigger
        there = scenario.present_at_start()
        self.machines = [_Machine(m in there) for m in range(scenario.machines)]
        self.arrivals = np.argsort(scenario.submit, kind="stable")
        self.arrived = 0
        self.happened = 0
        self.unmapped: list[int] = []
        self.come_since = 0  # jobs that joined the unmapped since the last mapping
        self.changed = False  # whether anything came, left or joined since then
        self.ends: list[tuple[float, int, int]] = []
        self.attempts: list[_Attempt] = []
        self.finished = 0
        self.decisions = 0
        self.seconds = 0.0

    def run(self, name: str) -> Schedule:
        """Replay until every job has finished."""
        now = 0.0
        while self.finished < self.scenario.jobs:
            now = self._next_instant(now)
            self._complete(now)
            self._move_machines(now)
            self._admit(now)
            if self._is_time_to_map(now):
                self._map(now)
            self._start(now)
        return self._schedule(name)

    def _schedule(self, name: str) -> Schedule:
        jobs = self.scenario.workload
        position = np.argsort(jobs.id)  # jobs are numbered by their row in the matrix
        begin, row, place, stop, done = map(np.array, zip(*sorted(self.attempts), strict=True))
        job = position[row]
        start, end = np.empty(len(jobs)), np.empty(len(jobs))
        start[job[done]], end[job[done]] = begin[done], stop[done]
        return Schedule(
            jobs,
            self.scenario,
            start,
            name,
            seconds=self.seconds,
            own_end=end,
            own_submit=self.scenario.submit[jobs.id],
            pieces=Pieces(job, begin, stop, np.ones_like(job), place),
            facts={"decisions": self.decisions},
        )

    # -- the clock -----------------------------------------------------------------------------

    def _next_instant(self, now: float) -> float:
        instants = [self._next_arrival(), self._next_event(), self._next_tick(now)]
        if self.ends:
            instants.append(self.ends[0][0])
        instant = min(instants)
        if instant == NEVER:
            job = min(self.unmapped)
            raise WorkloadError(
                f"job '{self.scenario.matrix.job_names[job]}' waits from second {now:g} on for a "
                "machine that can run it, but none is there or will join. Let one join."
            )
        return instant

    def _next_arrival(self) -> float:
        if self.arrived == self.scenario.jobs:
            return NEVER
        return float(self.scenario.submit[self.arrivals[self.arrived]])

    def _next_event(self) -> float:
        events = self.scenario.events
        return float(events[self.happened].time) if self.happened < len(events) else NEVER

    def _next_tick(self, now: float) -> float:
        """Return the next multiple of the interval, where there is anything to map by then."""
        every = self.trigger.seconds
        if every is None or not self.changed or not self._waiting():
            return NEVER
        count = math.floor(now / every) + 1
        return count * every if count * every > now else (count + 1) * every

    # -- what happens at an instant ------------------------------------------------------------

    def _complete(self, now: float) -> None:
        while self.ends and self.ends[0][0] <= now:
            end, number, job = heapq.heappop(self.ends)
            machine = self.machines[number]
            self.attempts.append(_Attempt(machine.started, job, number, end, True))
            machine.running = None
            self.finished += 1

    def _move_machines(self, now: float) -> None:
        while self._next_event() <= now:
            event = self.scenario.events[self.happened]
            self.happened += 1
            self.changed = True
            self.machines[event.machine].there = event.joins
            if event.joins:  # those that no machine could run have a new chance
                self.come_since = max(self.come_since, len(self.unmapped))
            else:
                self._take_back(event.machine, now)

    def _take_back(self, number: int, now: float) -> None:
        """Let the jobs of a machine that left wait again; the one that ran begins anew."""
        machine = self.machines[number]
        back = machine.planned
        if machine.running is not None:
            self.attempts.append(_Attempt(machine.started, machine.running, number, now, False))
            back = [machine.running, *back]
            self.ends = [end for end in self.ends if end[1] != number]
            heapq.heapify(self.ends)
        machine.running, machine.planned = None, []
        self.unmapped += back
        self.come_since += len(back)

    def _admit(self, now: float) -> None:
        while self._next_arrival() <= now:
            self.unmapped.append(int(self.arrivals[self.arrived]))
            self.arrived += 1
            self.come_since += 1
            self.changed = True

    def _is_time_to_map(self, now: float) -> bool:
        if not self.changed or not self._waiting():
            return False
        every, jobs = self.trigger.seconds, self.trigger.jobs
        if every is not None and now == round(now / every) * every:
            return True
        if jobs is None:
            return False
        return self.come_since >= jobs or self.arrived == self.scenario.jobs

    def _waiting(self) -> bool:
        """Return whether any job could be mapped now, by the trigger's rule on planned jobs."""
        if self.unmapped:
            return True
        return not self.trigger.keep_planned and any(m.planned for m in self.machines)

    def _start(self, now: float) -> None:
        for number, machine in enumerate(self.machines):
            if machine.running is None and machine.planned:
                job = machine.planned.pop(0)
                machine.running, machine.started = job, now
                machine.until = now + float(self.scenario.matrix.times[job, number])
                heapq.heappush(self.ends, (machine.until, number, job))

    # -- deciding ------------------------------------------------------------------------------

    def _map(self, now: float) -> None:
        """Give the waiting jobs to machines; those that none can run now go on waiting."""
        self.changed, self.come_since = False, 0
        present = [m for m, machine in enumerate(self.machines) if machine.there]
        if not self.trigger.keep_planned:
            self._unplan()
        waiting = np.array(sorted(self.unmapped), dtype=np.int64)
        times = self.scenario.matrix.times[np.ix_(waiting, np.array(present, dtype=np.int64))]
        possible = np.isfinite(times).any(axis=1)
        if not possible.any():
            return
        batch, times = waiting[possible], times[possible]
        self.unmapped = waiting[~possible].tolist()
        chosen = self._decide(EtcMatrix(times, self._ready(present, now), name=f"at {now:g} s"))
        order = np.lexsort((batch, times[np.arange(len(batch)), chosen]))
        for place in order:
            self.machines[present[chosen[place]]].planned.append(int(batch[place]))

    def _unplan(self) -> None:
        for machine in self.machines:
            self.unmapped += machine.planned
            machine.planned = []

    def _ready(self, present: list[int], now: float) -> Floats:
        """Return how long each machine is still busy with what it runs and what stays planned."""
        ready = np.zeros(len(present))
        for place, number in enumerate(present):
            machine = self.machines[number]
            if machine.running is not None:
                ready[place] = machine.until - now
            if machine.planned:
                ready[place] += self.scenario.matrix.times[machine.planned, number].sum()
        return ready

    def _decide(self, matrix: EtcMatrix) -> NDArray[np.int64]:
        began = time.perf_counter()
        machine = self.mapper(matrix)
        self.seconds += time.perf_counter() - began
        self.decisions += 1
        return checked_machines(matrix, machine, "mapper")

"""Knobs that tune themselves while bags run: the setting under which what waits would end best."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from queuesmith.base.checks import positive
from queuesmith.base.registry import entry
from queuesmith.knobs.setting import Knobs
from queuesmith.running.dispatch import Demand, forecast
from queuesmith.running.progress import State, expected_runtimes

if TYPE_CHECKING:
    from queuesmith.running.run_state import RunState

#: Exponents that are tried; only their ratios matter.
STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)
#: Knobs are turned where the forecast becomes better by this part.
MARGIN = 0.01

#: Of each bag: when it came, how long a task takes, and when it would end.
Ends = Mapping[int, tuple[float, float, float]]


def _makespan(ends: Ends) -> float:
    return max(end for _, _, end in ends.values())


def _mean_response(ends: Ends) -> float:
    return statistics.fmean(end - submit for submit, _, end in ends.values())


def _expansion_factor(ends: Ends) -> float:
    return statistics.fmean(
        max((end - submit) / runtime, 1.0) for submit, runtime, end in ends.values()
    )


#: What can be made small, by name.
OBJECTIVES: dict[str, Callable[[Ends], float]] = {
    "mean_response": _mean_response,
    "expansion_factor": _expansion_factor,
    "makespan": _makespan,
}


@dataclass
class KnobTuning:
    """When knobs are searched anew, and what for.

    Parameters
    ----------
    objective
        What is made small over the bags that are not over: ``mean_response``,
        ``expansion_factor`` or ``makespan``.
    every
        Seconds between two searches.
    """

    objective: str = "mean_response"
    every: float = 30.0
    _next: float = field(default=0.0, init=False)
    _search: Future[Knobs | None] | None = field(default=None, init=False)
    _thread: ThreadPoolExecutor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        entry("objective", self.objective, OBJECTIVES)
        positive("the time between searches", self.every, "Give for example 30.")
        self._thread = ThreadPoolExecutor(1)

    def look(self, state: RunState, now: float, cores: int) -> Knobs | None:
        """Return better knobs once a search has found some; begin a search where it is time."""
        if self._search is not None and self._search.done():
            found, self._search = self._search.result(), None
            return found
        if self._search is None and now >= self._next and cores > 0:
            self._next = now + self.every
            demands, running = _waiting(state, now)
            if len(demands) > 1:
                asked = (self.objective, demands, running, now, cores, state.knobs)
                self._search = self._thread.submit(better_knobs, *asked)
        return None


def _waiting(state: RunState, now: float) -> tuple[list[Demand], dict[int, list[float]]]:
    """Return what bags that are not over still want, and when what runs is expected to end."""
    runtimes = expected_runtimes(state.bags)
    demands, running = [], {}
    for bag in state.bags:
        if bag.over:
            continue
        runtime = runtimes[bag.place]
        demands.append(bag.demand(runtime))
        left = [
            max((task.start or now) + runtime, now)
            for task in bag.tasks
            if task.state is State.RUNNING
        ]
        if left:
            running[bag.place] = left
    return demands, running


def better_knobs(
    objective: str,
    demands: list[Demand],
    running: Mapping[int, list[float]],
    now: float,
    cores: int,
    knobs: Knobs,
) -> Knobs | None:
    """Return the knobs under which what waits would end best; None where they stay."""
    value = OBJECTIVES[objective]
    by_place = {bag.place: bag for bag in demands}

    def cost(setting: Knobs) -> float:
        spans = forecast(demands, now, cores, setting, running)
        ends = {p: (by_place[p].submit, by_place[p].runtime, end) for p, (_, end) in spans.items()}
        return value(ends) if ends else math.inf  # no bag fits what cores there are just now

    kept = cost(knobs)
    best, least = None, kept * (1 - MARGIN)
    for setting in settings():
        found = cost(setting)
        if found < least:
            best, least = setting, found
        time.sleep(0)  # whoever waits for this process goes first
    return best


def settings() -> Iterator[Knobs]:
    """Yield the settings that are tried, each direction once."""
    seen = set()
    for values in itertools.product(STEPS, repeat=3):
        largest = max(map(abs, values)) or 1.0
        knobs = Knobs(*(value / largest for value in values))
        if knobs not in seen:
            seen.add(knobs)
            yield knobs

"""Who is next: bags by dynamic priority (Simon, Nguyen and Halem, equation 1), and a forecast.

The same rule decides live and in the forecast: cores that are free go to the bag of the highest
priority, as many as it has tasks and as its share allows, then to the next. Nothing is preempted.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from queuesmith.knobs.setting import Knobs


@dataclass(slots=True)
class Demand:
    """What a bag wants of the machine at some instant.

    Parameters
    ----------
    place
        Its place among the bags in the order of their coming; of equals the first goes first.
    size
        Cores of all its tasks together, however many have run.
    submit
        When it came, in seconds.
    runtime
        Seconds that a task is expected to take.
    cores
        Cores of each task.
    limit
        How many tasks may run at once.
    waiting, running
        Tasks that have not begun, and that run now.
    """

    place: int
    size: int
    submit: float
    runtime: float
    cores: int
    limit: int
    waiting: int
    running: int = 0

    @property
    def startable(self) -> int:
        """Tasks that may begin now, as far as the bag is concerned."""
        return min(self.waiting, self.limit - self.running)


def log_priority(bag: Demand, now: float, knobs: Knobs) -> float:
    """Return the logarithm of a bag's priority, but for the averages, which are the same for all.

    A wait counts as one second at least.
    """
    return (
        knobs.alpha * math.log(bag.size)
        + knobs.beta * math.log(max(now - bag.submit, 1.0))
        + knobs.gamma * math.log(bag.runtime)
    )


def starts(bags: Iterable[Demand], now: float, free: int, knobs: Knobs) -> list[tuple[Demand, int]]:
    """Return which bags start how many tasks now, the highest priority first."""
    ranked = sorted(
        (bag for bag in bags if bag.startable > 0 and bag.submit <= now),
        key=lambda bag: (-log_priority(bag, now, knobs), bag.place),
    )
    chosen = []
    for bag in ranked:
        count = min(bag.startable, free // bag.cores)
        if count > 0:
            chosen.append((bag, count))
            free -= count * bag.cores
        if free == 0:
            break
    return chosen


def forecast(
    bags: Sequence[Demand],
    now: float,
    cores: int,
    knobs: Knobs,
    running: Mapping[int, Sequence[float]] | None = None,
) -> dict[int, tuple[float, float]]:
    """Foretell when each bag's first task begins and its last one ends.

    Parameters
    ----------
    bags, now, cores, knobs
        What waits, from which second on, and on what.
    running
        Of tasks that run already, when they will end, by the place of their bag.
    """
    state = {bag.place: replace(bag) for bag in bags}
    busy = running or {}
    ends = [(end, place, 1) for place, found in busy.items() for end in found]
    heapq.heapify(ends)
    free = cores - sum(state[place].cores for _, place, _ in ends)
    spans = {place: (now, max(found)) for place, found in busy.items() if found}
    while True:
        for bag, count in starts(state.values(), now, free, knobs):
            bag.waiting -= count
            bag.running += count
            free -= count * bag.cores
            end = now + bag.runtime
            heapq.heappush(ends, (end, bag.place, count))
            first, last = spans.get(bag.place, (now, end))
            spans[bag.place] = (first, max(last, end))
        later = [b.submit for b in state.values() if b.waiting and b.submit > now]
        now = min([*later, *(end for end, _, _ in ends[:1])], default=math.inf)
        if now == math.inf:
            return spans
        while ends and ends[0][0] == now:
            _, place, count = heapq.heappop(ends)
            state[place].running -= count
            free += count * state[place].cores

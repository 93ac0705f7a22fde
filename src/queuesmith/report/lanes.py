"""Concrete cores for the jobs of a schedule, so that it can be drawn.

A replay counts cores; it does not name them. For a drawing every job is given the lowest free
block of cores that holds it, and several blocks where no single one does. No two rectangles
overlap, and every rectangle stands for exactly the cores it covers.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.verify import usage
from queuesmith.workload.workload import Ints

Block = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Lanes:
    """Rectangles of jobs over cores, in the order of their start.

    Parameters
    ----------
    job
        The position of each rectangle's job in the workload.
    low, height
        The lowest core of the rectangle, and how many cores it covers.
    cores
        How many cores the drawing is high: those of the cluster, or more where the schedule
        (a history, say) uses more.
    """

    job: Ints
    low: Ints
    height: Ints
    cores: int

    def __len__(self) -> int:
        return len(self.job)


class FreeCores:
    """The free cores as blocks in rising order, none touching the next."""

    def __init__(self, cores: int) -> None:
        self._low = [0]
        self._high = [cores]

    def take(self, count: int) -> list[Block]:
        """Take the lowest block that holds ``count`` cores, or several, the largest first."""
        low, high = self._low, self._high
        for i in range(len(low)):
            if high[i] - low[i] >= count:
                return [self._cut(i, count)]
        taken = []
        while count:
            largest = max(range(len(low)), key=lambda i: high[i] - low[i])
            block = self._cut(largest, min(count, high[largest] - low[largest]))
            taken.append(block)
            count -= block[1]
        return taken

    def give(self, block: Block) -> None:
        """Give a block back and join it with its free neighbours."""
        low, high = self._low, self._high
        first, last = block[0], block[0] + block[1]
        i = bisect_left(low, first)
        joins_next = i < len(low) and low[i] == last
        if i and high[i - 1] == first:
            high[i - 1] = high[i] if joins_next else last
            if joins_next:
                del low[i], high[i]
        elif joins_next:
            low[i] = first
        else:
            low.insert(i, first)
            high.insert(i, last)

    def _cut(self, i: int, count: int) -> Block:
        first = self._low[i]
        if self._high[i] - first == count:
            del self._low[i], self._high[i]
        else:
            self._low[i] = first + count
        return first, count


def assign_lanes(schedule: Schedule, chosen: Ints | None = None) -> Lanes:
    """Give cores to the jobs of a schedule, or to those at the chosen positions.

    A job of no length has no rectangle.
    """
    jobs = schedule.workload
    index = np.arange(len(jobs)) if chosen is None else np.asarray(chosen)
    index = index[jobs.runtime[index] > 0]
    index = index[np.argsort(schedule.start[index], kind="stable")]
    stairs = usage(schedule)
    peak = int(stairs.busy.max()) if len(stairs.busy) else 0
    height = max(schedule.cluster.cores, peak)
    owners, blocks = _pack(schedule, index, height)
    low, cores = np.asarray(blocks, dtype=np.int64).reshape(-1, 2).T
    return Lanes(np.asarray(owners, dtype=np.int64), low, cores, height)


def _pack(schedule: Schedule, index: Ints, height: int) -> tuple[list[int], list[Block]]:
    free = FreeCores(height)
    running: list[tuple[int, int, list[Block]]] = []
    owners: list[int] = []
    blocks: list[Block] = []
    starts, ends = schedule.start[index].tolist(), schedule.end[index].tolist()
    widths = schedule.workload.cores[index].tolist()
    for job, start, end, width in zip(index.tolist(), starts, ends, widths, strict=True):
        while running and running[0][0] <= start:
            for block in heappop(running)[2]:
                free.give(block)
        taken = free.take(width)
        heappush(running, (end, job, taken))
        owners.extend([job] * len(taken))
        blocks.extend(taken)
    return owners, blocks

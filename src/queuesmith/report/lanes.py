"""Concrete cores for the jobs of a schedule, so that it can be drawn.

A replay counts cores; it does not name them. For a drawing every job is given the lowest free
block of cores that holds it, and several blocks where no single one does. Where jobs have places,
such as nodes, each place is a band of its own. No two rectangles overlap, and every rectangle
stands for exactly the cores it covers.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.verify import usage, violations
from queuesmith.workload.workload import Ints

Block = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Lanes:
    """Rectangles of jobs over cores, in the order of their start.

    Parameters
    ----------
    piece
        The position of each rectangle's piece among the parts of the schedule.
    job
        The position of its job in the workload.
    low, height
        The lowest core of the rectangle, and how many cores it covers.
    cores
        How many cores the drawing is high: those of the cluster, or more where the schedule
        (a history, say) uses more.
    """

    piece: Ints
    job: Ints
    low: Ints
    height: Ints
    cores: int

    def __len__(self) -> int:
        return len(self.job)


class FreeCores:
    """The free cores as blocks in rising order, none touching the next."""

    def __init__(self, low: int, high: int) -> None:
        self._low = [low]
        self._high = [high]

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
    """Give cores to the pieces of a schedule, or to those of the jobs at the chosen positions.

    A piece of no length has no rectangle.
    """
    parts = schedule.parts
    shown = parts.end > parts.start
    if chosen is not None:
        wanted = np.zeros(len(schedule), np.bool_)
        wanted[chosen] = True
        shown = shown & wanted[parts.job]
    index = np.flatnonzero(shown)
    index = index[np.argsort(parts.start[index], kind="stable")]
    bands, of_piece = _bands(schedule)
    owners, blocks = _pack(parts, index, bands, of_piece)
    low, cores = np.asarray(blocks, dtype=np.int64).reshape(-1, 2).T
    piece = np.asarray(owners, dtype=np.int64)
    return Lanes(piece, parts.job[piece], low, cores, bands[-1][1])


def _bands(schedule: Schedule) -> tuple[list[Block], Ints]:
    """Return the first core and the one past the last of each place, and the place of each piece.

    Where cores have no names, or more are in use than there are, all are one band.
    """
    parts, places = schedule.parts, schedule.cluster.places
    if places is not None and parts.place is not None and not violations(schedule):
        border = np.concatenate([[0], np.cumsum(places.cores)]).tolist()
        return list(pairwise(border)), parts.place
    stairs = usage(schedule)
    peak = int(stairs.busy.max()) if len(stairs.busy) else 0
    return [(0, max(schedule.cluster.cores, peak))], np.zeros(len(parts), np.int64)


def _pack(
    parts: Pieces, index: Ints, bands: list[Block], band: Ints
) -> tuple[list[int], list[Block]]:
    free = [FreeCores(low, high) for low, high in bands]
    running: list[tuple[float, int, list[Block]]] = []
    owners: list[int] = []
    blocks: list[Block] = []
    starts, ends = parts.start[index].tolist(), parts.end[index].tolist()
    widths = parts.cores[index].tolist()
    for piece, start, end, width in zip(index.tolist(), starts, ends, widths, strict=True):
        while running and running[0][0] <= start:
            _, ended, given = heappop(running)
            for block in given:
                free[band[ended]].give(block)
        taken = free[band[piece]].take(width)
        heappush(running, (end, piece, taken))
        owners.extend([piece] * len(taken))
        blocks.extend(taken)
    return owners, blocks

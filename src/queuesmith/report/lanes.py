"""Concrete cores for the jobs of a schedule, so that it can be drawn.

A replay counts cores; it does not name them. For a drawing every job is given the lowest free
block of cores that holds it, and several blocks where no single one does. Where jobs have places,
such as nodes, each place is a band of its own. No two rectangles overlap, and every rectangle
stands for exactly the cores it covers.

A history may use more cores than the machine has. Then, and only as long as it does, jobs are drawn
above the machine: what is above moves down as soon as there is room below.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.times import Times
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
    start, end
        From when to when; a job that moves has several rectangles, one after another.
    cores
        How many cores the drawing is high: those of the cluster, or more where the schedule
        (a history, say) uses more.
    """

    piece: Ints
    job: Ints
    low: Ints
    height: Ints
    start: Times
    end: Times
    cores: int

    def __len__(self) -> int:
        return len(self.job)


class FreeCores:
    """The free cores as blocks in rising order, none touching the next."""

    def __init__(self, low: int, high: int) -> None:
        self._low = [low] if high > low else []
        self._high = [high] if high > low else []
        self.count = high - low

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
        self.count += block[1]
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
        self.count -= count
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
    peak = _peak(schedule) if len(bands) == 1 else 0
    drawing = _Drawing(bands, max(peak, bands[-1][1]))
    _draw(drawing, parts, index, of_piece)
    return drawing.lanes(parts)


def _bands(schedule: Schedule) -> tuple[list[Block], Ints]:
    """Return the first core and the one past the last of each place, and the place of each piece.

    Where cores have no names, or more are in use than there are, all are one band.
    """
    parts, places = schedule.parts, schedule.cluster.places
    if places is not None and parts.place is not None and not violations(schedule):
        border = np.concatenate([[0], np.cumsum(places.cores)]).tolist()
        return list(pairwise(border)), parts.place
    return [(0, schedule.cluster.cores)], np.zeros(len(parts), np.int64)


def _peak(schedule: Schedule) -> int:
    stairs = usage(schedule)
    return int(stairs.busy.max()) if len(stairs.busy) else 0


def _draw(drawing: _Drawing, parts: Pieces, index: Ints, band: Ints) -> None:
    """Let pieces begin and end in the order of time; those that end make room first."""
    running: list[tuple[float, int]] = []
    starts, ends = parts.start[index].tolist(), parts.end[index].tolist()
    widths, bands = parts.cores[index].tolist(), band[index].tolist()
    for piece, place, width, start, end in zip(
        index.tolist(), bands, widths, starts, ends, strict=True
    ):
        _end_until(start, drawing, running)
        drawing.open(piece, place, width, start)
        heappush(running, (end, piece))
    _end_until(math.inf, drawing, running)


def _end_until(instant: float, drawing: _Drawing, running: list[tuple[float, int]]) -> None:
    while running and running[0][0] <= instant:
        end = running[0][0]
        while running and running[0][0] == end:
            drawing.close(heappop(running)[1], end)
        drawing.settle(end)


@dataclass
class _Rectangle:
    piece: int
    block: Block
    start: float
    free: FreeCores  # where its cores go back to


class _Drawing:
    """The cores of a machine while jobs come and go, and the rectangles so far."""

    def __init__(self, bands: list[Block], height: int) -> None:
        self._free = [FreeCores(low, high) for low, high in bands]
        self._top, self._height = bands[-1][1], height
        self._above = FreeCores(self._top, height)
        self._now: dict[int, list[_Rectangle]] = {}
        self._done: list[tuple[int, int, int, float, float]] = []

    def open(self, piece: int, band: int, count: int, start: float) -> None:
        """Let a piece begin: in its band, and above the machine with what does not fit there."""
        own = self._free[band]
        fits = min(count, own.count)
        taken = [(own, block) for block in (own.take(fits) if fits else [])]
        if count > fits:
            taken += [(self._above, block) for block in self._above.take(count - fits)]
        self._now[piece] = [_Rectangle(piece, block, start, free) for free, block in taken]

    def close(self, piece: int, end: float) -> None:
        """Let a piece end."""
        for each in self._now.pop(piece):
            self._finish(each, end)

    def settle(self, now: float) -> None:
        """Move what is above the machine down to where there is room."""
        own = self._free[0]
        if self._above.count == self._height - self._top:
            return
        high = [e for open_ in self._now.values() for e in open_ if e.free is self._above]
        for each in high:
            if not own.count:
                return
            self._finish(each, now)
            rest = self._now[each.piece]
            rest.remove(each)
            down = min(each.block[1], own.count)
            rest += [_Rectangle(each.piece, block, now, own) for block in own.take(down)]
            if each.block[1] > down:
                blocks = self._above.take(each.block[1] - down)
                rest += [_Rectangle(each.piece, block, now, self._above) for block in blocks]

    def _finish(self, each: _Rectangle, end: float) -> None:
        each.free.give(each.block)
        if end > each.start:
            self._done.append((each.piece, *each.block, each.start, end))

    def lanes(self, parts: Pieces) -> Lanes:
        """Return all rectangles in the order of their start."""
        rows = sorted(self._done, key=lambda row: (row[3], row[0], row[1]))
        piece, low, height = (np.array([row[i] for row in rows], np.int64) for i in range(3))
        start, end = (np.array([row[i] for row in rows], parts.start.dtype) for i in (3, 4))
        return Lanes(piece, parts.job[piece], low, height, start, end, self._height)

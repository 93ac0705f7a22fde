"""A worker that walks over mappings in search of a short makespan."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.exact.column_search import ColumnSearch
from queuesmith.grid.exact.pair_search import Habits, PairSearch
from queuesmith.grid.exact.run import ExactRun
from queuesmith.solving.status import TOLERANCE

#: How the workers walk, in turn.
WALKS = (
    Habits(0.06, 0.015, 30_000.0, 0.1, 14),
    Habits(0.06, 0.010, 40_000.0, 0.3, 12),
    Habits(0.06, 0.015, 20_000.0, 0.1, 20),
)
#: With more machines than this, and a gap above that after the first part of the time, jobs move
#: along cheap columns for the second part; below, pairs of machines do well.
MANY, WIDE, FIRST, SECOND = 48, 0.005, 0.1, 0.7
#: But for many machines, a walk that finds nothing better in so many seconds ends, and the next
#: begins from two of the best mappings mixed.
SETTLED = 0.15
#: With many machines, the seconds of a walk before its habits change.
ROUND = 2.5
#: Rounds after which a worker goes on from the best mapping of all.
PARTING = 4


@dataclass(frozen=True)
class Walker:
    """One of the workers of a search, on a thread of its own.

    Parameters
    ----------
    run
        What all workers share: jobs and machines, prices, the best mapping, the time.
    place
        Its place among the workers, which its first habits follow from.
    ends
        How many seconds of the run are spent when it stops.
    seed
        What its chance follows from.
    """

    run: ExactRun
    place: int
    ends: float
    seed: int

    def walk(self) -> None:
        """Walk until the time is over, in the way that suits the number of machines."""
        if self.run.matrix.machines > MANY:
            self._walk_far()
        else:
            self._walk_often()

    def _left(self) -> float:
        """Return how many seconds it may still walk."""
        return self.ends - self.run.incumbent.spent

    def _closed(self) -> bool:
        """Tell whether there is nothing left to find."""
        return self.run.incumbent.closed

    def _walk_far(self) -> None:
        """Walk over many machines: where the gap stays wide, most of the time along columns."""
        run, seconds = self.run, self._left()
        self._walk_pairs(run.incumbent.best, self.ends - (1 - FIRST) * seconds)
        start = run.incumbent.best
        if run.incumbent.value > run.bound.value * (1 + WIDE):
            start = self._walk_columns(SECOND * seconds)
        self._walk_pairs(start, self.ends)

    def _walk_often(self) -> None:
        """Take short walks, first from the LP's mapping, then from two of the best mixed."""
        chance = np.random.default_rng(self.seed)
        start = self.run.incumbent.best
        for turn in itertools.count(self.place):
            self._settle(start, WALKS[turn % len(WALKS)], int(chance.integers(2**63)))
            if self._closed() or self._left() <= 0:
                return
            mixed = self.run.elite.cross(chance)
            start = self._first_mapping() if mixed is None else mixed

    def _settle(self, start: Machines, habits: Habits, seed: int) -> None:
        """Divide jobs of pairs until nothing better is found for a while; offer what was found."""
        search = PairSearch(self.run.bound, start, seed=seed)
        search.behave(habits)
        before = math.inf
        while search.makespan < before * (1 - TOLERANCE) and self._left() > 0:
            before = search.makespan
            self._go_on(search, min(SETTLED, self._left()))
        self.run.offer(search.machine)
        self.run.elite.offer(search.machine, search.makespan)

    def _walk_columns(self, seconds: float) -> Machines:
        """Anneal along cheap columns; return the last mapping, which few machines may be late in.

        It begins with the LP's own mapping, rounded: it costs nothing extra, and only where a
        machine is late has it to be mended. From any other, annealing must first find back to cheap
        columns.
        """
        search = ColumnSearch(self.run.bound, self._first_mapping(), seed=self.seed)
        self._go_on(search, seconds)
        self.run.offer(search.machine)
        return search.last

    def _first_mapping(self) -> Machines:
        """Return the LP's own mapping, rounded, or the best one where there is none."""
        rounded = self.run.bound.rounded
        return self.run.incumbent.best if rounded is None else rounded

    def _walk_pairs(self, start: Machines, ends: float) -> None:
        """Divide jobs of pairs of machines, from the best mapping where one's own is worse."""
        incumbent = self.run.incumbent
        search = PairSearch(self.run.bound, start, seed=self.seed)
        for turn in itertools.count(self.place):
            left = ends - incumbent.spent
            if self._closed() or left <= 0:
                return
            search.behave(WALKS[turn % len(WALKS)])
            self._go_on(search, min(left, ROUND))
            self.run.offer(search.machine)
            if turn % PARTING == 0 and incumbent.value < search.makespan * (1 - TOLERANCE):
                search.restart(incumbent.best)

    def _go_on(self, search: PairSearch | ColumnSearch, seconds: float) -> None:
        """Go on with a search for some seconds, or until the best mapping is proven."""
        search.run_for(seconds, self._closed, self.run.incumbent.clock)

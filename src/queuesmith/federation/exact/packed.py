"""Modes as the compiled searches take them, and the space they work in."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from queuesmith.federation.exact.kernels.beam import Beam, Heap
from queuesmith.federation.exact.kernels.plans import ModeArrays
from queuesmith.federation.exact.kernels.states import States, fill_states
from queuesmith.federation.exact.kernels.steps import StepSpace
from queuesmith.federation.exact.modes import Modes
from queuesmith.federation.model.clusters import Floats, Ints

#: Tables over states are made where modes times states are no more than this.
MOST_CELLS = 40_000_000
MOST_STATES = 20_000


class Packed:
    """Modes, packed, with the tables over the states of free nodes."""

    def __init__(self, modes: Modes) -> None:
        self.modes = modes
        links = len(modes.federation.clusters)
        self.arrays = ModeArrays(
            np.ascontiguousarray(modes.first, np.int64),
            np.ascontiguousarray(modes.job, np.int64),
            np.ascontiguousarray(modes.counts, np.int64),
            np.ascontiguousarray(modes.duration, np.int64),
            np.ascontiguousarray(modes.use, np.int64),
            np.array(modes.federation.group_nodes, np.int64),
            np.full(links, modes.limit, np.int64),
        )

    @cached_property
    def size(self) -> int:
        """How many states there are."""
        return int(np.prod(self.modes.federation.group_nodes.astype(np.float64) + 1).clip(0, 2**62))

    @property
    def tabulated(self) -> bool:
        """Whether there are few enough modes and states for tables."""
        cells = self.size * len(self.modes.duration)
        return self.modes.complete and self.size <= MOST_STATES and cells <= MOST_CELLS

    @cached_property
    def states(self) -> States:
        """Which modes fit which states."""
        count = len(self.modes.duration)
        states = States(np.zeros((count, self.size), np.bool_), np.zeros(count, np.int64))
        fill_states(self.arrays, states)
        return states

    def rate(self, price: Floats) -> Floats:
        """Return what each mode earns a second."""
        return np.asarray(price[self.modes.job] / self.modes.duration)

    def step_space(self, price: Floats, best: int, width: int, halt: Ints) -> StepSpace:
        """Return space for a search with these prices that wants less than the best makespan."""
        jobs, most = len(self.modes.jobs), int(self.modes.federation.nodes) + 1
        marks = np.random.default_rng(1).integers(0, 2**63, jobs + self.size, np.uint64)
        return StepSpace(
            self.rate(price),
            np.zeros(self.size),
            np.zeros(len(self.arrays.limit), np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            marks,
            np.zeros(width, np.uint64),
            np.ascontiguousarray(price, np.float64),
            np.full(jobs, -1, np.int64),
            np.zeros(jobs, np.int64),
            np.array([best, 0, np.iinfo(np.int64).max], np.int64),
            halt,
        )

    def beam(self, width: int) -> Beam:
        """Return space for so many plans begun."""
        jobs, most = len(self.modes.jobs), int(self.modes.federation.nodes) + 1
        return Beam(
            np.zeros((width, jobs), np.bool_),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros((width, most), np.int64),
            np.zeros((width, most), np.int64),
            np.zeros(width),
            np.full((width, jobs), -1, np.int64),
            np.zeros((width, jobs), np.int64),
        )

    @staticmethod
    def heap(width: int) -> Heap:
        """Return space for the best ways to go on."""
        return Heap(
            np.zeros(width),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros(width, np.int64),
            np.zeros(width, np.uint64),
        )

"""The best mappings of many short walks, from pairs of which further walks begin."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from queuesmith.grid.etc.mapping import Machines

#: So many mappings are kept, and all are given up after so many walks in a row that added none.
SIZE, PATIENCE = 16, 16


@dataclass
class Elite:
    """Some mappings, the best and all different, that several workers add to and begin from.

    A walk settles in less than a second, each with other chance somewhere else, and stays there. Of
    what two of them agree on, much is right; a walk that begins from both, mixed, has little left
    to look for, and most often ends lower than either. At last they are all alike, and others must
    be found.
    """

    size: int = SIZE
    patience: int = PATIENCE
    _found: list[tuple[float, Machines]] = field(default_factory=list)
    _in_vain: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def offer(self, machine: Machines, makespan: float) -> None:
        """Take a mapping if it is new, and better than the worst or there is room."""
        with self._lock:
            if self._adds(machine, makespan):
                self._in_vain = 0
                self._found.append((makespan, machine))
                self._found.sort(key=lambda each: each[0])
                del self._found[self.size :]
            else:
                self._in_vain += 1
                if self._in_vain >= self.patience:
                    self._in_vain = 0
                    self._found.clear()

    def _adds(self, machine: Machines, makespan: float) -> bool:
        """Whether a mapping is new, and there is room for it."""
        if len(self._found) >= self.size and makespan >= self._found[-1][0]:
            return False
        return not any(np.array_equal(machine, other) for _, other in self._found)

    def cross(self, chance: np.random.Generator) -> Machines | None:
        """Return two of the mappings mixed, job by job; none while there is room for more."""
        with self._lock:
            if len(self._found) < max(self.size, 2):
                return None
            one, other = chance.choice(self.size, 2, replace=False)
            first, second = self._found[one][1], self._found[other][1]
        return np.asarray(np.where(chance.random(len(first)) < 0.5, first, second), np.int64)

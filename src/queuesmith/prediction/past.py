"""Runtimes that a job may have, drawn from what jobs like it have had."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
from numpy.typing import NDArray

from queuesmith.workload import Workload

#: So many jobs of a kind say how jobs of that kind run; fewer are too few.
ENOUGH = 5
#: Of jobs of a kind the last so many count: users change what they do.
RECENT = 200


class PastRuntimes:
    """What jobs have run for, by user and request.

    Parameters
    ----------
    history
        Jobs that have ended; None or empty where nothing is known.
    """

    def __init__(self, history: Workload | None) -> None:
        self.known = 0
        self._shares: defaultdict[tuple[object, ...], deque[float]] = defaultdict(
            lambda: deque(maxlen=RECENT)
        )
        if history is not None:
            for i in np.argsort(history.submit + history.runtime, kind="stable").tolist():
                user = history.label("user", int(history.user[i]))
                self.learn(user, int(history.walltime[i]), int(history.runtime[i]))

    def learn(self, user: str, walltime: int, runtime: int) -> None:
        """Take note of a job that has ended."""
        self.known += 1
        for key in _kinds(user, walltime):
            self._shares[key].append(runtime / max(walltime, 1))

    def draw(
        self, chance: np.random.Generator, user: str, walltime: int, *, beyond: int = 0
    ) -> int:
        """Return a runtime that such a job may have, at least a second beyond what it has run.

        It is the share of the walltime that one of the jobs like it has used: of the same user and
        request, of the same user, of the same request, of all, whatever there is enough of. Where
        nothing is known it is the walltime.
        """
        return int(self.draws(chance, user, walltime, 1, beyond=beyond)[0])

    def draws(
        self, chance: np.random.Generator, user: str, walltime: int, count: int, *, beyond: int = 0
    ) -> NDArray[np.int64]:
        """Return several such runtimes."""
        for key in _kinds(user, walltime):
            shares = self._longer(key, beyond / max(walltime, 1))
            if len(shares) >= ENOUGH or (not key and len(shares)):
                lasts = np.rint(shares[chance.integers(len(shares), size=count)] * walltime)
                return np.maximum(np.minimum(lasts, walltime), beyond + 1).astype(np.int64)
        return np.full(count, max(walltime, beyond + 1), np.int64)

    def _longer(self, key: tuple[object, ...], share: float) -> NDArray[np.float64]:
        shares = np.array(self._shares.get(key, ()), np.float64)
        return shares[shares > share]


def _kinds(user: str, walltime: int) -> tuple[tuple[object, ...], ...]:
    """Return the kinds of a job, the narrowest first."""
    return (user, walltime), (user,), (walltime,), ()

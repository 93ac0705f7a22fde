"""Runtimes that a job may have, drawn from what jobs like it have had."""

from __future__ import annotations

from collections import defaultdict

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
        self.known = 0 if history is None else len(history)
        shares: defaultdict[tuple[object, ...], list[float]] = defaultdict(list)
        if history is not None:
            ends = np.argsort(history.submit + history.runtime, kind="stable")
            for i in ends.tolist():
                walltime = int(history.walltime[i])
                user = history.label("user", int(history.user[i]))
                share = float(history.runtime[i]) / max(walltime, 1)
                for key in ((user, walltime), (user,), (walltime,), ()):
                    shares[key].append(share)
        self._shares = {key: np.array(each[-RECENT:]) for key, each in shares.items()}

    def draw(
        self, chance: np.random.Generator, user: str, walltime: int, *, beyond: int = 0
    ) -> int:
        """Return a runtime that such a job may have, at least a second beyond what it has run.

        It is the share of the walltime that one of the jobs like it has used: of the same user and
        request, of the same user, of the same request, of all, whatever there is enough of. Where
        nothing is known it is the walltime.
        """
        for key in ((user, walltime), (user,), (walltime,), ()):
            shares = self._longer(key, beyond / max(walltime, 1))
            if len(shares) >= ENOUGH or (not key and len(shares)):
                share = float(shares[chance.integers(len(shares))])
                return max(min(round(share * walltime), walltime), beyond + 1)
        return max(walltime, beyond + 1)

    def _longer(self, key: tuple[object, ...], share: float) -> NDArray[np.float64]:
        shares = self._shares.get(key)
        return np.empty(0) if shares is None else shares[shares > share]

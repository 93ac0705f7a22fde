"""What came of earlier forecasts, and what that says of the next ones.

A forecast is compared with those most like it: how much longer, or shorter, did their jobs wait
than foretold? A job that still waits has waited so long at least; it counts until now, as in a
study of survival (Kaplan and Meier 1958). The share that the late mark aims at follows its own
misses (adaptive conformal inference, Gibbs and Candes 2021).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: The share of jobs that the late mark is to hold for, and how fast it follows those it misses.
MARK, STEP = 0.9, 0.005
#: Between what shares the mark may aim.
LEAST, MOST = 0.6, 0.995
#: So many forecasts whose jobs have started say how far off forecasts are; fewer are too few. Of
#: more the last so many count.
ENOUGH, RECENT = 200, 5000
#: So many forecasts that are most like one say what comes of it.
ALIKE = 100
#: Seconds that are added before waits are divided: a wait of none is no measure of another.
GRACE = 60.0


@dataclass(eq=False)
class Noted:
    """A forecast, and what is known of its job by now.

    Parameters
    ----------
    job, submit
        Which job, and when it was submitted: numbers of jobs can come again.
    made
        When the forecast was made.
    half, late
        By when the job was to have started in half and in nine tenths of the replays, in seconds.
    mark
        The late mark that was told.
    until
        Until when the job is known to have waited.
    started
        Whether it started then.
    judged
        Whether it is counted whether the mark held.
    """

    job: int
    submit: int
    made: int
    half: float
    late: float
    mark: float
    until: int
    started: bool = False
    judged: bool = False

    @property
    def wait(self) -> int:
        """How long the job has waited since, as far as is known."""
        return self.until - self.made

    @property
    def missed(self) -> bool:
        """Whether the mark has passed before the job started."""
        return self.wait > self.mark


class Outcomes:
    """Forecasts, those whose jobs have started since, and what they say of the next ones.

    Parameters
    ----------
    noted
        Earlier forecasts, the oldest first.
    level
        The share that marks aim at by now.
    """

    def __init__(self, noted: Iterable[Noted] = (), level: float = MARK) -> None:
        self.noted: deque[Noted] = deque(noted, maxlen=RECENT)
        self.level = level

    @property
    def enough(self) -> bool:
        """Whether there is enough to learn from."""
        return sum(each.started for each in self.noted) >= ENOUGH

    @property
    def jobs(self) -> int:
        """Of how many jobs it is known what came of their forecasts."""
        return len({(each.job, each.submit) for each in self.noted if each.started})

    def expect(self, forecasts: Iterable[Noted]) -> None:
        """Take note of forecasts; what comes of them is learned when it is known."""
        self.noted.extend(forecasts)

    def learn(
        self,
        now: int,
        started: Callable[[Noted], int | None],
        waits: Callable[[Noted], bool] = lambda each: True,
    ) -> None:
        """Take note of what has come of forecasts by now.

        Parameters
        ----------
        now
            The moment.
        started
            When the job of a forecast started; None where it is not known to have.
        waits
            Whether the job of a forecast that has not started still waits.
        """
        for each in self.noted:
            if each.started:
                continue
            start = started(each)
            if start is not None:
                each.until, each.started = max(start, each.made), True
            elif waits(each):
                each.until = now
        fresh = [each for each in self.noted if not each.judged and (each.started or each.missed)]
        for each in sorted(fresh, key=lambda each: (each.until, each.made)):
            each.judged = True
            level = self.level + STEP * (each.missed - (1 - MARK))
            self.level = min(max(level, LEAST), MOST)

    def corrected(self, half: Floats, late: Floats, so_far: Floats) -> tuple[Floats, Floats]:
        """Return by when half and nine tenths of such jobs really start, in seconds.

        Parameters
        ----------
        half, late
            What the replays say.
        so_far
            How long each job has waited.
        """
        if not self.enough:
            return half, late
        columns = [(e.half, e.late, e.made - e.submit, e.wait, e.started) for e in self.noted]
        table = np.array(columns, np.float64)
        known: Bools = table[:, 4] > 0
        logs = np.log(table[:, :4] + GRACE)
        seen, waited = logs[:, :3], logs[:, 3]
        rows = np.log(np.stack([half, late, so_far], axis=1) + GRACE)
        spread = np.maximum(seen.std(axis=0), 1e-9)
        nearest = min(ALIKE, len(seen))
        found = np.empty((2, len(rows)))
        for i, row in enumerate(rows):
            far = (((seen - row) / spread) ** 2).sum(axis=1)
            alike = np.argpartition(far, nearest - 1)[:nearest]
            for k, level in enumerate((0.5, self.level)):
                beyond = waited[alike] - seen[alike, k]
                found[k, i] = row[k] + quantile(beyond, known[alike], level)
        half, late = np.maximum(np.exp(found) - GRACE, 0.0)
        return half, np.maximum(half, late)


def quantile(values: Floats, known: Bools, level: float) -> float:
    """Return the value that a share of all stays below, where some are known to be larger only.

    Parameters
    ----------
    values
        The values, or what they are at least.
    known
        Which of them are known.
    level
        The share.

    Examples
    --------
    >>> quantile(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, True]), 0.5)
    2.0
    >>> quantile(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, True, True]), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    left = np.arange(len(values), 0, -1)
    above = np.cumprod(np.where(known[order], 1 - 1 / left, 1.0))
    reached = np.flatnonzero(above <= 1 - level + 1e-9)
    return float(values[order[reached[0]] if len(reached) else order[-1]])

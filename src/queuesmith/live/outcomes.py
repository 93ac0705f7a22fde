"""What came of earlier forecasts, and what that says of the next ones.

A forecast is compared with those most like it: how much longer, or shorter, did their jobs wait
than foretold? A job that is foretold again and again tells one thing, not many, so its forecasts
share one vote. A job that still waits has waited so long at least; it counts until now, as in a
study of survival (Kaplan and Meier 1958). Some votes are there before the first job: what came of
forecasts elsewhere. The share that the late mark aims at follows its own misses (adaptive conformal
inference, Gibbs and Candes 2021), those of jobs that have waited about as long: who has waited long
misses marks more often, and would be made up for by those who have just come.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: The share of jobs that the late mark is to hold for, and how fast it follows those it misses.
MARK, STEP = 0.9, 0.01
#: Jobs belong together that have waited up to so many times as long.
STRETCH = 4.0
#: Between what shares the mark may aim.
LEAST, MOST = 0.6, 0.995
#: So many forecasts whose jobs have started say how far off the median is; fewer are too few. Of
#: more the last so many count.
ENOUGH, RECENT = 200, 5000
#: How much later than its late mark a job starts elsewhere, as the logarithm of the ratio: so many
#: votes, spread like this, count beside those of the cluster's own jobs.
ELSEWHERE, VOTES = NormalDist(-0.3, 0.3), 30.0
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
    def so_far(self) -> int:
        """How long the job had waited when it was foretold."""
        return self.made - self.submit

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
    levels
        The share that marks aim at by now, by how long jobs have waited.
    """

    def __init__(
        self, noted: Iterable[Noted] = (), levels: Mapping[int, float] | None = None
    ) -> None:
        self.noted: deque[Noted] = deque(noted, maxlen=RECENT)
        self.levels = dict(levels or {})

    def level(self, so_far: float) -> float:
        """Return the share that marks of jobs aim at which have waited so long."""
        return self.levels.get(_stretch(so_far), MARK)

    @property
    def enough(self) -> bool:
        """Whether there is enough to learn the median from."""
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
        self._judge()

    def _judge(self) -> None:
        """Let the level follow the marks of which it is known by now whether they held."""
        told: Counter[tuple[int, int, int]] = Counter()
        fresh = []
        for each in self.noted:
            key = (each.job, each.submit, _stretch(each.so_far))
            told[key] += 1
            if not each.judged and (each.started or each.missed):
                fresh.append((each, told[key]))
        for each, repeat in sorted(fresh, key=lambda pair: (pair[0].until, pair[0].made)):
            each.judged = True
            level = self.level(each.so_far) + STEP / repeat * (each.missed - (1 - MARK))
            self.levels[_stretch(each.so_far)] = min(max(level, LEAST), MOST)

    def corrected(self, half: Floats, late: Floats, so_far: Floats) -> tuple[Floats, Floats]:
        """Return by when half and nine tenths of such jobs really start, in seconds.

        Parameters
        ----------
        half, late
            What the replays say.
        so_far
            How long each job has waited.
        """
        rows = np.log(np.stack([half, late, so_far], axis=1) + GRACE)
        alike = _Alike(self.noted)
        levels = map(self.level, so_far.tolist())
        moved = [self._moved(row, alike, level) for row, level in zip(rows, levels, strict=True)]
        found = np.array(moved).reshape(-1, 2)
        half, late = np.maximum(np.exp(found.T) - GRACE, 0.0)
        return half, np.maximum(half, late)

    def _moved(self, row: Floats, alike: _Alike, level: float) -> tuple[float, float]:
        """Return the logarithms of half and late as those most like them teach."""
        near, votes = alike.to(row)
        beyond, known = alike.waited[near], alike.known[near]
        half = float(row[0])
        if self.enough:
            half += quantile(beyond - alike.seen[near, 0], known, 0.5, votes)
        late = quantile(
            np.concatenate([_PRIOR, beyond - alike.seen[near, 1]]),
            np.concatenate([np.ones(len(_PRIOR), np.bool_), known]),
            level,
            np.concatenate([np.full(len(_PRIOR), VOTES / len(_PRIOR)), votes]),
        )
        return half, float(row[1]) + late


def _stretch(so_far: float) -> int:
    """Return the number of the stretch of time to which such a wait belongs."""
    return int(math.log(1 + so_far / GRACE, STRETCH))


#: What came of forecasts elsewhere, as evenly as can be.
_PRIOR = np.array([ELSEWHERE.inv_cdf((i + 0.5) / 40) for i in range(40)])


class _Alike:
    """Forecasts that were noted, as numbers, to find those most like another."""

    def __init__(self, noted: Iterable[Noted]) -> None:
        columns = [(e.half, e.late, e.so_far, e.wait, e.started) for e in noted]
        table = np.array(columns, np.float64).reshape(-1, 5)
        logs = np.log(table[:, :4] + GRACE)
        self.seen, self.waited = logs[:, :3], logs[:, 3]
        self.known: Bools = table[:, 4] > 0
        self._spread = np.maximum(self.seen.std(axis=0), 1e-9) if len(table) else np.ones(3)
        keys: dict[tuple[int, int], int] = {}
        self._job = np.array(
            [keys.setdefault((e.job, e.submit), len(keys)) for e in noted], np.int64
        )

    def to(self, row: Floats) -> tuple[Ints, Floats]:
        """Return the places of those most like one, and the votes of each: one a job."""
        far = (((self.seen - row) / self._spread) ** 2).sum(axis=1)
        near = _nearest(far, ALIKE)
        _, which, times = np.unique(self._job[near], return_inverse=True, return_counts=True)
        return near, 1.0 / times[which]


def _nearest(far: Floats, count: int) -> Ints:
    """Return the places of the smallest distances; of equal ones the latest, on every processor."""
    if len(far) <= count:
        return np.arange(len(far))
    last = np.partition(far, count - 1)[count - 1]
    nearer, equal = np.flatnonzero(far < last), np.flatnonzero(far == last)
    return np.concatenate([nearer, equal[len(nearer) - count :]])


def quantile(values: Floats, known: Bools, level: float, votes: Floats | None = None) -> float:
    """Return the value that a share of all stays below, where some are known to be larger only.

    Parameters
    ----------
    values
        The values, or what they are at least.
    known
        Which of them are known.
    level
        The share.
    votes
        How much each counts; by default all count the same.

    Examples
    --------
    >>> quantile(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, True]), 0.5)
    2.0
    >>> quantile(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, True, True]), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    counts = np.ones(len(values)) if votes is None else votes[order]
    left = np.cumsum(counts[::-1])[::-1]
    above = np.cumprod(np.where(known[order], 1 - counts / left, 1.0))
    reached = np.flatnonzero(above <= 1 - level + 1e-9)
    return float(values[order[reached[0]] if len(reached) else order[-1]])

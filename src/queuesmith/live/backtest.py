"""Forecasts of a log's own past, moment by moment, beside what then really happened.

At each moment only what was known then is used: what ran, what waited, which jobs had ended. Beside
it stands what a scheduler that believes the requests would have said, as ``squeue --start`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.base.checks import positive, seeded, whole_number
from queuesmith.base.errors import WorkloadError
from queuesmith.engine.simulate import simulate
from queuesmith.live.outcomes import MARK, Floats, Noted, Outcomes
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.prediction.past import PastRuntimes
from queuesmith.workload import Workload
from queuesmith.workload.group_names import grouped_for
from queuesmith.workload.workload import Ints


@dataclass(frozen=True)
class Backtest:
    """Forecasts of one log; waits are seconds from the moment of the forecast on.

    Parameters
    ----------
    name
        The log.
    moments
        At how many moments there was a queue to foretell.
    median, late
        By when each job was to have started: in half, and in nine tenths of all cases.
    requested
        The same by the requests alone, without new jobs.
    really
        When it started.
    job
        Which job of the log: one that waits long is foretold at many moments.
    """

    name: str
    moments: int
    median: Floats
    late: Floats
    requested: Floats
    really: Floats
    job: Ints

    @property
    def error(self) -> float:
        """The mean error of the forecasts, in seconds."""
        return float(np.abs(self.median - self.really).mean())

    @property
    def requested_error(self) -> float:
        """The mean error of what the requests say, in seconds."""
        return float(np.abs(self.requested - self.really).mean())

    @property
    def held(self) -> float:
        """The share of forecasts whose job had started by the mark of nine in ten."""
        return float((self.really <= self.late).mean())

    @property
    def held_by_job(self) -> float:
        """The same for jobs: the forecasts of one share its vote."""
        _, which, times = np.unique(self.job, return_inverse=True, return_counts=True)
        return float(np.average(self.really <= self.late, weights=1 / times[which]))

    @property
    def held_at_first(self) -> float:
        """The share of jobs that had started by the mark that was told of them first."""
        _, first = np.unique(self.job, return_index=True)
        return float((self.really[first] <= self.late[first]).mean())

    def row(self) -> dict[str, Any]:
        """Return it as a row for a table."""
        return {
            "log": self.name,
            "moments": self.moments,
            "forecasts": len(self.median),
            "mean error (min)": round(self.error / 60, 1),
            "by requests (min)": round(self.requested_error / 60, 1),
            "marks held (% of forecasts)": round(100 * self.held, 1),
            "of jobs (%)": round(100 * self.held_by_job, 1),
            "of jobs, first told (%)": round(100 * self.held_at_first, 1),
        }


def backtest(
    log: Workload,
    cores: int,
    policy: AnyPolicy | str = "fcfs+easy",
    *,
    every: float = 3600.0,
    most: int = 500,
    replays: int = 30,
    seed: int = 0,
    tick: Callable[[float], None] = lambda share: None,
) -> Backtest:
    """Foretell the starts of waiting jobs again and again along a log, from what was known then.

    Forecasts of the first tenth of the log's time are learned from and do not count.

    Parameters
    ----------
    log
        Jobs of which it is known when they really started.
    cores
        How many cores the machine had.
    policy
        By what the queue is replayed.
    every
        Seconds from one moment to the next.
    most
        At how many moments at most: of more, so many are taken, as evenly as can be.
    replays
        How many replays each forecast is made of.
    seed
        The same seed gives the same forecasts.
    tick
        Told the share that is done.
    """
    positive("the time between moments", every, "Give for example 3600.")
    whole_number("the most moments", most, 1, "Give for example 500.")
    whole_number("the number of replays", replays, 1, "Give for example 30.")
    start = log.real_start
    if start is None:
        raise WorkloadError(
            f"the log '{log.name}' does not tell when its jobs really started, so forecasts cannot "
            "be compared with anything. Give one with a history, such as sacct's."
        )
    chosen = as_policy(policy)
    course = _Course(grouped_for(chosen.groups, log), start, cores, chosen)
    moments = course.moments(every, most)
    if not (moments >= course.begin).any():
        raise WorkloadError(
            f"no job of '{log.name}' waits at any of these moments. Take another --every."
        )
    chance, found = seeded(seed), []
    for number, now in enumerate(moments.tolist(), 1):
        foretold = course.foretold(now, replays, chance)
        found += [foretold] if now >= course.begin else []
        tick(number / len(moments))
    columns = (np.concatenate([getattr(each, name) for each in found]) for name in _COLUMNS)
    return Backtest(log.name, len(found), *columns)


_COLUMNS = ("median", "late", "requested", "really", "job")


@dataclass(frozen=True)
class _Foretold:
    """The forecasts of one moment."""

    median: Floats
    late: Floats
    requested: Floats
    really: Floats
    job: Ints


class _Course:
    """A log that is walked through, and what is known of it by then."""

    def __init__(self, log: Workload, start: Ints, cores: int, policy: AnyPolicy) -> None:
        self.log, self.start, self.end = log, start, start + log.runtime
        self.cores, self.policy = cores, policy
        self.past = PastRuntimes(None)
        self._by_end = np.argsort(self.end, kind="stable")
        self._ended = 0
        self._outcomes = Outcomes()

    @property
    def begin(self) -> int:
        """From when on forecasts count: after a tenth of the time, which is to learn from."""
        first, last = int(self.log.submit[0]), int(self.log.submit[-1])
        return first + (last - first) // 10

    def moments(self, every: float, most: int) -> Ints:
        """Return moments at which jobs wait."""
        first, last = int(self.log.submit[0]), int(self.log.submit[-1])
        instants = np.arange(first, last, max(int(every), 1))
        arrived = np.searchsorted(self.log.submit, instants, side="right")
        started = np.searchsorted(np.sort(self.start), instants, side="right")
        queued = instants[arrived > started]
        if len(queued) <= most:
            return queued
        return queued[np.linspace(0, len(queued) - 1, most).astype(np.int64)]

    def foretold(self, now: int, replays: int, chance: np.random.Generator) -> _Foretold:
        """Return the forecasts of all jobs that wait at a moment."""
        self._learn(now)
        log = self.log
        there = log.submit <= now
        waiting = np.flatnonzero(there & (self.start > now) & (log.cores <= self.cores))
        running = np.flatnonzero(there & (self.start <= now) & (self.end > now))
        elapsed = now - self.start[running]
        asked = log.walltime
        left = np.maximum(asked[running] - elapsed, 1)
        drawn_left = self._drawn(running, elapsed, replays, chance) - elapsed[:, None]
        drawn = self._drawn(waiting, np.zeros_like(waiting), replays, chance)
        waits = np.stack(
            [
                self._replayed(now, waiting, running, drawn[:, i], drawn_left[:, i])
                for i in range(replays)
            ]
        )
        requested = self._replayed(now, waiting, running, asked[waiting], left)
        half, late = np.quantile(waits, [0.5, MARK], axis=0)
        submit = log.submit[waiting]
        told, mark = self._outcomes.corrected(half, late, (now - submit).astype(np.float64))
        columns = (each.tolist() for each in (waiting, submit, half, late, mark))
        self._outcomes.expect(
            Noted(job, came, now, h, late_h, m, now)
            for job, came, h, late_h, m in zip(*columns, strict=True)
        )
        really = (self.start[waiting] - now).astype(np.float64)
        return _Foretold(told, mark, requested, really, waiting)

    def _learn(self, now: int) -> None:
        """Take note of what has ended and of what has started since."""
        log = self.log
        while self._ended < len(log) and self.end[self._by_end[self._ended]] <= now:
            i = int(self._by_end[self._ended])
            user = log.label("user", int(log.user[i]))
            self.past.learn(user, int(log.walltime[i]), int(log.runtime[i]))
            self._ended += 1
        self._outcomes.learn(now, lambda each: self._started(each, now))

    def _started(self, forecast: Noted, now: int) -> int | None:
        start = int(self.start[forecast.job])
        return start if start <= now else None

    def _drawn(self, jobs: Ints, beyond: Ints, replays: int, chance: np.random.Generator) -> Ints:
        """Return a runtime of each job in each replay, beyond what it has run."""
        log = self.log
        rows = [
            self.past.draws(
                chance, log.label("user", int(log.user[i])), int(log.walltime[i]), replays, beyond=b
            )
            for i, b in zip(jobs.tolist(), beyond.tolist(), strict=True)
        ]
        return np.array(rows, np.int64).reshape(len(jobs), replays)

    def _replayed(self, now: int, waiting: Ints, running: Ints, lasts: Ints, left: Ints) -> Floats:
        """Return how long each waiting job still waits in one replay of the moment."""
        log = self.log
        begin = int(log.submit[waiting].min()) - 1
        before = now - begin
        held = log.cores[running]
        free = self.cores - int(held.sum())
        fill = [free] if free > 0 else []
        must = np.maximum(log.walltime[running] - (now - self.start[running]), left)
        asked = np.maximum(log.walltime[waiting], lasts)
        jobs = Workload(
            np.concatenate([np.full(len(running) + len(fill), begin), log.submit[waiting]]),
            np.concatenate([before + left, [before] * len(fill), lasts]).astype(np.int64),
            np.concatenate([before + must, [before] * len(fill), asked]).astype(np.int64),
            np.concatenate([held, fill, log.cores[waiting]]).astype(np.int64),
            user=np.concatenate([log.user[running], [0] * len(fill), log.user[waiting]]).astype(
                np.int64
            ),
            group=np.concatenate([log.group[running], [1] * len(fill), log.group[waiting]]).astype(
                np.int64
            ),
            labels={name: log.labels[name] for name in ("group",) if name in log.labels},
        )
        schedule = simulate(jobs, cores=max(self.cores, int(held.sum())), policy=self.policy)
        starts = schedule.start[np.argsort(schedule.workload.id)][len(running) + len(fill) :]
        waits: Floats = np.maximum(starts - now, 0).astype(np.float64)
        return waits

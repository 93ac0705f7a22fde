"""A policy that tunes its own knobs: every so often it searches them anew on the recent past.

At each turn it knows what a scheduler knows: which jobs have come, and the runtimes of those that
have ended; a job that still runs or waits counts with its walltime. It replays the recent past
under all settings of a coarse range and goes on with the one that is best among its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import number, of_kind, progress_function
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.knobs.bags import rigid
from queuesmith.knobs.choosing import as_objective, evaluate
from queuesmith.knobs.greedy_knapsack import backfill_mode
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.kernels.replay import new_replay
from queuesmith.knobs.neighbours import among_neighbours
from queuesmith.knobs.options import SPLIT, RetuneOptions
from queuesmith.knobs.ranges import Settings, range_texts
from queuesmith.knobs.setting import NAMES, Knobs
from queuesmith.knobs.sweep_result import SweepResult
from queuesmith.knobs.sweeping import sweep
from queuesmith.schedule import Schedule
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.paired import chance_words, improvement, interval_words
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

Mask = NDArray[np.bool_]

#: What the rows of a comparison are called.
_OURS, _FIXED, _HINDSIGHT = "self-tuning", "best fixed", "best fixed in hindsight"
_STEADY, _PLAIN = "best fixed among neighbours", "first come, first served"


@dataclass(frozen=True)
class Turn:
    """From a second on, these knobs; and what they would have cost in the recent past."""

    second: int
    knobs: Knobs
    value: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Retuned(Framed):
    """A replay under knobs that were turned on the way.

    Parameters
    ----------
    schedule
        When each job ran.
    turns
        When the knobs were turned, and to what.
    """

    schedule: Schedule
    turns: tuple[Turn, ...]

    def __repr__(self) -> str:
        return (
            f"<Retuned: {so_many(len(self.turns), 'setting')} of the knobs over {self.schedule!r}>"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each turn."""
        return [
            {
                "second": turn.second,
                **dict(zip(NAMES, turn.knobs.values, strict=True)),
                "value": turn.value,
                "favours": turn.knobs.favours(),
            }
            for turn in self.turns
        ]


def retune(
    workload: Workload,
    cluster: Cluster | None = None,
    objective: str = RetuneOptions.objective,
    *,
    cores: int | None = None,
    backfill: str = RetuneOptions.backfill,
    every: float = RetuneOptions.every,
    window: float = RetuneOptions.window,
    ranges: str | Sequence[str] = RetuneOptions.ranges,
    margin: float = RetuneOptions.margin,
    neighbourhood: float = RetuneOptions.neighbourhood,
    initial: Knobs | None = None,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Retuned:
    """Replay a log under knobs that are searched anew every so often.

    Parameters
    ----------
    workload, cluster, cores
        As for ``simulate``; jobs are rigid.
    objective, backfill, every, window, ranges, margin, neighbourhood
        As in `RetuneOptions`.
    initial
        The knobs until the first turn.
    """
    options = RetuneOptions(objective, backfill, every, window, ranges, margin, neighbourhood)
    as_objective(objective)
    Settings.parse(range_texts(ranges))
    progress_function(progress)
    first = Knobs() if initial is None else initial
    of_kind("initial", first, Knobs, "Give for example Knobs(1, 1, 0).")
    machine = as_cluster(workload, cluster, cores)
    jobs = workload.fitting(machine.cores)
    turns = [Turn(int(jobs.submit[0]) if len(jobs) else 0, first)]
    tuner = _KnobTuner(jobs, machine, options, workers)
    start = tuner.replay(turns)
    last = int(jobs.submit[-1])
    seconds = np.arange(turns[0].second + every, last, every).astype(np.int64)
    for done, second in enumerate(seconds.tolist()):
        turn = tuner.search(second, start, turns[-1].knobs)
        if turn is not None:
            turns.append(turn)
            start = tuner.replay(turns)
        if progress is not None:
            progress((done + 1) / len(seconds))
    name = f"self-tuning power+{backfill}" if backfill != "none" else "self-tuning power"
    return Retuned(Schedule(jobs, machine, start, name), tuple(turns))


@dataclass(frozen=True, eq=False)
class _KnobTuner:
    jobs: Workload
    machine: Cluster
    options: RetuneOptions
    workers: int | None

    def replay(self, turns: Sequence[Turn]) -> Ints:
        """Replay the whole log; what happens before a second depends on no later turn."""
        when = np.array([turn.second for turn in turns], np.int64)
        when.setflags(write=False)
        knobs = np.array([turn.knobs.values for turn in turns])
        state = new_replay(rigid(self.jobs).packed(), self.machine.cores)
        mode = backfill_mode(self.options.backfill)
        runs.run_once(state, when, knobs, self.machine.cores, mode)
        return np.asarray(state.start)

    def search(self, second: int, start: Ints, now: Knobs) -> Turn | None:
        """Return where to turn the knobs at this second, or None where they stay."""
        recent = self.recent(second, start)
        if len(recent) < 2:
            return None
        found = self.swept(recent, self.options.ranges)
        try:
            values = evaluate(found, self.options.objective)
        except MetricError:  # a class that has no jobs in this window
            return None
        exact = [repr(float(value)) for value in now.values]
        kept = evaluate(self.swept(recent, exact), self.options.objective)
        settings = np.vstack([found.settings, now.values])
        worth = among_neighbours(
            settings, np.concatenate([values, kept]), self.options.neighbourhood
        )
        best = found.least(worth[:-1])
        if not worth[best] < worth[-1] * (1 - self.options.margin):
            return None
        return Turn(second, found.knobs(best), float(values[best]))

    def swept(self, recent: Workload, ranges: str | Sequence[str]) -> SweepResult:
        """Return what settings would have cost in the recent past."""
        backfill = self.options.backfill
        return sweep(recent, self.machine, ranges, backfill=backfill, workers=self.workers)

    def recent(self, second: int, start: Ints) -> Workload:
        """Return the jobs of the window as they are known at this second."""
        window = int(self.options.window)
        first, last = np.searchsorted(self.jobs.submit, [second - window, second])
        jobs = self.jobs.select(np.arange(first, last))
        ended = start[first:last] + jobs.runtime <= second
        return jobs.replaced(runtime=np.where(ended, jobs.runtime, jobs.walltime))


@dataclass(frozen=True)
class HeldOut:
    """Self-tuning beside fixed settings, on jobs that none of them has seen.

    Parameters
    ----------
    rows
        One for each policy: its knobs, the objective on both parts of the log, and the longest wait
        of the second.
    gain
        By how many per cent self-tuning is better than the best fixed setting on the second part,
        with its interval; None where the objective is 0 under that setting.
    tuned
        The replay of the whole log under self-tuning.
    """

    rows: tuple[dict[str, Any], ...]
    gain: Interval | None
    tuned: Retuned

    @property
    def verdict(self) -> str:
        """Whether self-tuning paid on the part of the log that was held out, and what to do."""
        if self.gain is not None and self.gain.value > 0:
            return (
                f"self-tuning was {self.gain.value:.1f} % better{interval_words(self.gain)} than "
                "the best fixed setting on the held-out part. "
                f"{self._simpler_words or chance_words(self.gain)}"
            )
        loss = "no better than"
        if self.gain is not None and self.gain.value < 0:
            loss = f"{-self.gain.value:.1f} % worse{interval_words(self.gain)} than"
        keep = f"Keep {self._row(_FIXED)['knobs']}."
        return (
            f"self-tuning was {loss} one fixed setting, found on the first part and kept. Do not "
            "use it on such a log: what was best in the recent past need not be in the weeks "
            f"after. {self._simpler_words or keep}"
        )

    @property
    def _simpler_words(self) -> str:
        """What to do where something simpler does as well as both that the verdict is about."""
        ours, fixed, steady, plain = (
            self._row(each)["held out"] for each in (_OURS, _FIXED, _STEADY, _PLAIN)
        )
        reasons = {
            _PLAIN: (plain, "Keep that: it needs no search."),
            _STEADY: (steady, f"Keep {self._row(_STEADY)['knobs']}: it needs one search."),
        }
        best = min(reasons, key=lambda name: reasons[name][0])
        value, way_out = reasons[best]
        if value > min(ours, fixed):
            return ""
        side = "better than" if value < min(ours, fixed) else "as well as the better of"
        named = best if best == _PLAIN else f"the {best}"
        return f"But {named} did {side} both there. {way_out}"

    def _row(self, policy: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["policy"] == policy)


def held_out(
    workload: Workload,
    cluster: Cluster | None = None,
    objective: str = RetuneOptions.objective,
    *,
    cores: int | None = None,
    backfill: str = RetuneOptions.backfill,
    split: float = SPLIT,
    ranges: str | Sequence[str] = RetuneOptions.ranges,
    neighbourhood: float = RetuneOptions.neighbourhood,
    **options: Any,
) -> HeldOut:
    """Compare self-tuning with fixed settings on jobs that none of them has seen.

    The best fixed setting is searched on the jobs of the first part of the log and then kept, once
    by its own value and once among its neighbours, as a turn is; the best in hindsight is searched
    on the second part itself, which nobody could have known. Each replay covers the whole log; the
    parts are told apart by when a job was submitted. The longest wait in seconds is that of the
    second part.

    Parameters
    ----------
    split
        The share of the log's span that the fixed setting is searched on.
    options
        Further options of ``retune``.
    """
    number("the split", split, 0, 1, "Give for example 0.5.")
    machine = as_cluster(workload, cluster, cores)
    jobs = workload.fitting(machine.cores)
    border = int(jobs.submit[0] + split * jobs.span)
    seen = jobs.submit < border
    if seen.all() or not seen.any():
        raise UsageError(
            f"a split of {split:g} leaves no jobs on one side of second {border} of "
            f"'{jobs.name}'. Give another split, or a log whose jobs arrive over time."
        )
    options |= {"backfill": backfill, "ranges": ranges, "neighbourhood": neighbourhood}
    tuned = retune(jobs, machine, objective, **options)
    first, rest = (
        sweep(jobs.select(part), machine, ranges, backfill=backfill) for part in (seen, ~seen)
    )
    searched = {
        _FIXED: _best_fixed(first, objective),
        _STEADY: _best_fixed(first, objective, neighbourhood),
        _HINDSIGHT: _best_fixed(rest, objective),
    }
    schedules = {
        name: _replayed(jobs, machine, knobs, backfill) for name, knobs in searched.items()
    }
    plain = _replayed(jobs, machine, Knobs(0, 1, 0), backfill)
    measure = as_objective(objective)
    ours, fixed = (_submitted_in(~seen, s) for s in (tuned.schedule, schedules[_FIXED]))
    rows = [
        _row(_OURS, so_many(len(tuned.turns) - 1, "turn"), tuned.schedule, measure, seen),
        *(_row(n, str(searched[n]), schedules[n], measure, seen) for n in searched),
        _row(_PLAIN, "beta=1", plain, measure, seen),
    ]
    return HeldOut(tuple(rows), improvement(ours, fixed, measure), tuned)


def _best_fixed(found: SweepResult, objective: str, neighbourhood: float = 0.0) -> Knobs:
    values = evaluate(found, objective)
    return found.knobs(found.least(among_neighbours(found.settings, values, neighbourhood)))


def _replayed(jobs: Workload, machine: Cluster, knobs: Knobs, backfill: str) -> Schedule:
    from queuesmith.engine import simulate

    return simulate(jobs, machine, knobs.policy(backfill))


def _submitted_in(part: Mask, schedule: Schedule) -> Schedule:
    """Return the jobs that were submitted in a part of the log, as they ran in all of it."""
    jobs = schedule.workload.select(part)
    return Schedule(jobs, schedule.cluster, schedule.start[part], schedule.policy)


def _row(
    name: str, knobs: str, schedule: Schedule, measure: Objective, seen: Mask
) -> dict[str, Any]:
    first, rest = (measure(_submitted_in(part, schedule)) for part in (seen, ~seen))
    longest = float(schedule.wait[~seen].max())
    told = {"policy": name, "knobs": knobs, "first part": first, "held out": rest}
    return {**told, "longest wait": longest}

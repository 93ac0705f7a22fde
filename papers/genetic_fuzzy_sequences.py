"""What the thirteen strategies can reach at most on a window of a log, in hindsight.

    python -m papers.genetic_fuzzy_sequences --logs CTC,KTH

A window of a log on an empty machine is divided into intervals with the same number of submissions,
and in each one of the thirteen strategies decides. The search knows all jobs of the window: it
changes one interval at a time for the better, then several in a row, drawn by chance; then it
halves the intervals and goes on. What it finds
can be reached; something better may exist. Beside it stands a bound that is proven for every
schedule whatsoever. Pieces are kept in papers/kept/genetic_fuzzy_sequences.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import queuesmith as qs
from papers.genetic_fuzzy_logs import CORES, Scaling, read_log
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.kept_pieces import KeptPieces
from papers.study import ROOT, markdown
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay
from queuesmith.policy import AnyPolicy
from queuesmith.policy.features import FEATURES, Feature, State
from queuesmith.policy.rulebase import RuleBase
from queuesmith.policy.rules import RigidRules
from queuesmith.policy.strategies import STRATEGIES
from queuesmith.schedule.starvation import group_waits

KEPT = ROOT / "papers" / "kept" / "genetic_fuzzy_sequences.json"
#: A window: so many jobs, beginning at these parts of the log.
JOBS, WINDOWS = 2_000, (0.25, 0.5)
#: How finely the window is divided, coarse first.
INTERVALS = (8, 16, 32, 64, 128)
#: How often all intervals of one division are gone through, at most.
ROUNDS = 2
#: How many changes of several intervals in a row are tried in one division.
TRIES = 400
#: The search begins at so many of the best fixed strategies.
BEGINNINGS = 2
#: What the objective gives a second of AWRT of groups 1 and 2.
WEIGHTS = {1: 10.0, 2: 4.0}

Ints = NDArray[np.int64]


def moment(state: State) -> float:
    """The present second."""
    return state.now


@contextmanager
def knowing_the_moment() -> Iterator[None]:
    """Let rules look at the present second, which those of people cannot."""
    FEATURES["moment"] = Feature("moment", moment, 0, 1e9, "the present second")
    try:
        yield
    finally:
        del FEATURES["moment"]


class Window:
    """A window of a log on an empty machine, and what sequences of strategies are worth there."""

    def __init__(self, jobs: qs.Workload, cores: int) -> None:
        self.cores, self.cluster = cores, qs.Cluster(cores)
        self.packed = Packed(jobs, self.cluster)
        self.jobs = self.packed.workload
        self.replays = 0
        self._known: dict[tuple[int, ...], float] = {}

    def bounds(self, intervals: int) -> tuple[float, ...]:
        """Return the seconds at which the window is divided, after which so many jobs have come."""
        places = np.linspace(0, len(self.jobs), intervals + 1)[1:-1].astype(int)
        return tuple(map(float, np.unique(self.jobs.submit[places])))

    def schedule(self, policy: AnyPolicy) -> qs.Schedule:
        """Replay the window under a policy."""
        self.replays += 1
        with knowing_the_moment():
            return Replay(self.packed, self.cluster, policy).run()

    def value(self, bounds: tuple[float, ...], choice: Sequence[int]) -> float:
        """Return the objective where each interval has its strategy; the lower, the better."""
        key = (len(bounds), *choice)
        if key not in self._known:
            self._known[key] = self.schedule(sequence(bounds, choice)).value(OBJECTIVE)
        return self._known[key]


def sequence(bounds: tuple[float, ...], choice: Sequence[int]) -> RuleBase:
    """Return the policy that follows a strategy in each interval."""
    rules = RigidRules((bounds,), np.array(choice, np.int64), len(STRATEGIES))
    with knowing_the_moment():
        return RuleBase(rules, ("moment",))


# -- the search ------------------------------------------------------------------------------------


def searched(window: Window, beginnings: Sequence[int], seed: int = 0) -> tuple[RuleBase, float]:
    """Return the best sequence of strategies that is found, and its value."""
    found = [_searched_from(window, strategy, seed) for strategy in beginnings]
    return min(found, key=lambda pair: pair[1])


def _searched_from(window: Window, strategy: int, seed: int) -> tuple[RuleBase, float]:
    chance = np.random.default_rng(seed)
    before: tuple[float, ...] = ()
    choice = [strategy]
    for intervals in INTERVALS:
        bounds = window.bounds(intervals)
        ends = np.append(bounds, np.inf)
        choice = [choice[int(np.searchsorted(before, end))] for end in ends]
        choice = improved(window, bounds, choice, chance)
        choice = changed_in_rows(window, bounds, choice, chance)
        before = bounds
    return sequence(before, choice), window.value(before, choice)


def improved(
    window: Window,
    bounds: tuple[float, ...],
    choice: Sequence[int],
    chance: np.random.Generator,
) -> list[int]:
    """Return choices that no change of one interval makes better, or after the last round."""
    best = list(choice)
    for _ in range(ROUNDS):
        before = best
        places = chance.permutation(len(best)).tolist()
        changes = ((place, place, each) for place in places for each in range(len(STRATEGIES)))
        best = after_changes(window, bounds, before, changes)
        if best == before:
            break
    return best


def changed_in_rows(
    window: Window,
    bounds: tuple[float, ...],
    choice: Sequence[int],
    chance: np.random.Generator,
) -> list[int]:
    """Return choices after tries to give several intervals in a row one other strategy."""
    changes = (
        (*np.sort(chance.integers(len(choice), size=2)).tolist(), chance.integers(len(STRATEGIES)))
        for _ in range(TRIES)
    )
    return after_changes(window, bounds, choice, changes)


def after_changes(
    window: Window,
    bounds: tuple[float, ...],
    choice: Sequence[int],
    changes: Iterable[tuple[int, int, int]],
) -> list[int]:
    """Return choices after changes that were kept where they helped.

    A change gives the intervals from a first to a last one another strategy.
    """
    best, value = list(choice), window.value(bounds, choice)
    for first, last, strategy in changes:
        tried = [*best[:first], *[int(strategy)] * (last - first + 1), *best[last + 1 :]]
        if (other := window.value(bounds, tried)) < value:
            best, value = tried, other
    return best


# -- the bound -------------------------------------------------------------------------------------


def least_objective(jobs: qs.Workload, cores: int) -> float:
    """Return a value of the objective below which no schedule of these jobs can be.

    Nobody waits for less than nothing. And a rigid job runs at one rate from start to end, so it
    ends half its runtime after the mean of the moments at which it is worked on. These means are
    least, weighted by work times a constant of the group, where one machine as fast as all cores
    together works on one job at a time, always one of the group with the largest constant (Goemans
    1996: mean busy times). Jobs of other groups are left out, which can only help.
    """
    area: NDArray[np.float64] = jobs.cores.astype(np.float64) * jobs.runtime
    total = {group: float(area[jobs.group == group].sum()) for group in WEIGHTS}
    rate = {group: WEIGHTS[group] / total[group] for group in WEIGHTS if total[group] > 0}
    weight = area * np.array([rate.get(group, 0.0) for group in jobs.group.tolist()])
    nobody_waits = float((weight * jobs.runtime).sum())
    busy = float((weight * (jobs.runtime / 2 - jobs.submit)).sum())
    # Work of the first groups alone, then of one more: the difference is that one's.
    order = sorted(rate, key=rate.__getitem__, reverse=True)
    before = 0.0
    for number, group in enumerate(order):
        moments = _work_times_moment(jobs, area, order[: number + 1], cores)
        busy += rate[group] * (moments - before)
        before = moments
    return max(nobody_waits, busy)


def _work_times_moment(
    jobs: qs.Workload, area: NDArray[np.float64], groups: Sequence[int], cores: int
) -> float:
    """Return the sum of work times the moment at which it is done, all done as soon as possible."""
    mine = np.isin(jobs.group, groups)
    end = 0.0  # when all the work that has come is done
    total = 0.0
    for submit, work in zip(jobs.submit[mine].tolist(), area[mine].tolist(), strict=True):
        begin, end = max(end, float(submit)), max(end, float(submit)) + work / cores
        total += work * (begin + end) / 2
    return total


# -- pieces and the page ---------------------------------------------------------------------------


def window_of(log: str, part: float) -> Window:
    """Return a window of a log of the study, its clock set to 0 at its first job."""
    jobs = read_log(log, Scaling())
    first = int(part * len(jobs))
    chosen = jobs.select(np.arange(first, first + JOBS))
    return Window(chosen.replaced(submit=chosen.submit - int(chosen.submit[0])), CORES)


def measured(window: Window) -> dict[str, Any]:
    """Return what the thirteen, the search and the bound say of a window."""
    fixed = {name: window.schedule(each).value(OBJECTIVE) for name, each in STRATEGIES.items()}
    ranked = sorted(range(len(fixed)), key=lambda number: list(fixed.values())[number])
    policy, value = searched(window, ranked[:BEGINNINGS])
    found, easy = window.schedule(policy), window.schedule(STRATEGIES["fcfs+easy"])
    waits, usual = group_waits(found), group_waits(easy)
    return {
        "jobs": len(window.jobs),
        "hours": round(int(window.jobs.submit[-1]) / 3600, 1),
        "fixed": {name: round(each, 3) for name, each in fixed.items()},
        "found": round(value, 3),
        "decisions": found.decisions.count,
        "replays": window.replays,
        "bound": round(least_objective(window.jobs, window.cores), 3),
        "longest": {
            group: [round(each.longest), round(usual[group].longest)]
            for group, each in waits.items()
        },
    }


def table(kept: KeptPieces) -> str:
    """Return what was found of all windows that are kept, as a section of the page; or nothing."""
    rows = [_row(name, kept[name]) for name in kept.names()]
    return SECTION.format(rows=markdown(rows), jobs=f"{JOBS:,}") if rows else ""


def _row(name: str, piece: dict[str, Any]) -> dict[str, object]:
    easy = piece["fixed"]["fcfs+easy"]
    best = min(piece["fixed"], key=piece["fixed"].__getitem__)

    def gain(value: float, than: float = easy) -> str:
        return f"{100 * (1 - value / than):.1f} %"

    others = [waits for group, waits in piece["longest"].items() if int(group) > max(WEIGHTS)]
    longest = [max(each[k] for each in others) / 3600 for k in (0, 1)]
    return {
        "window": name,
        "hours": piece["hours"],
        "decisions": piece["decisions"],
        "best fixed strategy": f"{gain(piece['fixed'][best])} ({best})",
        "found by search": gain(piece["found"]),
        "found, over the best fixed": gain(piece["found"], piece["fixed"][best]),
        "no schedule can exceed": gain(piece["bound"]),
        "longest wait of groups 3 to 5, h": f"{longest[0]:.0f} ({longest[1]:.0f})",
        "replays": f"{piece['replays']:,}",
    }


SECTION = """\
## The most that sequences of the thirteen can reach

How much of a gain do the thirteen strategies allow, whoever chooses among them? Windows of {jobs}
jobs, each on an empty machine, are divided into up to 128 intervals with a strategy each, and a
search that knows the future changes them for the better (`python -m
papers.genetic_fuzzy_sequences`). What is **found by search can be reached in hindsight, and nothing
says that there is no better sequence**; what *no schedule can exceed* is proven, for schedules
outside the thirteen, too, and may be far above what is possible. Improvements are over FCFS with
EASY on the same window, in per cent; in brackets EASY's longest wait. The search looks at f alone:
no guard. It changes one interval at a time, or several in a row to one strategy; what takes other
changes at once is not found. Whole logs are out of its reach; a rule base may gain more there than
here, where it can change strategies from week to week.

{rows}"""


def main() -> None:
    """Search what is not kept yet, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", default="CTC,KTH", help="of the study, comma-separated")
    parser.add_argument("--kept", type=Path, default=KEPT)
    asked = parser.parse_args()
    kept = KeptPieces(asked.kept)
    for part in WINDOWS:
        for log in asked.logs.split(","):
            kept.piece(f"{log}, at {part:.0%}", lambda: measured(window_of(log, part)))  # noqa: B023
    print(table(kept))


if __name__ == "__main__":
    main()

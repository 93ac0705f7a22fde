"""How learning went in the genetic fuzzy study: whether children come up to the best."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from papers.genetic_fuzzy_approaches import APPROACHES
from papers.genetic_fuzzy_results import Results
from papers.study import section

#: Who has generations of children; PROB has none.
EVOLVING = tuple(name for name in APPROACHES if name != "prob")


def courses(results: Sequence[Results]) -> str:
    """Return a row for each approach on each log: its children at first, at last, and its best."""
    rows = [
        _row(each, name, runs) for each in results for name in EVOLVING if (runs := each.of(name))
    ]
    if not rows:
        return ""
    note = (
        "Learned on all: f of the mean child at first and in the last generation, above the best "
        "that the run found, in per cent; medians of the seeds. *At first* is the second round, "
        "for the first has parents from chance, or the best fixed strategy. Children that come up "
        "to the best show a search that has settled, far ones that most of its replays were spent "
        "on policies of no use. Where there is a guard, children that break it do not count."
    )
    return section("Do children come up to the best?", note, rows)


def _row(results: Results, name: str, runs: Sequence[dict[str, Any]]) -> dict[str, object]:
    means = [[value for value in run["mean"][1:] if value is not None] for run in runs]
    best = [run["best"][-1] for run in runs]
    first = median(_above(own[0], than) for own, than in zip(means, best, strict=True))
    last = median(_above(own[-1], than) for own, than in zip(means, best, strict=True))
    return {
        "log": results.name,
        "approach": APPROACHES[name].title,
        "seeds": len(runs),
        "at first, %": f"{first:.1f}",
        "at last, %": f"{last:.1f}",
    }


def _above(value: float, best: float) -> float:
    return 100 * (value / best - 1)

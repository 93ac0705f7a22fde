"""How learning went in the genetic fuzzy study: whether children come up to the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from papers.genetic_fuzzy_approaches import APPROACHES
from papers.genetic_fuzzy_results import Results
from papers.study import section

#: Who has generations of children; PROB has none.
EVOLVING = tuple(name for name in APPROACHES if name != "prob")


def courses(results: Sequence[Results]) -> str:
    """Return a row for each approach on each log: its children at first, at last, and its best."""
    rows = [
        _row(each.name, name, [run["course"] for run in runs])
        for each in results
        for name in EVOLVING
        if (runs := each.of(name))
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


def _row(log: str, approach: str, runs: Sequence[Mapping[str, float]]) -> dict[str, object]:
    above = {
        end: median(100 * (run[end] / run["best"] - 1) for run in runs if end in run)
        for end in ("at first", "at last")
        if any(end in run for run in runs)
    }
    return {
        "log": log,
        "approach": APPROACHES[approach].title,
        "seeds": len(runs),
        **{f"{end}, %": f"{value:.1f}" for end, value in above.items()},
    }

"""PROB with more random rule bases than the paper's: does it gain more?"""

from __future__ import annotations

from collections.abc import Sequence

from papers.genetic_fuzzy_logs import Scaling
from papers.genetic_fuzzy_paper import TABLE_3
from papers.genetic_fuzzy_results import Results, Spread
from papers.genetic_fuzzy_runs import Runs
from papers.kept_pieces import KeptPieces
from papers.study import section
from queuesmith.learning.probability import Probability

#: How often each strategy is assigned to each rule; the paper's is 50.
MORE = 200
SEEDS = range(5)


def more_draws(results: Sequence[Results], kept: KeptPieces) -> str:
    """Return what PROB gains with more draws; empty where that was not run."""
    rows = [
        {
            "log": each.name,
            f"PROB, {_draws():,} rule bases drawn": each.gains("prob") or "-",
            f"{_draws(MORE):,} drawn": found,
            "best of the thirteen": f"{each.gain(each.fixed['all'][each.best_fixed()]):.2f}",
        }
        for each in results
        if (found := _with_more(each, kept)) is not None
    ]
    if not rows:
        return ""
    note = (
        "Why does PROB gain less here than in the paper? Each rule gets the strategy whose rule "
        "bases were best on average, while all other rules play what chance gave them. Were it "
        "chance in these averages, more draws would help: learned on all, per cent over EASY "
        f"(`--approaches prob --set participations={MORE}`). Where the second figure lies within "
        "the range of the first, that cannot be told from chance; the cause was not found. "
        f"Of single logs the paper tells CTC alone: {_paper_on_ctc():.2f} %."
    )
    return section("PROB with more draws", note, rows)


def fewer_and_more(results: Sequence[Results], kept: KeptPieces) -> list[tuple[Spread, Spread]]:
    """Return what PROB gains with the paper's draws and with more, of each log that has both."""
    pairs = [(each.gains("prob"), _with_more(each, kept)) for each in results]
    return [(few, more) for few, more in pairs if few and more]


def _draws(participations: int = Probability.participations) -> int:
    return Probability(participations=participations).evaluations - 1


def _paper_on_ctc() -> float:
    *_, easy = TABLE_3["EASY"]
    *_, prob = TABLE_3["PROB"]
    return 100 * (1 - prob / easy)


def _with_more(results: Results, kept: KeptPieces) -> Spread | None:
    runs = Runs(kept, results.name, Scaling())
    found = [runs.learned("prob", "all", seed, {"participations": MORE}) for seed in SEEDS]
    gains = [results.gain(run["learning"]["learned"]) for run in found if run is not None]
    return Spread(tuple(gains)) if gains else None

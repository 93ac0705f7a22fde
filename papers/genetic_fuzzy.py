"""Franke, Lepping and Schwiegelshohn: genetic fuzzy systems, tables 2 to 4, figures 5 to 7.

    python -m papers.genetic_fuzzy --logs "SDSC 96,CTC" --approaches pitts,cca --seeds 0,1,2

learns what is not kept yet, piece by piece, and writes docs/results/genetic_fuzzy.md from all that
is kept in papers/kept/genetic_fuzzy.json, and policies in genetic_fuzzy_policy.json beside it. It
can be stopped at any time and goes on from there.
With ``--only-kept`` nothing is learned, only the page is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from papers.genetic_fuzzy_approaches import APPROACHES, find_approach, parse_settings
from papers.genetic_fuzzy_claims import claims
from papers.genetic_fuzzy_course import courses
from papers.genetic_fuzzy_draws import more_draws
from papers.genetic_fuzzy_figures import draw_figures
from papers.genetic_fuzzy_logs import AT_HAND, LOGS, Scaling
from papers.genetic_fuzzy_price import cost, extensions, held_out, missing, waits
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_rolling import METHODS as ROLLED_BY
from papers.genetic_fuzzy_rolling import rolled, rolling_table
from papers.genetic_fuzzy_runs import SPLITS, Runs, kept_results
from papers.genetic_fuzzy_scalings import other_scalings
from papers.genetic_fuzzy_sequences import KEPT as SEQUENCES
from papers.genetic_fuzzy_sequences import table as sequences_table
from papers.genetic_fuzzy_tables import (
    absolute,
    front_distance,
    groups,
    improvements,
    jobs_after_scaling,
    rivals,
    utilization,
)
from papers.genetic_fuzzy_transfer import transfer, transfer_table
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.kept_pieces import KeptPieces
from papers.pictures import keep_pictures, write_page
from papers.study import RESULTS, ROOT
from queuesmith.base.registry import known

KEPT = ROOT / "papers" / "kept" / "genetic_fuzzy.json"
#: What of a piece is kept in a file beside it: two thirds of the whole, read by few.
APART = "policy"
FRONTS = ROOT / "papers" / "kept" / "genetic_fuzzy_fronts"


def main() -> None:
    """Learn what is asked for and not kept yet, and write the page of all that is kept."""
    asked = _arguments()
    kept = KeptPieces(asked.kept, apart=APART)
    if not asked.only_kept:
        make_pieces(asked, kept)
    results = kept_results(kept, asked.fronts, Scaling(asked.scale_seed, asked.paper_jobs))
    text, figures = report(results, kept, asked.fronts), draw_figures(results)
    print(text)
    if not asked.pieces:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        pictures = keep_pictures(figures, asked.out)
        text += f"\n## Figures\n\n{pictures}\n" if pictures else ""
        asked.out.write_text(text, encoding="utf-8")
    if asked.figures is not None:
        write_page(figures.values(), asked.figures, title="Genetic fuzzy scheduling")


def make_pieces(asked: argparse.Namespace, kept: KeptPieces) -> None:
    """Learn what is not kept yet: all logs with the first seed, then with the next."""
    approaches = [name for name in asked.approaches.split(",") if find_approach(name)]
    settings = parse_settings(asked.set, approaches)
    scaling = Scaling(asked.scale_seed, asked.paper_jobs)
    names = [known("log", name, list(LOGS)) for name in asked.logs.split(",")]
    parts = [known("part", part, list(SPLITS)) for part in asked.parts.split(",")]
    for seed in map(int, asked.seeds.split(",")):
        for name in names:
            runs = Runs(kept, name, scaling, workers=asked.workers, folder=asked.work)
            runs.fixed()
            for approach in approaches:
                for part in parts:
                    runs.learned(approach, part, seed, settings[approach])
            for method in ROLLED_BY if asked.rolling else ():
                rolled(runs, method, origins=asked.rolling, seed=seed)
    if asked.transfer:
        for name in names:
            transfer(Runs(kept, name, scaling, workers=asked.workers), names)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", default=",".join(AT_HAND), help="some of: " + ",".join(LOGS))
    parser.add_argument("--approaches", default="pitts,cca,prob", help=", ".join(APPROACHES))
    parser.add_argument("--parts", default=",".join(SPLITS), help="all, held out, or both")
    parser.add_argument("--seeds", default="0,1,2", help="of the learners, comma-separated")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="[APPROACH:]NAME=VALUE",
        help="another parameter, such as generations=20 or cca:step=0.2",
    )
    parser.add_argument("--rolling", type=int, default=0, help="also roll so many months")
    parser.add_argument("--transfer", action="store_true", help="judge PITTS on other logs, too")
    parser.add_argument("--scale-seed", type=int, default=0, help="of the scaling")
    parser.add_argument("--paper-jobs", action="store_true", help="scale to the paper's jobs")
    parser.add_argument("--workers", type=int, default=1, help="replays at once")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of pieces")
    parser.add_argument("--fronts", type=Path, default=FRONTS, help="the folder of fronts")
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "papers" / "genetic_fuzzy")
    parser.add_argument("--pieces", action="store_true", help="make pieces, write no page")
    parser.add_argument("--only-kept", action="store_true", help="learn nothing, write the page")
    parser.add_argument("--figures", type=Path, default=None, help="an HTML page for the figures")
    parser.add_argument("--out", type=Path, default=RESULTS / "genetic_fuzzy.md")
    return parser.parse_args()


def report(results: Sequence[Results], kept: KeptPieces, fronts: Path) -> str:
    """Return the whole study as Markdown."""
    parts = [
        "# Genetic fuzzy scheduling: the study",
        _how(),
        claims(results, kept),
        jobs_after_scaling(results),
        improvements(results),
        rivals(results),
        more_draws(results, kept),
        utilization(results),
        groups(results),
        front_distance(results),
        absolute(results),
        waits(results),
        held_out(results),
        other_scalings(kept, fronts),
        extensions(results),
        sequences_table(KeptPieces(SEQUENCES)),
        courses(results),
        rolling_table(kept),
        transfer_table(results, kept),
        cost(results),
        missing(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _how() -> str:
    return (
        "Franke, Lepping and Schwiegelshohn learn rules that choose, by what waits and what has "
        "ended, among thirteen strategies: orders with backfilling rules. Users are in five "
        "groups by what they use, group 1 the most; AWRT is the average response time of a group's "
        "jobs, weighted by their area. PROB draws rule bases by chance and takes for each rule "
        "what was best on average, PITTS evolves whole rule bases, CCA two species, of which one's "
        "rules choose the order and the other's the algorithm.\n\n"
        "Made by `python -m papers.genetic_fuzzy --only-kept` from the pieces in "
        "papers/kept/genetic_fuzzy.json, learned policies in genetic_fuzzy_policy.json beside it; "
        "without `--only-kept` it learns what is missing. PROB, PITTS and CCA are the paper's, "
        "unchanged: from chance, "
        "(3+21) over 40 generations, every number of a child mutated, the thirteen strategies, no "
        "guard. The paper does not tell the first strengths of mutation; here they are a tenth of "
        "a feature's range, and 0.4 places of the ladder of weights. Nor does it tell the limits "
        "of the groups nor by what formula Greedy prefers groups 1 and 2 until others have waited "
        "very long: here groups end at 8, 2, 1 and 0.1 % of what all use, and the formula is "
        "[ours](../policies.md#greedy). The "
        "logs are scaled to 1,024 processors, by factors of our own, "
        f"since the paper tells none. The objective is f = {OBJECTIVE}; improvements are over "
        "FCFS with EASY, in per cent; a *guard* admits no policy under which a group waits much "
        "longer. Nothing was chosen on these logs for the paper's learners; "
        "what ours were chosen on stands beside them."
    )


if __name__ == "__main__":
    main()

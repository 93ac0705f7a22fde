"""Franke, Lepping and Schwiegelshohn: genetic fuzzy systems, tables 3 and 4, figures 5 to 7.

    python -m papers.genetic_fuzzy --figures out/papers/genetic_fuzzy.html

prints the paper's numbers beside ours and keeps them in docs/results/genetic_fuzzy.md. Every piece
is kept in --work, so it can be stopped, resumed, and made bit by bit:

    python -m papers.genetic_fuzzy --logs CTC,KTH --methods pitts,cca --split none --pieces

The pieces of the page that is kept, learned policies among them, are in papers/kept/genetic_fuzzy;
``--work`` with that folder goes on from there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers.genetic_fuzzy_figures import draw_figures
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_runs import (
    GUARDED,
    LOGS,
    METHODS,
    OBJECTIVE,
    Budget,
    Pieces,
    best_of,
    parse_settings,
)
from papers.genetic_fuzzy_tables import (
    budgets,
    fronts,
    held_out,
    improvements,
    keeping,
    table_3,
    table_4,
)
from papers.pictures import keep_pictures, write_page
from papers.study import RESULTS, ROOT
from queuesmith.learning.pareto import FrontSearch


def main() -> None:
    """Run the study with the budget of the command line."""
    asked = _arguments()
    pieces = Pieces(asked.work, asked.scale_seed, asked.workers, only_kept=asked.only_kept)
    seeds = range(asked.seed, asked.seed + asked.runs)
    budget = Budget(asked.generations, asked.participations, parse_settings(asked.set))
    splits = [None if text == "none" else float(text) for text in asked.split.split(",")]
    results = []
    for name in asked.logs.split(","):
        runs: dict[float | None, dict[str, Any]] = {split: {} for split in splits}
        fixed = pieces.fixed(name)
        for method in filter(None, asked.methods.split(",")):
            for split in splits:
                learner, guarded = budget.method(method), method in GUARDED
                tried = [pieces.learned(name, learner, split, s, guarded=guarded) for s in seeds]
                known = [run for run in tried if run is not None]
                runs[split] |= {method: best_of(known)} if known else {}
        front = None
        if asked.front_generations:
            size, generations = asked.front_population, asked.front_generations
            search = FrontSearch(population=size, generations=generations)
            front = pieces.front(name, search, asked.seed)
        held = next((runs[split] for split in splits if split is not None), {})
        results.append(Results(name, fixed, runs.get(None, {}), held, front))
    text, figures = report(results, asked), draw_figures(results)
    print(text)
    if not asked.pieces:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        pictures = keep_pictures(figures, asked.out)
        text += f"\n## Figures\n\n{pictures}\n" if pictures else ""
        asked.out.write_text(text, encoding="utf-8")
    if asked.figures is not None:
        write_page(figures.values(), asked.figures, title="Genetic fuzzy scheduling")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", default=",".join(LOGS), help="some of: " + ",".join(LOGS))
    parser.add_argument("--methods", default=",".join(METHODS), help="some of these")
    parser.add_argument("--split", default="none,0.7", help="none for all, a share, or both")
    parser.add_argument("--generations", type=int, default=None, help="of evolution; else 40")
    parser.add_argument("--participations", type=int, default=None, help="of PROB; else 50")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="[METHOD:]NAME=VALUE",
        help="another parameter, such as seeded=1 or cca:mutation.step=0.2",
    )
    parser.add_argument("--front-generations", type=int, default=40, help="0 for no front")
    parser.add_argument("--front-population", type=int, default=84)
    parser.add_argument("--runs", type=int, default=1, help="of each learner, one seed each")
    parser.add_argument("--seed", type=int, default=0, help="the first, and that of the front")
    parser.add_argument("--scale-seed", type=int, default=0, help="of the scaling")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "papers" / "genetic_fuzzy")
    parser.add_argument("--pieces", action="store_true", help="make pieces, write no page")
    parser.add_argument("--only-kept", action="store_true", help="learn nothing that is not kept")
    parser.add_argument("--figures", type=Path, default=None, help="an HTML page for the figures")
    parser.add_argument("--out", type=Path, default=RESULTS / "genetic_fuzzy.md")
    return parser.parse_args()


def report(results: Sequence[Results], asked: argparse.Namespace) -> str:
    """Return the whole study as Markdown."""
    learned = [each for each in results if each.on_all]
    parts = [
        "# Genetic fuzzy scheduling: the study",
        _how(results, asked),
        *(table_3(each) for each in learned),
        table_4(learned) if learned else "",
        improvements(learned) if learned else "",
        keeping(results),
        held_out([each for each in results if each.split]),
        fronts([each for each in results if each.front is not None]),
        budgets(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _how(results: Sequence[Results], asked: argparse.Namespace) -> str:
    words = "python -m papers.genetic_fuzzy"
    if asked.logs != ",".join(LOGS):
        words += f" --logs '{asked.logs}'"
    if asked.methods != ",".join(METHODS):
        words += f" --methods {asked.methods}"
    for name in ("generations", "participations"):
        if getattr(asked, name) is not None:
            words += f" --{name} {getattr(asked, name)}"
    words += "".join(f" --set {setting}" for setting in asked.set)
    words += f" --runs {asked.runs}" if asked.runs > 1 else ""
    left_out = (
        " What is missing was not learned in the time there was. The pieces, learned policies "
        "among them, are in papers/kept/genetic_fuzzy."
        if asked.only_kept
        else ""
    )
    jobs = ", ".join(f"{each.name} {each.fixed['jobs']:,}" for each in results)
    return (
        f"Made by `{words} --front-generations {asked.front_generations} "
        f"--front-population {asked.front_population} --seed {asked.seed} "
        f"--scale-seed {asked.scale_seed}`. The logs are scaled to 1,024 processors as the paper "
        f"does it; jobs: {jobs}. SDSC 95 is not published any more. The objective is "
        f"f = {OBJECTIVE}; improvements are over FCFS with EASY, in per cent.{left_out}"
    )


if __name__ == "__main__":
    main()

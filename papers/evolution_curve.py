"""Children beside their parents, generation by generation, in what ``tune`` does by default.

    python -m papers.evolution_curve

learns rule bases on a generated log that had no say in how they mutate, from three seeds, and keeps
for each generation the mean and the median child and the mean of the parents that they come from.
It prints the table of docs/tuning.md and draws its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

import queuesmith as qs
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.kept_pieces import KeptPieces
from papers.pictures import keep_pictures
from papers.study import ROOT, markdown
from queuesmith.learning import tune
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.method import Learning
from queuesmith.policy import AnyPolicy, Policy

KEPT = ROOT / "papers" / "kept" / "evolution_curve.json"
PAGE = ROOT / "docs" / "tuning.md"
#: The log, and the seeds of the learner.
JOBS, CORES, LOAD, LOG_SEED = 6_000, 256, 0.85, 103
SEEDS = (0, 1, 2)
#: Which generations the table shows.
SHOWN = range(0, 41, 4)
CURVES = ("parents", "mean child", "median child")


def main() -> None:
    """Learn what is not kept yet, print the table, draw the picture."""
    kept = KeptPieces(KEPT)
    runs = [kept.piece(f"seed {seed}", lambda: learned(seed)) or {} for seed in SEEDS]  # noqa: B023
    print(table(runs))
    print(keep_pictures({"children and parents": figure(runs)}, PAGE))


@dataclass(frozen=True)
class Watched(Pittsburgh):
    """The same learner; it notes what each policy of each round is worth.

    Those whose replay was given up have no value, and never become parents beside others.
    """

    rounds_judged: list[list[float]] = field(default_factory=list, repr=False, compare=False)

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Learn, and note every round."""
        learning = super().learn(generator, ranked)
        policies = next(learning)
        while True:
            judged = yield policies
            self.rounds_judged.append([one.value for one in judged if one.admitted])
            try:
                policies = learning.send(judged)
            except StopIteration as end:
                policy: AnyPolicy = end.value
                return policy


def learned(seed: int) -> dict[str, Any]:
    """Return the course of one run, in per cent of improvement over FCFS with EASY."""
    log = qs.lublin(JOBS, CORES, load=LOAD, seed=LOG_SEED)
    method = Watched()
    tuned = tune(
        log,
        qs.Cluster(CORES),
        OBJECTIVE,
        method,
        longest_wait=None,
        split=None,
        seed=seed,
        workers=1,
    )
    easy = tuned.learning.baseline.value(OBJECTIVE)
    fixed = tuned.learning.best_fixed.value(OBJECTIVE)
    gains = [[100 * (1 - value / easy) for value in values] for values in method.rounds_judged]
    return {"best fixed": round(100 * (1 - fixed / easy), 2), **course(gains, method.parents)}


def course(gains: Sequence[Sequence[float]], parents: int) -> dict[str, list[float | None]]:
    """Return, generation by generation, parents' mean and the mean and median of their children.

    The first round is founders, who have no parents. The best of parents and children survive.
    """
    found: dict[str, list[float | None]] = {name: [] for name in CURVES}
    alive: list[float] = []
    for children in gains:
        found["parents"].append(round(float(np.mean(alive)), 2) if alive else None)
        found["mean child"].append(round(float(np.mean(children)), 2))
        found["median child"].append(round(float(np.median(children)), 2))
        alive = sorted([*alive, *children], reverse=True)[:parents]
    return found


def table(runs: Sequence[dict[str, Any]]) -> str:
    """Return some generations of all runs: the mean over the seeds."""
    rows: list[dict[str, object]] = []
    for name in CURVES:
        row: dict[str, object] = {"generation": name}
        for generation in SHOWN:
            values = [run[name][generation] for run in runs]
            known = None not in values
            row[str(generation)] = f"{np.mean(values):.1f}" if known else "-"
        rows.append(row)
    return markdown(rows)


def figure(runs: Sequence[dict[str, Any]]) -> go.Figure:
    """Return the curves of all runs, a colour a curve, a line a seed."""
    colours = dict(zip(CURVES, ("#333333", "#c44e52", "#4c72b0"), strict=True))
    drawn = go.Figure()
    for number, run in enumerate(runs):
        for name in CURVES:
            line = {"color": colours[name], "width": 2 if name == "parents" else 1.2}
            drawn.add_scatter(y=run[name], name=name, line=line, showlegend=number == 0)
    drawn.update_layout(
        template="plotly_white",
        xaxis_title="generation",
        yaxis_title="better than FCFS with EASY, per cent",
        legend={"orientation": "h", "y": 1.08},
        margin={"t": 40, "r": 20},
    )
    return drawn


if __name__ == "__main__":
    main()

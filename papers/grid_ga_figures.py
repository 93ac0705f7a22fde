"""Figures 3 to 7 of the study of genetic schedulers for grids: operators over the generations.

The paper has the mean of 20 runs on random instances. Here each curve is the mean of a run on each
of some generated instances of each of the twelve classes, in per cent above the bound of the LP, so
that instances of all sizes of times count alike; all curves have the same instances and seeds.
Operators are as printed, and beside them as we read them; the paper is judged by the first.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.grid_ga_curves import CONSISTENCIES, Curves
from papers.grid_ga_operators import Comparison, Ranking, comparisons
from papers.kept_pieces import KeptPieces
from papers.study import markdown
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import generate_etc
from queuesmith.grid.exact import lower_bound
from queuesmith.grid.genetic import GeneticConfig, draw_convergence, evolve
from queuesmith.grid.genetic.convergence import Convergence
from queuesmith.study.store import fingerprint

HETEROGENEITIES = ("hihi", "hilo", "lohi", "lolo")
#: Seeds of the instances of each class, and of the runs on them: 20 runs of each consistency.
FIGURE_SEEDS = (501, 502, 503, 504, 505)
JOBS, MACHINES = 512, 16
#: Said where both readings are the same.
NEITHER = "the same with our operators: neither cycle crossover nor rebalancing is in it"
#: A curve is kept at so many moments, from the start to the end.
POINTS = 51


@dataclass(frozen=True)
class Compared:
    """One figure with the runs that are kept of it.

    Parameters
    ----------
    comparison
        What is compared.
    printed, ours
        The runs with operators as printed, and with ours.
    """

    comparison: Comparison
    printed: Curves
    ours: Curves

    def claims(self) -> list[Claim]:
        """Judge what the paper says of the figure by the operators as printed."""
        return [self._claim(ranking) for ranking in self.comparison.rankings]

    def _claim(self, ranking: Ranking) -> Claim:
        printed, ours = self.printed.judge(ranking), self.ours.judge(ranking)
        return Claim(
            ranking.paper,
            printed.found,
            printed.holds,
            NEITHER if ours == printed else f"with our operators: {ours.found}",
            instead="undecided" if printed.chance and not ranking.by_far else "",
        )

    def table(self) -> str:
        """Return how far above the bound each curve ends, the best first."""
        first, ours_first = self.printed.ranked[0], self.ours.ranked[0]
        rows = [
            {
                "operator": label,
                "above the LP bound %": self.printed.end(label),
                "behind the best, points": str(self.printed.apart(label, first)),
                **{kind: self.printed.end(label, kind) for kind in CONSISTENCIES},
                "ours, %": self.ours.end(label),
                "ours, behind the best": str(self.ours.apart(label, ours_first)),
            }
            for label in self.printed.ranked
        ]
        says = "; ".join(ranking.paper for ranking in self.comparison.rankings)
        return (
            f"**{self.comparison.title}.** The paper: {says or 'no ranking'}.\n\n{markdown(rows)}"
        )

    def draw(self) -> Any:
        """Draw the curves."""
        data = {}
        for label, config in self.comparison.configs.items():
            last = (config.generations or 0) * _each(self.comparison, config)
            rows = self.printed.rows[label]
            data[label] = Convergence(
                np.linspace(0, last, POINTS), rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0)
            )
        figure = draw_convergence(data, title=self.title, over=self.comparison.over)
        figure.update_yaxes(
            title="makespan above the LP's bound, %",
            type="log",  # so that of two that end at 5 and 6 % the better is seen
            tickvals=[2, 5, 10, 20, 50, 100, 200],
        )
        return figure

    @property
    def title(self) -> str:
        """The title of the picture."""
        return f"{self.comparison.title} (mean of {len(self.printed.consistency)} runs)"


def make_figures(kept: KeptPieces) -> None:
    """Make the runs of all curves that are missing, instance by instance."""
    for seed, (_, kind), config in itertools.product(FIGURE_SEEDS, _kinds(), _configs()):
        kept.piece(_name(config, kind, seed), partial(_course, config, kind, seed))


def compared_figures(kept: KeptPieces) -> list[Compared]:
    """Return the figures with all instances of which every run is kept."""
    found = [
        (consistency, kind, seed)
        for seed, (consistency, kind) in itertools.product(FIGURE_SEEDS, _kinds())
        if all(_name(config, kind, seed) in kept for config in _configs())
    ]
    if not found:
        return []
    return [
        Compared(each, _curves(kept, each.configs, found), _curves(kept, each.ours, found))
        for each in comparisons()
    ]


def _configs() -> list[GeneticConfig]:
    return [
        config for each in comparisons() for config in (*each.configs.values(), *each.ours.values())
    ]


def _curves(
    kept: KeptPieces, configs: dict[str, GeneticConfig], found: list[tuple[str, str, int]]
) -> Curves:
    rows = {
        label: np.array([kept[_name(config, kind, seed)]["above"] for _, kind, seed in found])
        for label, config in configs.items()
    }
    return Curves(rows, tuple(consistency for consistency, _, _ in found))


def _kinds() -> list[tuple[str, str]]:
    """The classes: their consistency, and their name as `generate_etc` takes it."""
    return [
        (name, f"u_{letter}_{heterogeneity}")
        for heterogeneity in HETEROGENEITIES
        for name, letter in CONSISTENCIES.items()
    ]


def _name(config: GeneticConfig, kind: str, seed: int) -> str:
    return f"figures {kind} seed {seed} {fingerprint(config.to_toml())[:8]}"


def _each(comparison: Comparison, config: GeneticConfig) -> int:
    """How much a generation is on the axis of a figure."""
    return config.children if comparison.over == "children" else 1


def _course(config: GeneticConfig, kind: str, seed: int) -> dict[str, Any]:
    """Run a configuration, and return its makespans in per cent above the bound."""
    matrix, bound = _instance(kind, seed)
    course = evolve(matrix, config, seed=seed).course
    moments = np.linspace(0, config.generations or 0, POINTS)
    place = np.searchsorted(course.generation, moments, side="right") - 1
    above = 100 * (course.makespan[place] / bound - 1)
    return {"above": [round(float(each), 3) for each in above]}


@cache
def _instance(kind: str, seed: int) -> tuple[EtcMatrix, float]:
    matrix = generate_etc(kind, JOBS, MACHINES, seed=seed)
    return matrix, lower_bound(matrix).value

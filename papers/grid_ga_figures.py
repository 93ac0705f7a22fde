"""Figures 3 to 7 of the study of genetic schedulers for grids: operators over the generations.

The paper has the mean of 20 runs on random instances. Here each curve is the mean of a run on each
of some generated instances of each of the twelve classes, in per cent above the bound of the LP, so
that instances of all sizes of times count alike; all curves have the same instances and seeds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.grid_ga_operators import Comparison, comparisons
from papers.kept_pieces import KeptPieces
from papers.study import markdown, mean_and_half
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import generate_etc
from queuesmith.grid.etc.matrix import Floats
from queuesmith.grid.exact import lower_bound
from queuesmith.grid.genetic import GeneticConfig, draw_convergence, evolve
from queuesmith.grid.genetic.convergence import Convergence
from queuesmith.study.store import fingerprint

#: The classes by their consistency.
CONSISTENCIES = {"consistent": "c", "inconsistent": "i", "semi-consistent": "s"}
HETEROGENEITIES = ("hihi", "hilo", "lohi", "lolo")
#: Seeds of the instances of each class, and of the runs on them: 20 runs of each consistency.
FIGURE_SEEDS = (501, 502, 503, 504, 505)
JOBS, MACHINES = 512, 16
#: A curve is kept at so many moments, from the start to the end.
POINTS = 51


@dataclass(frozen=True)
class Compared:
    """One figure with the runs that are kept of it.

    Parameters
    ----------
    comparison
        What is compared.
    curves
        By the names of the curves: one row a run, per cent above the bound over time; the rows of
        all curves are of the same instances.
    consistency
        Of the instance of each row.
    """

    comparison: Comparison
    curves: dict[str, Floats]
    consistency: tuple[str, ...]

    @property
    def ranked(self) -> list[str]:
        """The curves by their mean at the end, the best first."""
        return sorted(self.curves, key=lambda label: float(self.curves[label][:, -1].mean()))

    def claim(self) -> Claim | None:
        """Judge what the paper says of the figure, or return None where it ranks nothing."""
        wanted, order = self.comparison.first, self.comparison.order
        if not wanted:
            return None
        ranked = self.ranked
        place = min(ranked.index(label) for label in wanted)
        other = next(label for label in ranked if label not in wanted)
        where = "behind" if place else "before"
        apart = self._apart(ranked[place] if place else other)
        found = f"`{ranked[place]}` is {place + 1} of {len(ranked)}, {_said(apart)} points {where} "
        in_order = [label for label in ranked if label in order] == list(order)
        close = apart[1] is None or apart[0] <= apart[1]
        figure = self.comparison.title.partition(":")[0].lower()
        return Claim(
            f"{self.comparison.paper} ({figure})",
            f"{found}`{other}`",
            place == 0 and in_order and not (self.comparison.by_far and close),
            f"{len(self.consistency)} runs a curve",
            instead="undecided" if close and not order and not self.comparison.by_far else "",
        )

    def table(self) -> str:
        """Return how far above the bound each curve ends, the best first."""
        rows = []
        for label in self.ranked:
            ends = self.curves[label][:, -1]
            row = {
                "operator": label,
                "above the LP bound %": f"{ends.mean():.1f}",
                "behind the best, points": _said(self._apart(label)),
            }
            for name in CONSISTENCIES:
                mine = [e for e, kind in zip(ends, self.consistency, strict=True) if kind == name]
                row[name] = f"{np.mean(mine):.1f}" if mine else "-"
            rows.append(row)
        comparison = self.comparison
        return f"**{comparison.title}.** The paper: {comparison.paper}.\n\n{markdown(rows)}"

    def draw(self) -> Any:
        """Draw the curves."""
        data = {}
        for label, config in self.comparison.configs.items():
            last = (config.generations or 0) * _each(self.comparison, config)
            rows = self.curves[label]
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
        return f"{self.comparison.title} (mean of {len(self.consistency)} runs)"

    def _apart(self, label: str) -> tuple[float, float | None]:
        """How far a curve ends above the best, run by run: the mean, and half its interval."""
        best = self.curves[self.ranked[0]][:, -1]
        return mean_and_half(list(self.curves[label][:, -1] - best))


def _said(apart: tuple[float, float | None]) -> str:
    mean, half = apart
    return f"{mean:.1f}" if half is None else f"{mean:.1f} ± {half:.1f}"


def make_figures(kept: KeptPieces) -> None:
    """Make the runs of all curves that are missing, instance by instance."""
    configs = [config for each in comparisons() for config in each.configs.values()]
    for seed, (_, kind), config in itertools.product(FIGURE_SEEDS, _kinds(), configs):
        kept.piece(_name(config, kind, seed), partial(_course, config, kind, seed))


def compared_figures(kept: KeptPieces) -> list[Compared]:
    """Return the figures with all instances of which every run is kept."""
    configs = [config for each in comparisons() for config in each.configs.values()]
    found = [
        (consistency, kind, seed)
        for seed, (consistency, kind) in itertools.product(FIGURE_SEEDS, _kinds())
        if all(_name(config, kind, seed) in kept for config in configs)
    ]
    if not found:
        return []
    kinds = tuple(consistency for consistency, _, _ in found)
    return [Compared(each, _curves(kept, each, found), kinds) for each in comparisons()]


def _curves(
    kept: KeptPieces, comparison: Comparison, found: list[tuple[str, str, int]]
) -> dict[str, Floats]:
    return {
        label: np.array([kept[_name(config, kind, seed)]["above"] for _, kind, seed in found])
        for label, config in comparison.configs.items()
    }


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

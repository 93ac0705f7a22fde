"""Figures 3 to 7 of the study of genetic schedulers for grids: operators over the generations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from papers.grid_ga_runs import instance
from papers.study import markdown
from queuesmith.grid.exact import lower_bound
from queuesmith.grid.genetic import (
    GeneticConfig,
    GeneticRuns,
    convergence_data,
    draw_convergence,
    evolve_many,
    preset,
)

CROSSOVERS = ("one-point", "two-point", "uniform", "fitness-based", "pmx", "cx", "ox")
SELECTIONS = ("random", "best", "linear-ranking", "binary-tournament", "n-tournament")
#: What figures 3 to 6 have in common (tables 1 to 3).
TUNING = replace(
    preset("carretero"),
    population=80,
    offspring=78,
    restart=None,
    crossover_probability=0.8,
    mutation="rebalance",
    mutation_probability=0.2,
    mutation_parameter=0.75,
    selection="best",
    selection_parameter=None,
    replacement="elitist",
    generations=2500,
    seconds=None,
    initial={"ljfr-sjfr": 1},
)
#: Figures 3 and 4 cross a little less often (table 1).
MUTATING = replace(TUNING, crossover_probability=0.7)
#: Figure 7 begins from all three methods and mutates more often (table 4 and the text above it).
REPLACING = replace(
    TUNING,
    selection="linear-ranking",
    mutation_probability=0.3,
    initial={"ljfr-sjfr": 1, "mct": 1, "random": 1},
)


@dataclass(frozen=True)
class Comparison:
    """One figure: its title, what the paper says it shows, and the configurations it compares."""

    title: str
    paper: str
    configs: dict[str, GeneticConfig]
    over: str = "generations"


def comparisons() -> list[Comparison]:
    """Return the figures of the paper (tables 1 to 4)."""
    return [
        Comparison(
            "Figure 3, left: move & swap",
            "no ranking in words",
            {f"move & swap {p:.0%}": _mutating("move-and-swap", p) for p in (0.4, 0.6, 0.8)},
        ),
        Comparison(
            "Figure 3, right: rebalancing",
            "rebalancing 75 % is best",
            {f"rebalancing {p:.0%}": _mutating("rebalance", p) for p in (0, 0.25, 0.5, 0.75, 1)},
        ),
        Comparison(
            "Figure 4: mutation",
            "rebalancing 75 % is best, then swap; move is worst",
            {
                "move": _mutating("move"),
                "swap": _mutating("swap"),
                "move & swap 60%": _mutating("move-and-swap", 0.6),
                "rebalancing 75%": _mutating("rebalance", 0.75),
            },
        ),
        Comparison(
            "Figure 5: crossover",
            "cx is best by far",
            {name: replace(TUNING, crossover=name) for name in CROSSOVERS},
        ),
        Comparison(
            "Figure 6: selection",
            "a suitable tournament is best",
            {name: replace(TUNING, selection=name) for name in SELECTIONS},
        ),
        Comparison(
            "Figure 7: replacement",
            "about the same work for each, no ranking in words",
            {
                "generational": replace(REPLACING, replacement="generational", offspring=80),
                "elitist": replace(REPLACING, replacement="elitist", offspring=78),
                "if-better": replace(REPLACING, replacement="if-better", offspring=80),
                "steady-state": replace(preset("steady-state"), seconds=None),
            },
            over="children",
        ),
    ]


def draw_figures(
    name: str, runs: int, workers: int, tell: Callable[[str], None]
) -> tuple[dict[str, Any], str]:
    """Run and draw all figures, by their titles; return also what they show, as Markdown."""
    matrix = instance(name)
    bound = lower_bound(matrix).value
    figures: dict[str, Any] = {}
    sections: list[str] = []
    for comparison in comparisons():
        found = {
            label: evolve_many(matrix, config, runs=runs, workers=workers)
            for label, config in comparison.configs.items()
        }
        data = convergence_data(found, over=comparison.over)
        title = f"{comparison.title} ({name}, mean of {runs} runs)"
        figures[title] = draw_convergence(data, title=title, over=comparison.over, bound=bound)
        sections.append(_section(comparison, found, bound))
        tell(comparison.title)
    return figures, "\n\n".join(sections)


def _mutating(mutation: str, parameter: float | None = None) -> GeneticConfig:
    return replace(MUTATING, mutation=mutation, mutation_parameter=parameter)


def _section(comparison: Comparison, found: dict[str, GeneticRuns], bound: float) -> str:
    """Return the final makespans of a figure as a table, the best first."""
    ranked = sorted(found.items(), key=lambda pair: pair[1].makespan.mean)
    rows = [
        {
            "operator": label,
            "mean makespan at the end": f"{runs.makespan.mean:.1f}",
            "sd": f"{runs.makespan.std:.1f}",
            "above the LP bound %": f"{100 * (runs.makespan.mean / bound - 1):.1f}",
        }
        for label, runs in ranked
    ]
    return f"**{comparison.title}.** The paper: {comparison.paper}.\n\n{markdown(rows)}"

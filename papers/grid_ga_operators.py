"""Which operators figures 3 to 7 of Carretero, Xhafa and Abraham compare, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from queuesmith.grid.genetic import GeneticConfig, preset

CROSSOVERS = ("one-point", "two-point", "uniform", "fitness-based", "pmx", "cx", "ox")
SELECTIONS = ("random", "best", "linear-ranking", "binary-tournament", "n-tournament")


class Reading(NamedTuple):
    """How operators are read of which the paper's text leaves much open.

    Parameters
    ----------
    cx, rebalance
        The cycle crossover, and rebalancing.
    distinct
        Whether of children that are alike only one may replace a worse parent.
    """

    cx: str
    rebalance: str
    distinct: bool


#: As printed, and with what we made of them.
PRINTED = Reading("cx-literal", "rebalance-literal", distinct=False)
OURS = Reading("cx", "rebalance", distinct=True)


@dataclass(frozen=True)
class Ranking:
    """What the paper says of a figure.

    Parameters
    ----------
    paper
        Its words, and where they stand.
    first
        The curves of which one is said to be the best, or all of them together.
    together
        Whether all of them are said to come before the others.
    by_far
        Whether the best is said to be so by far.
    order
        Two curves of which the first is said to be better; then ``first`` is empty.
    """

    paper: str
    first: tuple[str, ...] = ()
    together: bool = False
    by_far: bool = False
    order: tuple[str, str] | None = None


@dataclass(frozen=True)
class Comparison:
    """One figure: its title, the configurations it compares, and what the paper says of it.

    Parameters
    ----------
    title
        What it is called.
    configs
        The configurations with operators as printed, by the names of their curves.
    ours
        The same with our own reading of the operators.
    rankings
        What the paper says; empty where it ranks none.
    over
        What the curves are drawn over.
    """

    title: str
    configs: dict[str, GeneticConfig]
    ours: dict[str, GeneticConfig]
    rankings: tuple[Ranking, ...] = ()
    over: str = "generations"


#: The paper's sentences by the titles of the figures.
RANKINGS = {
    "Figure 3, left: move & swap": (),
    "Figure 3, right: rebalancing": (
        Ranking("rebalancing 75 % is taken as the best (figures 3 and 4)", ("rebalancing 75%",)),
    ),
    "Figure 4: mutation": (
        Ranking("rebalancing is the best mutation (figure 4)", ("rebalancing 75%",)),
        Ranking("swap is better than move (figure 4)", order=("swap", "move")),
        Ranking(
            "move is the worst mutation, worse than move & swap (figure 4)",
            order=("move & swap 60%", "move"),
        ),
    ),
    "Figure 5: crossover": (Ranking("cx is best by far (figure 5)", ("cx",), by_far=True),),
    "Figure 6: selection": (
        Ranking("a suitable tournament is best (figure 6)", ("binary-tournament", "n-tournament")),
    ),
    "Figure 7: replacement": (
        Ranking(
            "replace if better and steady state yield better results (4.2; here the makespans)",
            ("if-better", "steady-state"),
            together=True,
        ),
    ),
}


def comparisons() -> list[Comparison]:
    """Return the figures of the paper (tables 1 to 4)."""
    printed, ours = _figures(PRINTED), _figures(OURS)
    return [
        Comparison(
            title,
            printed[title],
            ours[title],
            rankings,
            over="children" if title.startswith("Figure 7") else "generations",
        )
        for title, rankings in RANKINGS.items()
    ]


def _figures(reading: Reading) -> dict[str, dict[str, GeneticConfig]]:
    """Return the configurations of each figure."""
    tuning = replace(  # what figures 3 to 6 have in common (tables 1 to 3)
        preset("carretero"),
        population=80,
        offspring=78,
        restart=None,
        crossover=reading.cx,
        crossover_probability=0.8,
        mutation=reading.rebalance,
        mutation_probability=0.2,
        mutation_parameter=0.75,
        selection="best",
        selection_parameter=None,
        replacement="elitist",
        generations=2500,
        seconds=None,
        initial={"ljfr-sjfr": 1},
    )
    # Figures 3 and 4 cross at two points, and a little less often (table 1: "Two-point CX").
    mutating = replace(tuning, crossover="two-point", crossover_probability=0.7)
    # Figure 7 begins from all three methods and mutates more often (table 4 and the text above it).
    replacing = replace(
        tuning,
        selection="linear-ranking",
        mutation_probability=0.3,
        initial={"ljfr-sjfr": 1, "mct": 1, "random": 1},
    )
    steady = replace(
        preset("steady-state"),
        crossover=reading.cx,
        mutation=reading.rebalance,
        seconds=None,
    )

    def mutated(mutation: str, parameter: float | None = None) -> GeneticConfig:
        return replace(mutating, mutation=mutation, mutation_parameter=parameter)

    def crossed(name: str) -> GeneticConfig:
        return replace(tuning, crossover=reading.cx if name == "cx" else name)

    moving = {f"move & swap {p:.0%}": mutated("move-and-swap", p) for p in (0.4, 0.6, 0.8)}
    rebalancing = {
        f"rebalancing {p:.0%}": mutated(reading.rebalance, p) for p in (0, 0.25, 0.5, 0.75, 1)
    }
    found = (
        moving,
        rebalancing,
        {
            "move": mutated("move"),
            "swap": mutated("swap"),
            "move & swap 60%": moving["move & swap 60%"],
            "rebalancing 75%": rebalancing["rebalancing 75%"],
        },
        {name: crossed(name) for name in CROSSOVERS},
        {name: replace(tuning, selection=name) for name in SELECTIONS},
        {
            "generational": replace(replacing, replacement="generational", offspring=80),
            "elitist": replace(replacing, replacement="elitist", offspring=78),
            "if-better": replace(
                replacing, replacement="if-better", offspring=80, distinct=reading.distinct
            ),
            "steady-state": steady,
        },
    )
    return dict(zip(RANKINGS, found, strict=True))

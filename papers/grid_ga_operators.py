"""Which operators figures 3 to 7 of Carretero, Xhafa and Abraham compare, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from queuesmith.grid.genetic import GeneticConfig, preset

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
    """One figure: its title, what the paper says it shows, and the configurations it compares.

    Parameters
    ----------
    title
        What it is called.
    paper
        What the paper says of it.
    configs
        The configurations, by the names of their curves.
    first
        The curves of which the paper says that one is the best; empty where it ranks none.
    by_far
        Whether it says that this is so by far.
    order
        The curves whose order it states, the best first; those between may be anywhere.
    over
        What the curves are drawn over.
    """

    title: str
    paper: str
    configs: dict[str, GeneticConfig]
    first: tuple[str, ...] = ()
    by_far: bool = False
    order: tuple[str, ...] = ()
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
            first=("rebalancing 75%",),
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
            first=("rebalancing 75%",),
            order=("rebalancing 75%", "swap", "move"),
        ),
        Comparison(
            "Figure 5: crossover",
            "cx is best by far",
            {name: replace(TUNING, crossover=name) for name in CROSSOVERS},
            first=("cx",),
            by_far=True,
        ),
        Comparison(
            "Figure 6: selection",
            "a suitable tournament is best",
            {name: replace(TUNING, selection=name) for name in SELECTIONS},
            first=("binary-tournament", "n-tournament"),
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


def _mutating(mutation: str, parameter: float | None = None) -> GeneticConfig:
    return replace(MUTATING, mutation=mutation, mutation_parameter=parameter)

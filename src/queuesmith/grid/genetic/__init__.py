"""Genetic schedulers (Carretero, Xhafa, Abraham): populations of mappings that evolve."""

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.grid.genetic.config import GeneticConfig, load_config, preset, preset_names
    from queuesmith.grid.genetic.convergence import convergence_data, draw_convergence
    from queuesmith.grid.genetic.evolution import evolve
    from queuesmith.grid.genetic.operators import add_crossover, add_mutation
    from queuesmith.grid.genetic.result import GeneticResult
    from queuesmith.grid.genetic.runs import GeneticRuns, evolve_many

__all__ = [
    "GeneticConfig",
    "GeneticResult",
    "GeneticRuns",
    "add_crossover",
    "add_mutation",
    "convergence_data",
    "draw_convergence",
    "evolve",
    "evolve_many",
    "load_config",
    "preset",
    "preset_names",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "config": ("GeneticConfig", "load_config", "preset", "preset_names"),
        "convergence": ("convergence_data", "draw_convergence"),
        "evolution": ("evolve",),
        "operators": ("add_crossover", "add_mutation"),
        "result": ("GeneticResult",),
        "runs": ("GeneticRuns", "evolve_many"),
    },
)

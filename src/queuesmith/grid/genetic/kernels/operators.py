"""What kinds of operators there are, and what those of users are checked for.

An operator is handed to the compiled generations as a function of one of these types.
"""

import math

from numba import float64, int64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INTS
from queuesmith.grid.genetic.kernels.problem import (
    BAD_JOB,
    BAD_MACHINE,
    INDIVIDUAL_TYPE,
    NOBODY,
    PROBLEM_TYPE,
    WORKSPACE_TYPE,
)

INITIAL_TYPE = void(PROBLEM_TYPE, INTS, WORKSPACE_TYPE)
CROSSOVER_TYPE = void(PROBLEM_TYPE, INDIVIDUAL_TYPE, INDIVIDUAL_TYPE, INTS, float64, WORKSPACE_TYPE)
MUTATION_TYPE = void(PROBLEM_TYPE, INDIVIDUAL_TYPE, float64, WORKSPACE_TYPE)
SELECTION_TYPE = int64(int64, int64, float64, WORKSPACE_TYPE)

initial = entry(INITIAL_TYPE)
crossover = entry(CROSSOVER_TYPE)
mutation = entry(MUTATION_TYPE)
selection = entry(SELECTION_TYPE)


@kernel
def check_genes(problem, genes, fallback, work):
    """Note the first job whose machine cannot be, and give such jobs back to their old machine."""
    for job in range(len(genes)):
        machine = genes[job]
        known = 0 <= machine < len(problem.ready)
        if not known or not math.isfinite(problem.times[job, machine]):
            if work.flags[BAD_JOB] == NOBODY:
                work.flags[BAD_JOB] = job
                work.flags[BAD_MACHINE] = machine
            genes[job] = fallback[job]

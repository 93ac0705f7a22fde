"""First populations (section 3.2.1), and those that begin anew around the best ever."""

from numba import float64, int64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, copy
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.operators import initial
from queuesmith.grid.genetic.kernels.problem import POPULATION_TYPE, WORKSPACE_TYPE, random_option
from queuesmith.grid.heuristics.kernels.filling import (
    map_by_ljfr_sjfr,
    map_by_mct,
    map_by_min_min,
)


@kernel
def shuffle(order, random):
    """Fill an array with its positions in random order."""
    for i in range(len(order)):
        k = below(random, i + 1)
        order[i] = order[k]
        order[k] = i


@initial
def start_random(problem, genes, work):
    """Any machine that can run the job."""
    for job in range(len(genes)):
        genes[job] = random_option(problem, job, work.random)


@initial
def start_mct(problem, genes, work):
    """Jobs in random order, each where it finishes first."""
    order = work.ints[0, : len(genes)]
    shuffle(order, work.random)
    free = work.reals[: len(problem.ready)]
    copy(free, problem.ready)
    map_by_mct(problem.times, problem.options, order, free, genes)


@initial
def start_min_min(problem, genes, work):
    """Always the job that can finish first of all, where it finishes first."""
    free = work.reals[: len(problem.ready)]
    copy(free, problem.ready)
    map_by_min_min(problem.times, problem.ranked, work.ints[0], free, genes)


@initial
def start_ljfr_sjfr(problem, genes, work):
    """The longest jobs to the fastest machines; then longest and shortest in turn.

    A job's workload is its mean time, a machine is the faster the less its mean time is.
    """
    free = work.reals[: len(problem.ready)]
    copy(free, problem.ready)
    map_by_ljfr_sjfr(problem.times, problem.options, problem.longest, problem.fastest, free, genes)


@entry(void(INTS, INTS, float64, BITS))
def blend(source, target, share, random):
    """Copy a chromosome over another one, of which about this share of the jobs stays."""
    for job in range(len(target)):
        if uniform(random) >= share:
            target[job] = source[job]


@entry(void(POPULATION_TYPE, int64, float64, WORKSPACE_TYPE))
def gather(pool, count, share, work):
    """Blend the first chromosomes with an ancestor, itself a blend of one and of the best ever.

    What the ancestor does not have of the best is in most, so that crossing them cannot undo it.
    """
    ancestor = work.ints[0, : pool.genes.shape[1]]
    copy(ancestor, pool.genes[below(work.random, count)])
    blend(pool.genes[len(pool.genes) - 1], ancestor, share, work.random)
    for slot in range(count):
        blend(ancestor, pool.genes[slot], share, work.random)

"""Crossover of the direct encoding (section 3.4.1).

A crossover writes one child. The second one is the same call with the parents exchanged and the
same random numbers, so that the two are complementary, as the paper describes them.
"""

from numba import int64

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.operators import crossover
from queuesmith.grid.genetic.kernels.problem import PRIMARY


@kernel
def draw_segment(random, count):
    """Return a random segment: its first position, and the one after its last."""
    start = below(random, count)
    end = below(random, count)
    return min(start, end), max(start, end) + 1


@crossover
def cross_one_point(problem, mother, father, child, parameter, work):
    """The father's genes up to a random cut, then the mother's."""
    cut = 1 + below(work.random, len(child))
    copy(child[:cut], father.genes[:cut])
    copy(child[cut:], mother.genes[cut:])


@crossover
def cross_two_point(problem, mother, father, child, parameter, work):
    """The mother's genes, but the father's between two random cuts."""
    start, end = draw_segment(work.random, len(child))
    copy(child, mother.genes)
    copy(child[start:end], father.genes[start:end])


@crossover
def cross_k_point(problem, mother, father, child, parameter, work):
    """Mother's and father's genes in turn, changing at each of k random cuts."""
    cuts = work.ints[0]
    for job in range(len(child)):
        cuts[job] = 0
    for _ in range(int64(parameter)):
        cuts[below(work.random, len(child))] += 1
    from_father = False
    for job in range(len(child)):
        if cuts[job] % 2 == 1:
            from_father = not from_father
        child[job] = father.genes[job] if from_father else mother.genes[job]


@crossover
def cross_uniform(problem, mother, father, child, parameter, work):
    """Each gene from either parent, by the toss of a coin."""
    for job in range(len(child)):
        child[job] = mother.genes[job] if uniform(work.random) < parameter else father.genes[job]


@crossover
def cross_fitness_based(problem, mother, father, child, parameter, work):
    """Each gene from either parent, from the fitter one with the greater probability."""
    ours, theirs = mother.value[PRIMARY], father.value[PRIMARY]
    chance = theirs / (ours + theirs)
    for job in range(len(child)):
        child[job] = mother.genes[job]
        if mother.genes[job] != father.genes[job] and uniform(work.random) >= chance:
            child[job] = father.genes[job]

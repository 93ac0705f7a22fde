"""Slow, obvious twins of the genetic operators, fed with the same random numbers."""

import numpy as np

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.mapping import flowtime, objective_value
from queuesmith.grid.genetic.arrays import (
    new_population,
    new_problem,
    new_workspace,
    objective_weights,
)
from queuesmith.grid.genetic.kernels.generations import value_all
from queuesmith.grid.genetic.kernels.problem import FLOWTIME, MAKESPAN, PRIMARY, Individual
from queuesmith.grid.genetic.kernels.starting import start_random


class Dice:
    """The random numbers of the kernels, in plain Python."""

    def __init__(self, state):
        self.state = int(state)

    def uniform(self):
        mask = (1 << 64) - 1
        x = self.state
        x ^= (x << 13) & mask
        x ^= x >> 7
        x ^= (x << 17) & mask
        self.state = x
        return (x >> 11) / 2**53

    def below(self, count):
        return int(self.uniform() * count)


class Bench:
    """A problem with a few random individuals, to try operators on."""

    def __init__(self, matrix, seed=0, objective="simultaneous", slots=4):
        self.matrix = matrix
        weights = objective_weights(objective, matrix.machines, 0.75)
        self.problem = new_problem(matrix, weights)
        self.pool = new_population(slots, matrix.jobs, matrix.machines)
        self.work = new_workspace(matrix.jobs, matrix.machines, seed)
        for slot in range(slots):
            start_random(self.problem, self.pool.genes[slot], self.work)
        value_all(self.problem, self.pool, np.arange(slots), self.work)

    def individual(self, slot):
        return Individual(*(array[slot] for array in self.pool))

    def dice(self):
        return Dice(self.work.random[0])

    def is_right(self, slot):
        """Whether the figures that are kept equal those computed from the genes."""
        matrix, individual = self.matrix, self.individual(slot)
        genes, value = individual.genes, individual.value
        return (
            np.allclose(individual.completion, matrix.completion(genes), rtol=1e-9)
            and np.isclose(value[MAKESPAN], matrix.makespan(genes), rtol=1e-9)
            and np.isclose(value[FLOWTIME], flowtime(matrix, genes), rtol=1e-9)
            and np.isclose(
                value[PRIMARY], objective_value(matrix, genes, "simultaneous"), rtol=1e-9
            )
        )


def random_matrix(jobs, machines, seed=0, holes=0.0, ready=False):
    """An instance in which some machines may not run some jobs."""
    rng = np.random.default_rng(seed)
    times = rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines))
    times[rng.random((jobs, machines)) < holes] = np.inf
    times[np.arange(jobs), rng.integers(0, machines, jobs)] = rng.uniform(1, 100, jobs)
    return EtcMatrix(times, rng.uniform(0, 50, machines) if ready else None)


def permutation_of(genes, times):
    """The jobs machine by machine, the shortest first, and how many each machine has."""
    lists = [
        sorted((j for j, m in enumerate(genes) if m == machine), key=lambda j: times[j, machine])
        for machine in range(times.shape[1])
    ]
    return [job for some in lists for job in some], [len(some) for some in lists]


def genes_of(permutation, counts, fallback, times):
    machines = [machine for machine, count in enumerate(counts) for _ in range(count)]
    genes = list(fallback)
    for job, machine in zip(permutation, machines, strict=True):
        if np.isfinite(times[job, machine]):
            genes[job] = machine
    return genes


def segment(dice, count):
    one, other = dice.below(count), dice.below(count)
    return min(one, other), max(one, other) + 1


def one_point(first, second, dice, *_):
    cut = 1 + dice.below(len(first))
    return [*second[:cut], *first[cut:]]


def two_point(first, second, dice, *_):
    start, end = segment(dice, len(first))
    return [*first[:start], *second[start:end], *first[end:]]


def k_point(first, second, dice, parameter, *_):
    cuts = [dice.below(len(first)) for _ in range(int(parameter))]
    turns = [sum(cut <= job for cut in cuts) for job in range(len(first))]
    return [(first, second)[turn % 2][job] for job, turn in enumerate(turns)]


def uniform(first, second, dice, parameter, *_):
    return [a if dice.uniform() < parameter else b for a, b in zip(first, second, strict=True)]


def fitness_based(first, second, dice, _, values):
    chance = values[1] / (values[0] + values[1])
    both = zip(first, second, strict=True)
    return [a if a == b or dice.uniform() < chance else b for a, b in both]


def pmx(first, second, dice):
    start, end = segment(dice, len(first))
    partner = dict(zip(second[start:end], first[start:end], strict=True))
    child = list(first)
    child[start:end] = second[start:end]
    for i in [*range(start), *range(end, len(first))]:
        while child[i] in partner:
            child[i] = partner[child[i]]
    return child


def cycle_of(first, second):
    """The jobs up to the first position in which permutations differ, and on the cycle from it."""
    differing = [i for i in range(len(first)) if first[i] != second[i]]
    start = differing[0] if differing else len(first) - 1
    cycle, i = {first[start]}, first.index(second[start])
    while i != start:
        cycle.add(first[i])
        i = first.index(second[i])
    return cycle | set(first[:start])


def cx_literally(first, second, times):
    """As printed: jobs by number on each machine, a cycle from the first place, read by counts."""
    ours, theirs = (sorted(range(len(g)), key=lambda job: (g[job], job)) for g in (first, second))
    counts = [first.count(machine) for machine in range(times.shape[1])]
    cycle, i = set(), 0
    while i not in cycle:
        cycle.add(i)
        i = ours.index(theirs[i])
    child = [(ours if i in cycle else theirs)[i] for i in range(len(ours))]
    assert sorted(child) == list(range(len(ours)))
    return genes_of(child, counts, first, times)


def ox(first, second, dice):
    start, end = segment(dice, len(first))
    count = len(first)
    rest = [second[(end + k) % count] for k in range(count)]
    rest = [job for job in rest if job not in first[start:end]]
    child = list(first)
    for k, job in enumerate(rest):
        child[(end + k) % count] = job
    return child


DIRECT_TWINS = {
    "one-point": one_point,
    "two-point": two_point,
    "k-point": k_point,
    "uniform": uniform,
    "fitness-based": fitness_based,
}
PERMUTATION_TWINS = {"pmx": pmx, "ox": ox}


def cross_slowly(name, bench, mother, father, parameter, dice):
    """The child of two slots of a bench, by the twin."""
    first, second = (bench.pool.genes[slot].tolist() for slot in (mother, father))
    if name in DIRECT_TWINS:
        values = [bench.pool.value[slot, PRIMARY] for slot in (mother, father)]
        return DIRECT_TWINS[name](first, second, dice, parameter, values)
    if name == "cx-literal":
        return cx_literally(first, second, bench.matrix.times)
    ours, counts = permutation_of(first, bench.matrix.times)
    theirs, _ = permutation_of(second, bench.matrix.times)
    if name == "cx":
        cycle = cycle_of(ours, theirs)
        return [first[job] if job in cycle else second[job] for job in range(len(first))]
    child = PERMUTATION_TWINS[name](ours, theirs, dice)
    assert sorted(child) == list(range(len(first)))
    return genes_of(child, counts, first, bench.matrix.times)

"""Crossover of the permutation encoding (section 3.4.2).

Permutations exist only here: a parent's is written when it is first needed, and kept.
"""

import math

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.grid.genetic.kernels.crossover import draw_segment
from queuesmith.grid.genetic.kernels.marks import BIT_OF, WORD_BITS, mark_jobs
from queuesmith.grid.genetic.kernels.operators import crossover
from queuesmith.grid.genetic.kernels.problem import NOBODY


@kernel
def arrange(problem, individual, work):
    """Write an individual's permutation, unless it is known: its jobs, machine by machine.

    The jobs of a machine stand in the order in which they run, the shortest first.
    """
    if individual.known[0] != 0:
        return
    mark_jobs(problem, individual.genes, work, True)
    place = 0
    for machine in range(len(problem.ready)):
        marks, jobs = work.marks[machine], problem.ranked[machine]
        for word in range(len(marks)):
            left = marks[word]
            marks[word] = 0
            while left != 0:
                lowest = left & -left
                left ^= lowest
                job = jobs[word * WORD_BITS + BIT_OF[lowest % 37]]
                individual.sequence[place] = job
                individual.place[job] = place
                place += 1
    individual.known[0] = 1


@kernel
def arrange_by_number(problem, individual, work):
    """Write an individual's permutation, unless it is known: machine by machine, jobs by number.

    The paper says no more of the order within a machine; a pass over the jobs gives this one.
    """
    if individual.known[0] != 0:
        return
    following = work.ints[5]
    for machine in range(len(problem.ready)):
        following[machine] = 0
    for job in range(len(individual.genes)):
        following[individual.genes[job]] += 1
    place = 0
    for machine in range(len(problem.ready)):
        count = following[machine]
        following[machine] = place
        place += count
    for job in range(len(individual.genes)):
        machine = individual.genes[job]
        individual.sequence[following[machine]] = job
        individual.place[job] = following[machine]
        following[machine] += 1
    individual.known[0] = 1


@kernel
def read_permutation(problem, parent, permutation, genes):
    """Write the machine of each job: that of the parent's job at the same place.

    A job that this machine cannot run stays where the parent has it.
    """
    for i in range(len(genes)):
        job = permutation[i]
        machine = parent.genes[parent.sequence[i]]
        able = math.isfinite(problem.times[job, machine])
        genes[job] = machine if able else parent.genes[job]


@kernel
def pmx(first, second, child, start, end, place):
    """Partially matched: the second's segment in the first; doubles by the correspondence."""
    for i in range(len(child)):
        place[i] = NOBODY
    for i in range(start, end):
        place[second[i]] = i
        child[i] = second[i]
    for i in range(len(child)):
        if start <= i < end:
            continue
        job = first[i]
        while place[job] != NOBODY:
            job = first[place[job]]
        child[i] = job


@kernel
def ox(first, second, child, start, end, place):
    """Order: the first's segment, then the other jobs in the order of the second, wrapping."""
    count = len(child)
    for i in range(count):
        place[i] = 0
    for i in range(start, end):
        child[i] = first[i]
        place[first[i]] = 1
    to = end % count
    for k in range(count):
        job = second[(end + k) % count]
        if place[job] == 0:
            child[to] = job
            to = (to + 1) % count


@kernel
def cross_segment(cross, problem, mother, father, child, work):
    """Cross the permutations at a random segment, by one of the kernels above."""
    arrange(problem, mother, work)
    arrange(problem, father, work)
    start, end = draw_segment(work.random, len(child))
    permutation = work.ints[3, : len(child)]
    cross(mother.sequence, father.sequence, permutation, start, end, work.ints[4])
    read_permutation(problem, mother, permutation, child)


@crossover
def cross_pmx(problem, mother, father, child, parameter, work):
    """Partially matched crossover of the permutations."""
    cross_segment(pmx, problem, mother, father, child, work)


@crossover
def cross_cx(problem, mother, father, child, parameter, work):
    """Cycle crossover of the permutations, from the first position in which they differ.

    Every job keeps the position that it has in one of the parents, and so its machine there.
    """
    arrange(problem, mother, work)
    arrange(problem, father, work)
    first, second = mother.sequence, father.sequence
    count = len(child)
    copy(child, mother.genes)
    start = 0
    while start < count and first[start] == second[start]:
        start += 1
    if start == count:
        return
    on_cycle = work.ints[3]
    for i in range(start, count):
        on_cycle[i] = 0
    i = start
    while on_cycle[i] == 0:
        on_cycle[i] = 1
        i = mother.place[second[i]]
    for i in range(start, count):
        if on_cycle[i] == 0:
            child[second[i]] = father.genes[second[i]]


@crossover
def cross_cx_literal(problem, mother, father, child, parameter, work):
    """Cycle crossover as printed: from the first position on, and read by the mother's counts."""
    arrange_by_number(problem, mother, work)
    arrange_by_number(problem, father, work)
    count = len(child)
    permutation = work.ints[3, :count]
    for i in range(count):
        permutation[i] = father.sequence[i]
    i = 0
    while permutation[i] != mother.sequence[i]:
        permutation[i] = mother.sequence[i]
        i = mother.place[father.sequence[i]]
    read_permutation(problem, mother, permutation, child)


@crossover
def cross_ox(problem, mother, father, child, parameter, work):
    """Order crossover of the permutations."""
    cross_segment(ox, problem, mother, father, child, work)

"""Mutation that takes load from machines that finish late (section 3.4.3)."""

import math

from queuesmith.compiled import kernel
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.mutation import (
    can_swap,
    move_at_random,
    swap_at_random,
    swap_jobs,
)
from queuesmith.grid.genetic.kernels.operators import mutation
from queuesmith.grid.genetic.kernels.problem import NOBODY, random_option
from queuesmith.grid.genetic.kernels.value import latest, move_job, settle

# Rebalancing takes load from the latest of so many machines drawn at random.
DRAWN = 8
# It looks at a power of two of pairs to swap, one of so many, and at so many moves.
EFFORTS, MOVES = 13, 256


@kernel
def overloaded_machine(individual, random):
    """Return the latest of some machines drawn at random."""
    machines = len(individual.completion)
    chosen = below(random, machines)
    for _ in range(DRAWN - 1):
        machine = below(random, machines)
        if individual.completion[machine] > individual.completion[chosen]:
            chosen = machine
    return chosen


@kernel
def list_jobs(genes, machine, jobs):
    """Write the jobs of a machine and return how many there are."""
    count = 0
    for job in range(len(genes)):
        jobs[count] = job
        count += 1 if genes[job] == machine else 0
    return count


@kernel
def rebalance_by_swap(problem, individual, machine, own, random):
    """Exchange a job of the machine for one that is shorter there, unless the makespan grows.

    It looks at 1 up to 4,096 pairs, few or many at random, and takes the one after which all
    machines together have the least to do.
    """
    genes, times, load = individual.genes, problem.times, individual.completion
    last = latest(load)
    least, best_long, best_short = math.inf, NOBODY, NOBODY
    for _ in range(1 << below(random, EFFORTS)):
        long, short = own[below(random, len(own))], below(random, len(genes))
        other = genes[short]
        if times[short, machine] >= times[long, machine] or other == machine:
            continue
        change = times[long, other] - times[short, other]
        if load[other] + change < last:
            change += times[short, machine] - times[long, machine]
            if change < least:
                least, best_long, best_short = change, long, short
    if best_long == NOBODY:
        return False
    swap_jobs(problem, individual, best_long, best_short)
    return True


@kernel
def rebalance_by_move(problem, individual, machine, own, random):
    """Give a job of the machine to another one that then finishes before the machine did.

    Of the moves looked at it takes the one after which all have the least to do.
    """
    load, times = individual.completion, problem.times
    least, best_job, best_machine = math.inf, NOBODY, NOBODY
    for _ in range(MOVES):
        job, other = own[below(random, len(own))], below(random, len(load))
        if other != machine and load[other] + times[job, other] < load[machine]:
            change = times[job, other] - times[job, machine]
            if change < least:
                least, best_job, best_machine = change, job, other
    if best_job == NOBODY:
        return False
    move_job(problem, individual, best_job, best_machine)
    return True


@kernel
def rebalance(problem, individual, work):
    """Take load from a machine that finishes late: by a swap, or else by a move."""
    random = work.random
    machine = overloaded_machine(individual, random)
    own = work.ints[5, : list_jobs(individual.genes, machine, work.ints[5])]
    if len(own) == 0:
        return False
    if rebalance_by_swap(problem, individual, machine, own, random):
        return True
    return rebalance_by_move(problem, individual, machine, own, random)


@kernel
def late_machine(individual, work):
    """Return one of the quarter of the machines that finish last, at random."""
    load = individual.completion
    chosen = below(work.random, max(len(load) // 4, 1))
    found = NOBODY
    for machine in range(len(load)):
        later = 0
        for other in range(len(load)):
            before = load[other] == load[machine] and other < machine
            later += 1 if load[other] > load[machine] or before else 0
        if later == chosen:
            found = machine
    return found


@kernel
def rebalance_literally(problem, individual, work):
    """Exchange a job of a late machine for one that takes no longer there; else move one.

    As printed: the first such pair that is met, whatever becomes of the makespan.
    """
    genes, times, random = individual.genes, problem.times, work.random
    machine = late_machine(individual, work)
    own = work.ints[5, : list_jobs(genes, machine, work.ints[5])]
    if len(own) == 0:
        return False
    turn, shift = below(random, len(own)), below(random, len(genes))
    for i in range(len(own)):
        long = own[(turn + i) % len(own)]
        for k in range(len(genes)):
            short = (shift + k) % len(genes)
            shorter = times[short, machine] <= times[long, machine]
            if shorter and can_swap(problem, genes, short, long):
                swap_jobs(problem, individual, long, short)
                return True
    for i in range(len(own)):
        job = own[(turn + i) % len(own)]
        other = random_option(problem, job, random)
        if other != machine:
            move_job(problem, individual, job, other)
            return True
    return False


@kernel
def move_or_swap(problem, individual, random):
    """Move a job or swap two, whichever chance says."""
    if uniform(random) < 0.5:
        move_at_random(problem, individual, random)
    else:
        swap_at_random(problem, individual, random)


@mutation
def mutate_rebalance_literal(problem, individual, parameter, work):
    """Rebalancing as printed: with the probability of the parameter, then a move or a swap."""
    if uniform(work.random) < parameter:
        rebalance_literally(problem, individual, work)
    move_or_swap(problem, individual, work.random)
    settle(problem, individual)


@mutation
def mutate_rebalance(problem, individual, parameter, work):
    """With the probability of the parameter rebalance; then move, and swap, each with 0.5."""
    if uniform(work.random) < parameter:
        rebalance(problem, individual, work)
    if uniform(work.random) < 0.5:
        move_at_random(problem, individual, work.random)
    if uniform(work.random) < 0.5:
        swap_at_random(problem, individual, work.random)
    settle(problem, individual)


@mutation
def mutate_rebalance_or_mutate(problem, individual, parameter, work):
    """With the probability of the parameter rebalance, otherwise move or swap."""
    if uniform(work.random) < parameter:
        rebalance(problem, individual, work)
    else:
        move_or_swap(problem, individual, work.random)
    settle(problem, individual)

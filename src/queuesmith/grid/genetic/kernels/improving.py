"""Local search on children, for memetic configurations."""

import math

from numba import int64

from queuesmith.compiled import kernel
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.mutation import can_swap, swap_jobs
from queuesmith.grid.genetic.kernels.operators import mutation
from queuesmith.grid.genetic.kernels.problem import NOBODY, PRIMARY, SECONDARY, random_option
from queuesmith.grid.genetic.kernels.value import evaluate, latest, move_job, settle

# Annealing cools from the first to the second, relative to the bound of the prices.
HOT, COLD = 3e-4, 1e-5
# The weight of priced work in annealing, against that of the makespan.
WORK_WEIGHT = 2.0
# Annealing takes no more steps than this, so that large instances heed their time limit.
MOST_STEPS = 1_024_000.0
# So many steps of annealing take about as long as one try of climbing.
CLIMB_SHARE = 10.0


@mutation
def improve_not(problem, individual, parameter, work):
    """Leave the child as it is."""


@kernel
def key_below(problem, individual, primary, secondary):
    """Settle an individual and say whether it is at least as good as these keys."""
    settle(problem, individual)
    ours = individual.value[PRIMARY]
    return ours < primary or (ours == primary and individual.value[SECONDARY] <= secondary)


@mutation
def improve_climb(problem, individual, parameter, work):
    """Try random moves and swaps, as many as the parameter says, and keep those that do no harm."""
    random = work.random
    count = len(individual.genes)
    for _ in range(int64(parameter)):
        primary, secondary = individual.value[PRIMARY], individual.value[SECONDARY]
        job = below(random, count)
        old = individual.genes[job]
        if uniform(random) < 0.5:
            machine = random_option(problem, job, random)
            if machine == old:
                continue
            move_job(problem, individual, job, machine)
            if not key_below(problem, individual, primary, secondary):
                move_job(problem, individual, job, old)
        else:
            other = below(random, count)
            if not can_swap(problem, individual.genes, job, other):
                continue
            swap_jobs(problem, individual, job, other)
            if not key_below(problem, individual, primary, secondary):
                swap_jobs(problem, individual, job, other)
        settle(problem, individual)


@kernel
def rehouse(genes, members, sizes, place, job, machine):
    """Enter a job in the list of another machine."""
    old = genes[job]
    last = members[old, sizes[old] - 1]
    members[old, place[job]] = last
    place[last] = place[job]
    sizes[old] -= 1
    members[machine, sizes[machine]] = job
    place[job] = sizes[machine]
    sizes[machine] += 1
    genes[job] = machine


@kernel
def list_members(problem, genes, work):
    """Write the list of each machine's jobs, and each job's place in it; return the bound."""
    members, place, sizes = work.members, work.ints[5], work.counts[1]
    bound = 0.0
    for machine in range(len(problem.ready)):
        bound += problem.prices[machine] * problem.ready[machine]
        sizes[machine] = 0
    for job in range(len(genes)):
        cheapest = problem.options[job, 0]
        bound += problem.prices[cheapest] * problem.times[job, cheapest]
        machine = genes[job]
        members[machine, sizes[machine]] = job
        place[job] = sizes[machine]
        sizes[machine] += 1
    return bound


@mutation
def improve_anneal(problem, individual, parameter, work):
    """Anneal the makespan and the priced work: as many steps a job as the parameter says.

    A step gives a job to another machine that is cheap for it by the prices, and mostly hands one
    of that machine's jobs on: back, or to a machine that is cheap for it. Prices steer it: what is
    gained in priced work is room for a lower makespan. Where the flowtime counts first, it climbs.
    """
    count = len(individual.genes)
    if problem.weights[1] > 0.0:
        improve_climb(problem, individual, min(parameter * count, MOST_STEPS) / CLIMB_SHARE, work)
        return
    if len(problem.pair_job) == 0:
        return
    genes, load, times, prices = (
        individual.genes,
        individual.completion,
        problem.times,
        problem.prices,
    )
    random, members, place, sizes = work.random, work.members, work.ints[5], work.counts[1]
    bound = list_members(problem, genes, work)
    steps = int64(min(parameter * count, MOST_STEPS))
    heat = HOT * bound
    cooling = (COLD / HOT) ** (1.0 / max(steps, 1))
    high = latest(load)
    for _ in range(steps):
        heat *= cooling
        pair = below(random, len(problem.pair_job))
        job, b = problem.pair_job[pair], problem.pair_machine[pair]
        a = genes[job]
        if a == b:
            continue
        other, c = NOBODY, a
        change_a, change_b, change_c = -times[job, a], times[job, b], 0.0
        if sizes[b] > 0 and uniform(random) < 0.75:
            other = members[b, below(random, sizes[b])]
            if uniform(random) < 0.5:
                c = problem.options[other, below(random, problem.near[other])]
            if c == b or not math.isfinite(times[other, c]):
                continue
            change_b -= times[other, b]
            change_c = times[other, c]
        work_change = prices[a] * change_a + prices[b] * change_b + prices[c] * change_c
        before_a, before_b, before_c = load[a], load[b], load[c]
        load[a] += change_a
        load[b] += change_b
        load[c] += change_c
        top = latest(load)
        rise = top - high + WORK_WEIGHT * work_change
        if rise > 0.0 and uniform(random) >= math.exp(-rise / heat):
            load[a] = before_a  # c may be a: then both are the load of before
            load[b] = before_b
            load[c] = before_c
            continue
        high = top
        rehouse(genes, members, sizes, place, job, b)
        if other != NOBODY:
            rehouse(genes, members, sizes, place, other, c)
    evaluate(problem, individual, work, True)

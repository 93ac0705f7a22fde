"""What an individual is worth.

Flowtimes are kept for each machine: with jobs in ascending order, it is the sum, over all pairs of
its jobs and over each job with itself, of the shorter time, plus its ready time for each job. So a
job that comes or goes changes it by one pass over the chromosome. Where many come or go, the
machines are read anew from their ``marks``.
"""

import math

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.grid.genetic.kernels.marks import BIT_OF, WORD_BITS, mark_jobs
from queuesmith.grid.genetic.kernels.problem import FLOWTIME, MAKESPAN, PRIMARY, SECONDARY

# So many differing genes are cheaper to move one by one than to value the machines again.
FEW = 4
# Values closer than this, relatively, are equal to within rounding.
ROUNDING = 1e-12

# Sums may be taken in any order, so that they are taken several at a time.
summing = kernel(fastmath={"reassoc", "contract", "nsz"})


@summing
def shared_time(genes, column, machine, time):
    """Return the sum of the shorter of ``time`` and a job's own, over the jobs of a machine."""
    total = 0.0
    for job in range(len(genes)):
        total += min(time, column[job]) if genes[job] == machine else 0.0
    return total


@kernel
def move_job(problem, individual, job, machine):
    """Give a job to another machine and keep both machines' figures right."""
    old = individual.genes[job]
    time = problem.times[job, old]
    lost = shared_time(individual.genes, problem.columns[old], old, time)
    individual.flow[old] -= problem.ready[old] + lost
    individual.completion[old] -= time
    individual.genes[job] = machine
    time = problem.times[job, machine]
    gained = shared_time(individual.genes, problem.columns[machine], machine, time)
    individual.flow[machine] += problem.ready[machine] + gained
    individual.completion[machine] += time
    individual.known[0] = 0


@kernel
def settle(problem, individual):
    """Bring makespan, flowtime and the keys up to date with the machines' figures (eq. 3, 4)."""
    makespan = 0.0
    flowtime = 0.0
    for machine in range(len(individual.completion)):
        makespan = max(makespan, individual.completion[machine])
        flowtime += individual.flow[machine]
    weights = problem.weights
    individual.value[MAKESPAN] = makespan
    individual.value[FLOWTIME] = flowtime
    individual.value[PRIMARY] = weights[0] * makespan + weights[1] * flowtime
    if weights[3] > 0.0:  # makespans of one step are equal: the flowtime decides
        individual.value[PRIMARY] = math.floor(math.log(makespan) / weights[3])
    individual.value[SECONDARY] = weights[2] * flowtime


@kernel
def evaluate(problem, individual, work, everything):
    """Value the machines named in ``work.counts[1]``, or all, from the genes."""
    mark_jobs(problem, individual.genes, work, everything)
    for machine in range(len(problem.ready)):
        if not everything and work.counts[1, machine] == 0:
            continue
        marks, times = work.marks[machine], problem.ranked_times[machine]
        finish = problem.ready[machine]
        flow = 0.0
        for word in range(len(marks)):
            left = marks[word]
            marks[word] = 0
            while left != 0:
                lowest = left & -left
                left ^= lowest
                finish += times[word * WORD_BITS + BIT_OF[lowest % 37]]
                flow += finish
        individual.completion[machine] = finish
        individual.flow[machine] = flow
    individual.known[0] = 0
    settle(problem, individual)


@kernel
def become(child, parent):
    """Make an individual the copy of another one."""
    copy(child.genes, parent.genes)
    copy(child.completion, parent.completion)
    copy(child.flow, parent.flow)
    copy(child.value, parent.value)
    child.known[0] = 0


@kernel
def inherit(problem, child, parent, work):
    """Value a child whose genes are written, from those it does not share with a parent."""
    few = work.ints[0]
    machines = len(problem.ready)
    for machine in range(machines):
        work.counts[1, machine] = 0
    differing = 0
    for job in range(len(child.genes)):
        if child.genes[job] != parent.genes[job]:
            work.counts[1, child.genes[job]] = 1
            work.counts[1, parent.genes[job]] = 1
            if differing < FEW:
                few[differing] = job
            differing += 1
    copy(child.completion, parent.completion)
    copy(child.flow, parent.flow)
    child.known[0] = 0
    if differing > FEW:
        evaluate(problem, child, work, False)
        return
    for i in range(differing):
        few[FEW + i] = child.genes[few[i]]
        child.genes[few[i]] = parent.genes[few[i]]
    for i in range(differing):
        move_job(problem, child, few[i], few[FEW + i])
    settle(problem, child)


@kernel
def better(one, other):
    """Say whether one individual is better than another: by the primary, then the secondary key."""
    if one.value[PRIMARY] != other.value[PRIMARY]:
        return one.value[PRIMARY] < other.value[PRIMARY]
    return one.value[SECONDARY] < other.value[SECONDARY]


@kernel
def surpasses(one, best):
    """Say whether one individual is better than the best ever by more than rounding.

    Where there is a secondary key, the makespan itself comes first, however coarse its steps are.
    """
    first = MAKESPAN if best.value[SECONDARY] > 0.0 else PRIMARY
    margin = ROUNDING * abs(best.value[first])
    difference = one.value[first] - best.value[first]
    if abs(difference) > margin:
        return difference < 0.0
    return one.value[SECONDARY] < best.value[SECONDARY] * (1.0 - ROUNDING)


@kernel
def latest(load):
    """Return when the last machine finishes."""
    top = load[0]
    for machine in range(1, len(load)):
        top = max(top, load[machine])
    return top

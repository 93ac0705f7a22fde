"""First populations (section 3.2.1), and those that begin anew around the best ever."""

import math

from numba import float64, int64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, copy
from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.operators import initial
from queuesmith.grid.genetic.kernels.problem import POOL_TYPE, WORK_TYPE, random_option


@kernel
def shuffle(order, random):
    """Fill an array with its positions in random order."""
    for i in range(len(order)):
        k = below(random, i + 1)
        order[i] = order[k]
        order[k] = i


@kernel
def earliest_machine(problem, load, job):
    """Return the machine on which a job would finish first."""
    best = problem.options[job, 0]
    for i in range(1, problem.option_count[job]):
        machine = problem.options[job, i]
        if load[machine] + problem.times[job, machine] < load[best] + problem.times[job, best]:
            best = machine
    return best


@initial
def start_random(problem, genes, work):
    """Any machine that can run the job."""
    for job in range(len(genes)):
        genes[job] = random_option(problem, job, work.random)


@initial
def start_mct(problem, genes, work):
    """Jobs in random order, each where it finishes first."""
    order = work.ints[0, : len(genes)]
    load = work.reals[: len(problem.ready)]
    shuffle(order, work.random)
    copy(load, problem.ready)
    for i in range(len(genes)):
        job = order[i]
        machine = earliest_machine(problem, load, job)
        genes[job] = machine
        load[machine] += problem.times[job, machine]


@initial
def start_min_min(problem, genes, work):
    """Always the job that can finish first of all, where it finishes first."""
    load = work.reals[: len(problem.ready)]
    copy(load, problem.ready)
    waiting, best = work.ints[0], work.ints[1]
    count = len(genes)
    for job in range(count):
        waiting[job] = job
        best[job] = earliest_machine(problem, load, job)
    while count > 0:
        first = 0
        least = math.inf
        for i in range(count):
            job = waiting[i]
            finish = load[best[job]] + problem.times[job, best[job]]
            if finish < least:
                first, least = i, finish
        job = waiting[first]
        machine = best[job]
        genes[job] = machine
        load[machine] = least
        count -= 1
        for i in range(first, count):  # keeps the jobs in their order, so that ties go to the first
            waiting[i] = waiting[i + 1]
        for i in range(count):
            if best[waiting[i]] == machine:
                best[waiting[i]] = earliest_machine(problem, load, waiting[i])


@kernel
def mean_time(problem, job):
    """Return the mean time of a job on the machines that can run it: its workload."""
    total = 0.0
    for i in range(problem.option_count[job]):
        total += problem.times[job, problem.options[job, i]]
    return total / problem.option_count[job]


@kernel
def first_free(problem, load, job):
    """Return the machine that is available first among those that can run a job."""
    best = problem.options[job, 0]
    for i in range(1, problem.option_count[job]):
        machine = problem.options[job, i]
        if load[machine] < load[best]:
            best = machine
    return best


@kernel
def rank_machines(problem, fastest, mean):
    """Fill ``fastest`` with the machines, that of the least mean time first."""
    jobs, machines = problem.times.shape
    for machine in range(machines):
        total = 0.0
        able = 0
        for job in range(jobs):
            if math.isfinite(problem.times[job, machine]):
                total += problem.times[job, machine]
                able += 1
        mean[machine] = total / able if able > 0 else math.inf
        i = machine
        while i > 0 and mean[fastest[i - 1]] > mean[machine]:
            fastest[i] = fastest[i - 1]
            i -= 1
        fastest[i] = machine


@initial
def start_ljfr_sjfr(problem, genes, work):
    """The longest jobs to the fastest machines; then longest and shortest in turn.

    A job's workload is its mean time, a machine is the faster the less its mean time is.
    """
    jobs, machines = problem.times.shape
    order, fastest = work.ints[0], work.ints[1]
    for job in range(jobs):
        size = mean_time(problem, job)
        work.reals[job] = size
        i = job
        while i > 0 and work.reals[order[i - 1]] > size:
            order[i] = order[i - 1]
            i -= 1
        order[i] = job
    load = work.reals[:machines]
    rank_machines(problem, fastest, load)
    copy(load, problem.ready)
    shortest, longest = 0, jobs - 1
    for step in range(jobs):
        take_longest = step < machines or (step - machines) % 2 == 0
        if take_longest:
            job = order[longest]
            longest -= 1
        else:
            job = order[shortest]
            shortest += 1
        machine = fastest[step] if step < machines else first_free(problem, load, job)
        if not math.isfinite(problem.times[job, machine]):
            machine = first_free(problem, load, job)
        genes[job] = machine
        load[machine] += problem.times[job, machine]


@entry(void(INTS, INTS, float64, BITS))
def blend(source, target, share, random):
    """Copy a chromosome over another one, of which about this share of the jobs stays."""
    for job in range(len(target)):
        if uniform(random) >= share:
            target[job] = source[job]


@entry(void(POOL_TYPE, int64, float64, WORK_TYPE))
def gather(pool, count, share, work):
    """Blend the first chromosomes with an ancestor, itself a blend of one and of the best ever.

    What the ancestor does not have of the best is in most, so that crossing them cannot undo it.
    """
    ancestor = work.ints[0, : pool.genes.shape[1]]
    copy(ancestor, pool.genes[below(work.random, count)])
    blend(pool.genes[len(pool.genes) - 1], ancestor, share, work.random)
    for slot in range(count):
        blend(ancestor, pool.genes[slot], share, work.random)

"""The compiled genetic schedulers: plain numbers in, better genes out.

Everything compiled that calls each other lives in this file, so that a cached kernel can never be
stale. ``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.

A chromosome is the direct encoding of Carretero, Xhafa and Abraham (section 3.1): the machine of
each job. Permutations exist only inside the operators that need them; a parent's is written when
it is first needed, and kept. Flowtimes are kept for each machine: with jobs in ascending order, it
is the sum, over all pairs of its jobs and over each job with itself, of the shorter time, plus its
ready time for each job. So a job that comes or goes changes it by one pass over the chromosome.
Where many come or go, nothing is sorted either: the order of all jobs on each machine is known
beforehand, and those that are there are marked in a row of bits, which is read from the shortest
job up.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import float64, int32, int64, types, uint64, void

njit: Any = numba.njit  # its stubs do not know all its options

# Kernels allocate nothing, so they need no reference counts.
kernel = njit(_nrt=False)
# Sums may be taken in any order, so that they are taken several at a time.
summing = njit(_nrt=False, fastmath={"reassoc", "contract", "nsz"})

# Places in a person's values.
MAKESPAN, FLOWTIME, PRIMARY, SECONDARY = range(4)
VALUES = 4
# Places in the flags of a workspace.
BAD_JOB, BAD_MACHINE, IMPROVED_AT, GENERATION, EVALUATIONS, NEXT_CHILD = range(6)
FLAGS = 6
NOBODY = -1
# Places in the numbers of a plan.
CROSS, CROSS_WITH, MUTATE, MUTATE_WITH, SELECT_WITH, IMPROVE, IMPROVE_WITH = range(7)
CHANCES = 7
# Rows of the workspace's integers.
ROWS = 8
# So many differing genes are cheaper to move one by one than to value the machines again.
FEW = 4
# Bits in a word of marks, and which of them a power of two is: 2 is a primitive root modulo 37.
BITS = 32
BIT_OF = np.zeros(37, np.int64)
for _bit in range(BITS):
    BIT_OF[2**_bit % 37] = _bit
# Figures that are kept up to date are computed anew after so many generations.
REFRESH = 1024
# Values closer than this, relatively, are equal to within that arithmetic.
ROUNDING = 1e-12
# How often an operator draws again where its draw was not possible.
TRIES = 16
# Rebalancing takes load from the latest of so many machines drawn by chance.
DRAWN = 8
# It looks at a power of two of pairs to swap, one of so many, and at so many moves.
EFFORTS, MOVES = 13, 256
# Annealing cools from the first to the second, relative to the bound of the prices.
HOT, COLD = 3e-4, 1e-5
# The weight of priced work in annealing, against that of the makespan.
WORK_WEIGHT = 2.0
# Annealing takes no more steps than this, so that large instances heed their time limit.
MOST_STEPS = 1_024_000.0
# So many steps of annealing take about as long as one try of climbing.
CLIMB_SHARE = 10.0


class Problem(NamedTuple):
    """The instance, and what is minimised."""

    times: Any  # jobs x machines
    columns: Any  # machines x jobs
    ready: Any
    options: Any  # machines of each job that can run it, the cheapest by the prices first
    option_count: Any
    prices: Any  # of a second on each machine; they sum to 1
    rank: Any  # jobs x machines: how many jobs are shorter on that machine
    ranked: Any  # machines x jobs: the jobs, the shortest first
    ranked_times: Any  # and their times
    near: Any  # how many of the first options of each job are cheap enough for annealing
    pair_job: Any  # all cheap pairs of jobs with more than one such option
    pair_machine: Any
    weights: Any  # of makespan and flowtime in the primary, of flowtime in the secondary key


class Pool(NamedTuple):
    """All individuals, a row each: parents, children, and the best ever."""

    genes: Any
    completion: Any
    flow: Any
    value: Any
    sequence: Any  # the permutation encoding, once it is known
    place: Any  # where in it each job is
    known: Any  # whether it is


class Person(NamedTuple):
    """One individual: the rows of one slot of the pool."""

    genes: Any
    completion: Any
    flow: Any
    value: Any
    sequence: Any  # the permutation encoding, once it is known
    place: Any  # where in it each job is
    known: Any  # whether it is


class Work(NamedTuple):
    """Room for the operators, and the state of the random numbers."""

    ints: Any  # ROWS x jobs or machines, whichever are more
    reals: Any  # as many
    counts: Any  # two rows of machines
    marks: Any  # machines x words of bits, which are 0 between calls
    members: Any  # machines x jobs; empty unless the local search needs it
    flags: Any
    random: Any


# -- random numbers --------------------------------------------------------------------------------


@kernel
def draw(random):
    """Return a random number from 0 up to, not including, 1 (Marsaglia's xorshift)."""
    x = random[0]
    x ^= x << uint64(13)
    x ^= x >> uint64(7)
    x ^= x << uint64(17)
    random[0] = x
    return float64(x >> uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(random, count):
    """Return a random whole number from 0 up to, not including, ``count``."""
    return int64(draw(random) * count)


@kernel
def copy(target, source):
    """Fill an array from the start of another one."""
    for i in range(len(target)):
        target[i] = source[i]


# -- what a chromosome is worth --------------------------------------------------------------------


@summing
def shared_time(genes, column, machine, time):
    """Return the sum of the shorter of ``time`` and a job's own, over the jobs of a machine."""
    total = 0.0
    for job in range(len(genes)):
        total += min(time, column[job]) if genes[job] == machine else 0.0
    return total


@kernel
def move_job(problem, person, job, machine):
    """Give a job to another machine and keep both machines' figures right."""
    old = person.genes[job]
    time = problem.times[job, old]
    lost = shared_time(person.genes, problem.columns[old], old, time)
    person.flow[old] -= problem.ready[old] + lost
    person.completion[old] -= time
    person.genes[job] = machine
    time = problem.times[job, machine]
    gained = shared_time(person.genes, problem.columns[machine], machine, time)
    person.flow[machine] += problem.ready[machine] + gained
    person.completion[machine] += time
    person.known[0] = 0


@kernel
def settle(problem, person):
    """Bring makespan, flowtime and the keys up to date with the machines' figures (eq. 3, 4)."""
    makespan = 0.0
    flowtime = 0.0
    for machine in range(len(person.completion)):
        makespan = max(makespan, person.completion[machine])
        flowtime += person.flow[machine]
    weights = problem.weights
    person.value[MAKESPAN] = makespan
    person.value[FLOWTIME] = flowtime
    person.value[PRIMARY] = weights[0] * makespan + weights[1] * flowtime
    person.value[SECONDARY] = weights[2] * flowtime


@kernel
def mark_jobs(problem, genes, work, everything):
    """Mark the jobs of the machines named in ``work.counts[1]``, or of all, by their ranks."""
    changed = work.counts[1]
    for job in range(len(genes)):
        machine = genes[job]
        if everything or changed[machine] != 0:
            rank = problem.rank[job, machine]
            work.marks[machine, rank // BITS] |= 1 << (rank % BITS)


@kernel
def evaluate(problem, person, work, everything):
    """Value the machines named in ``work.counts[1]``, or all, from the genes."""
    mark_jobs(problem, person.genes, work, everything)
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
                finish += times[word * BITS + BIT_OF[lowest % 37]]
                flow += finish
        person.completion[machine] = finish
        person.flow[machine] = flow
    person.known[0] = 0
    settle(problem, person)


@kernel
def become(child, parent):
    """Make a person the copy of another one."""
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
    """Say whether one person is better than another: by the primary key, then by the secondary."""
    if one.value[PRIMARY] != other.value[PRIMARY]:
        return one.value[PRIMARY] < other.value[PRIMARY]
    return one.value[SECONDARY] < other.value[SECONDARY]


@kernel
def surpasses(one, best):
    """Say whether one person is better than the best ever by more than rounding."""
    margin = ROUNDING * abs(best.value[PRIMARY])
    difference = one.value[PRIMARY] - best.value[PRIMARY]
    if abs(difference) > margin:
        return difference < 0.0
    return one.value[SECONDARY] < best.value[SECONDARY] * (1.0 - ROUNDING)


@kernel
def person_of(pool, slot):
    """Return the person in a slot of the pool."""
    return Person(
        pool.genes[slot],
        pool.completion[slot],
        pool.flow[slot],
        pool.value[slot],
        pool.sequence[slot],
        pool.place[slot],
        pool.known[slot],
    )


# -- the types of operators ------------------------------------------------------------------------

_READ_MATRIX = types.Array(float64, 2, "C", readonly=True)
_READ_REALS = types.Array(float64, 1, "C", readonly=True)
_READ_INTS = types.Array(int64, 1, "C", readonly=True)
_INTS = types.Array(int64, 1, "C")
_REALS = types.Array(float64, 1, "C")
_MATRIX = types.Array(float64, 2, "C")
_INT_MATRIX = types.Array(int64, 2, "C")
_SHORT_MATRIX = types.Array(int32, 2, "C")
_SHORTS = types.Array(int32, 1, "C")
_READ_INT_MATRIX = types.Array(int64, 2, "C", readonly=True)
RANDOM_TYPE = types.Array(uint64, 1, "C")
PROBLEM_TYPE = types.NamedTuple(
    [
        _READ_MATRIX,
        _READ_MATRIX,
        _READ_REALS,
        _READ_INT_MATRIX,
        _READ_INTS,
        _READ_REALS,
        _READ_INT_MATRIX,
        _READ_INT_MATRIX,
        _READ_MATRIX,
        _READ_INTS,
        _READ_INTS,
        _READ_INTS,
        _READ_REALS,
    ],
    Problem,
)
POOL_TYPE = types.NamedTuple(
    [_INT_MATRIX, _MATRIX, _MATRIX, _MATRIX, _SHORT_MATRIX, _SHORT_MATRIX, _SHORT_MATRIX], Pool
)
PERSON_TYPE = types.NamedTuple([_INTS, _REALS, _REALS, _REALS, _SHORTS, _SHORTS, _SHORTS], Person)
WORK_TYPE = types.NamedTuple(
    [_INT_MATRIX, _REALS, _INT_MATRIX, _INT_MATRIX, _INT_MATRIX, _INTS, RANDOM_TYPE], Work
)

INITIAL_TYPE = void(PROBLEM_TYPE, _INTS, WORK_TYPE)
CROSSOVER_TYPE = void(PROBLEM_TYPE, PERSON_TYPE, PERSON_TYPE, _INTS, float64, WORK_TYPE)
MUTATION_TYPE = void(PROBLEM_TYPE, PERSON_TYPE, float64, WORK_TYPE)
SELECTION_TYPE = int64(int64, int64, float64, WORK_TYPE)

initial = njit(INITIAL_TYPE, nogil=True, cache=True, _nrt=False)
crossover = njit(CROSSOVER_TYPE, nogil=True, cache=True, _nrt=False)
mutation = njit(MUTATION_TYPE, nogil=True, cache=True, _nrt=False)
selection = njit(SELECTION_TYPE, nogil=True, cache=True, _nrt=False)


# -- first populations (section 3.2.1) -------------------------------------------------------------


@kernel
def random_option(problem, job, random):
    """Return a random machine that can run a job."""
    return problem.options[job, below(random, problem.option_count[job])]


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


@njit(void(_INTS, _INTS, float64, RANDOM_TYPE), nogil=True, cache=True, _nrt=False)
def blend(source, target, share, random):
    """Copy a chromosome over another one, of which about this share of the jobs stays."""
    for job in range(len(target)):
        if draw(random) >= share:
            target[job] = source[job]


@njit(void(POOL_TYPE, int64, float64, WORK_TYPE), nogil=True, cache=True, _nrt=False)
def gather(pool, count, share, work):
    """Blend the first chromosomes with an ancestor, itself a blend of one and of the best ever.

    What the ancestor does not have of the best is in most, so that crossing them cannot undo it.
    """
    ancestor = work.ints[0, : pool.genes.shape[1]]
    copy(ancestor, pool.genes[below(work.random, count)])
    blend(pool.genes[len(pool.genes) - 1], ancestor, share, work.random)
    for slot in range(count):
        blend(ancestor, pool.genes[slot], share, work.random)


# -- operators of users ----------------------------------------------------------------------------


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


# -- crossover of the direct encoding (section 3.4.1) ----------------------------------------------
#
# A crossover writes one child. The second one is the same call with the parents exchanged and the
# same random numbers, so that the two are complementary, as the paper describes them.


@crossover
def cross_one_point(problem, mother, father, child, parameter, work):
    """The father's genes up to a random cut, then the mother's."""
    cut = 1 + below(work.random, len(child))
    copy(child[:cut], father.genes[:cut])
    copy(child[cut:], mother.genes[cut:])


@kernel
def draw_segment(random, count):
    """Return a random segment: its first position, and the one after its last."""
    start = below(random, count)
    end = below(random, count)
    return min(start, end), max(start, end) + 1


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
        child[job] = mother.genes[job] if draw(work.random) < parameter else father.genes[job]


@crossover
def cross_fitness_based(problem, mother, father, child, parameter, work):
    """Each gene from either parent, from the fitter one with the greater probability."""
    ours, theirs = mother.value[PRIMARY], father.value[PRIMARY]
    chance = theirs / (ours + theirs)
    for job in range(len(child)):
        child[job] = mother.genes[job]
        if mother.genes[job] != father.genes[job] and draw(work.random) >= chance:
            child[job] = father.genes[job]


# -- crossover of the permutation encoding (section 3.4.2) -----------------------------------------


@kernel
def arrange(problem, person, work):
    """Write a person's permutation, unless it is known: its jobs, machine by machine.

    The jobs of a machine stand in the order in which they run, the shortest first.
    """
    if person.known[0] != 0:
        return
    mark_jobs(problem, person.genes, work, True)
    place = 0
    for machine in range(len(problem.ready)):
        marks, jobs = work.marks[machine], problem.ranked[machine]
        for word in range(len(marks)):
            left = marks[word]
            marks[word] = 0
            while left != 0:
                lowest = left & -left
                left ^= lowest
                job = jobs[word * BITS + BIT_OF[lowest % 37]]
                person.sequence[place] = job
                person.place[job] = place
                place += 1
    person.known[0] = 1


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


@crossover
def cross_pmx(problem, mother, father, child, parameter, work):
    """Partially matched crossover of the permutations."""
    arrange(problem, mother, work)
    arrange(problem, father, work)
    start, end = draw_segment(work.random, len(child))
    permutation = work.ints[3, : len(child)]
    pmx(mother.sequence, father.sequence, permutation, start, end, work.ints[4])
    read_permutation(problem, mother, permutation, child)


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
def cross_ox(problem, mother, father, child, parameter, work):
    """Order crossover of the permutations."""
    arrange(problem, mother, work)
    arrange(problem, father, work)
    start, end = draw_segment(work.random, len(child))
    permutation = work.ints[3, : len(child)]
    ox(mother.sequence, father.sequence, permutation, start, end, work.ints[4])
    read_permutation(problem, mother, permutation, child)


# -- mutation (section 3.4.3) ----------------------------------------------------------------------


@kernel
def move_at_random(problem, person, random):
    """Give a random job to another machine; nothing where no draw finds one."""
    for _ in range(TRIES):
        job = below(random, len(person.genes))
        if problem.option_count[job] > 1:
            machine = random_option(problem, job, random)
            if machine != person.genes[job]:
                move_job(problem, person, job, machine)
                return


@kernel
def can_swap(problem, genes, one, other):
    """Say whether two jobs are on different machines that could each run the other one."""
    return (
        genes[one] != genes[other]
        and math.isfinite(problem.times[one, genes[other]])
        and math.isfinite(problem.times[other, genes[one]])
    )


@kernel
def swap_jobs(problem, person, one, other):
    """Exchange the machines of two jobs."""
    machine = person.genes[one]
    move_job(problem, person, one, person.genes[other])
    move_job(problem, person, other, machine)


@kernel
def swap_at_random(problem, person, random):
    """Exchange the machines of two random jobs; nothing where no draw finds a pair."""
    for _ in range(TRIES):
        one = below(random, len(person.genes))
        other = below(random, len(person.genes))
        if can_swap(problem, person.genes, one, other):
            swap_jobs(problem, person, one, other)
            return


@mutation
def mutate_move(problem, person, parameter, work):
    """Give a random job to another machine."""
    move_at_random(problem, person, work.random)
    settle(problem, person)


@mutation
def mutate_swap(problem, person, parameter, work):
    """Exchange the machines of two random jobs."""
    swap_at_random(problem, person, work.random)
    settle(problem, person)


@mutation
def mutate_move_and_swap(problem, person, parameter, work):
    """Move with the probability of the parameter, otherwise swap."""
    if draw(work.random) < parameter:
        move_at_random(problem, person, work.random)
    else:
        swap_at_random(problem, person, work.random)
    settle(problem, person)


@kernel
def latest(load):
    """Return when the last machine finishes."""
    top = load[0]
    for machine in range(1, len(load)):
        top = max(top, load[machine])
    return top


@kernel
def overloaded_machine(person, random):
    """Return the latest of some machines drawn by chance."""
    machines = len(person.completion)
    chosen = below(random, machines)
    for _ in range(DRAWN - 1):
        machine = below(random, machines)
        if person.completion[machine] > person.completion[chosen]:
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
def rebalance_by_swap(problem, person, machine, own, random):
    """Exchange a job of the machine for one that is shorter there, unless the makespan grows.

    It looks at 1 up to 4,096 pairs, few or many by chance, and takes the one after which all
    machines together have the least to do.
    """
    genes, times, load = person.genes, problem.times, person.completion
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
    swap_jobs(problem, person, best_long, best_short)
    return True


@kernel
def rebalance_by_move(problem, person, machine, own, random):
    """Give a job of the machine to another one that then finishes before the machine did.

    Of the moves looked at it takes the one after which all have the least to do.
    """
    load, times = person.completion, problem.times
    least, best_job, best_machine = math.inf, NOBODY, NOBODY
    for _ in range(MOVES):
        job, other = own[below(random, len(own))], below(random, len(load))
        if other != machine and load[other] + times[job, other] < load[machine]:
            change = times[job, other] - times[job, machine]
            if change < least:
                least, best_job, best_machine = change, job, other
    if best_job == NOBODY:
        return False
    move_job(problem, person, best_job, best_machine)
    return True


@kernel
def rebalance(problem, person, work):
    """Take load from a machine that finishes late: by a swap, or else by a move."""
    random = work.random
    machine = overloaded_machine(person, random)
    own = work.ints[5, : list_jobs(person.genes, machine, work.ints[5])]
    if len(own) == 0:
        return False
    if rebalance_by_swap(problem, person, machine, own, random):
        return True
    return rebalance_by_move(problem, person, machine, own, random)


@mutation
def mutate_rebalance(problem, person, parameter, work):
    """With the probability of the parameter rebalance; then move, and swap, each with 0.5."""
    if draw(work.random) < parameter:
        rebalance(problem, person, work)
    if draw(work.random) < 0.5:
        move_at_random(problem, person, work.random)
    if draw(work.random) < 0.5:
        swap_at_random(problem, person, work.random)
    settle(problem, person)


@mutation
def mutate_rebalance_or_mutate(problem, person, parameter, work):
    """With the probability of the parameter rebalance, otherwise move or swap."""
    if draw(work.random) < parameter:
        rebalance(problem, person, work)
    elif draw(work.random) < 0.5:
        move_at_random(problem, person, work.random)
    else:
        swap_at_random(problem, person, work.random)
    settle(problem, person)


# -- local search, for memetic configurations ------------------------------------------------------


@mutation
def improve_not(problem, person, parameter, work):
    """Leave the child as it is."""


@kernel
def key_below(problem, person, primary, secondary):
    """Settle a person and say whether it is at least as good as these keys."""
    settle(problem, person)
    ours = person.value[PRIMARY]
    return ours < primary or (ours == primary and person.value[SECONDARY] <= secondary)


@mutation
def improve_climb(problem, person, parameter, work):
    """Try random moves and swaps, as many as the parameter says, and keep those that do no harm."""
    random = work.random
    count = len(person.genes)
    for _ in range(int64(parameter)):
        primary, secondary = person.value[PRIMARY], person.value[SECONDARY]
        job = below(random, count)
        old = person.genes[job]
        if draw(random) < 0.5:
            machine = random_option(problem, job, random)
            if machine == old:
                continue
            move_job(problem, person, job, machine)
            if not key_below(problem, person, primary, secondary):
                move_job(problem, person, job, old)
        else:
            other = below(random, count)
            if not can_swap(problem, person.genes, job, other):
                continue
            swap_jobs(problem, person, job, other)
            if not key_below(problem, person, primary, secondary):
                swap_jobs(problem, person, job, other)
        settle(problem, person)


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
def improve_anneal(problem, person, parameter, work):
    """Anneal the makespan and the priced work: as many steps a job as the parameter says.

    A step gives a job to another machine that is cheap for it by the prices, and mostly hands one
    of that machine's jobs on: back, or to a machine that is cheap for it. Prices steer it: what is
    gained in priced work is room for a lower makespan. Where the flowtime counts first, it climbs.
    """
    count = len(person.genes)
    if problem.weights[1] > 0.0:
        improve_climb(problem, person, min(parameter * count, MOST_STEPS) / CLIMB_SHARE, work)
        return
    if len(problem.pair_job) == 0:
        return
    genes, load, times, prices = person.genes, person.completion, problem.times, problem.prices
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
        if sizes[b] > 0 and draw(random) < 0.75:
            other = members[b, below(random, sizes[b])]
            if draw(random) < 0.5:
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
        if rise > 0.0 and draw(random) >= math.exp(-rise / heat):
            load[a] = before_a  # c may be a: then both are the load of before
            load[b] = before_b
            load[c] = before_c
            continue
        high = top
        rehouse(genes, members, sizes, place, job, b)
        if other != NOBODY:
            rehouse(genes, members, sizes, place, other, c)
    evaluate(problem, person, work, True)


# -- selection (section 3.4.4) ---------------------------------------------------------------------
#
# Parents stand in the order of their fitness: 0 is the best. ``turn`` counts a generation's draws.


@selection
def select_random(count, turn, parameter, work):
    """Any parent."""
    return below(work.random, count)


@selection
def select_best(count, turn, parameter, work):
    """The best parent first, then the second best, and so on."""
    return turn % count


@selection
def select_linear_ranking(count, turn, parameter, work):
    """Linear in the rank: the best is drawn as often as the parameter says, 1 being the mean."""
    chance = draw(work.random)
    if parameter <= 1.0:
        return int64(chance * count)
    root = math.sqrt(parameter * parameter - 4.0 * (parameter - 1.0) * chance)
    return min(int64(count * (parameter - root) / (2.0 * (parameter - 1.0))), count - 1)


@selection
def select_binary_tournament(count, turn, parameter, work):
    """The better one of two, with the probability of the parameter."""
    one, other = below(work.random, count), below(work.random, count)
    return min(one, other) if draw(work.random) < parameter else max(one, other)


@selection
def select_n_tournament(count, turn, parameter, work):
    """The best one of so many as the parameter says."""
    best = below(work.random, count)
    for _ in range(int64(parameter) - 1):
        best = min(best, below(work.random, count))
    return best


# -- generations (figure 1 and section 3.4.5) ------------------------------------------------------


@kernel
def sort_slots(pool, slots, count):
    """Sort the first slots by their persons, the best first; equal ones keep their order."""
    for i in range(1, count):
        slot = slots[i]
        person = person_of(pool, slot)
        k = i
        while k > 0 and better(person, person_of(pool, slots[k - 1])):
            slots[k] = slots[k - 1]
            k -= 1
        slots[k] = slot


@kernel
def alike(one, other):
    """Say whether two persons have the same makespan and flowtime to within rounding."""
    for i in (MAKESPAN, FLOWTIME):
        if abs(one.value[i] - other.value[i]) > ROUNDING * abs(one.value[i]):
            return False
    return True


@kernel
def has_like(pool, slot, slots, count):
    """Say whether a person is like one of the first slots, which are sorted and not worse."""
    person = person_of(pool, slot)
    margin = ROUNDING * abs(person.value[PRIMARY])
    for i in range(count - 1, -1, -1):
        other = person_of(pool, slots[i])
        if person.value[PRIMARY] - other.value[PRIMARY] > margin:
            return False
        if alike(person, other):
            return True
    return False


@kernel
def keep_best_of_all(pool, parents, children, spare):
    """Let the best of parents and children together be the parents; parents win ties.

    Of those alike, one survives, and the others only where there are too few: what is equal is not
    better, and copies would soon fill the population.
    """
    count, brood = len(parents), len(children)
    p, c = 0, 0
    kept, last = 0, count + brood
    while p < count or c < brood:
        take_parent = c >= brood or (
            p < count and not better(person_of(pool, children[c]), person_of(pool, parents[p]))
        )
        if take_parent:
            slot = parents[p]
            p += 1
        else:
            slot = children[c]
            c += 1
        if has_like(pool, slot, spare, kept):
            last -= 1
            spare[last] = slot
        else:
            spare[kept] = slot
            kept += 1
    copy(parents, spare)
    copy(children, spare[count:])
    if kept < count:
        sort_slots(pool, parents, count)


@kernel
def keep_children(pool, parents, children):
    """Put the best children in the place of the worst parents, as many as there are."""
    count, brood = len(parents), len(children)
    for i in range(min(count, brood)):
        worst = count - 1 - i
        parents[worst], children[i] = children[i], parents[worst]
    sort_slots(pool, parents, count)


@kernel
def breed_pair(
    problem, pool, parents, first, second, plan, cross, mutate, select, improve, work, turn
):
    """Write two children (or one: the second slot may be none) of two selected parents."""
    random = work.random
    mother = person_of(pool, parents[select(len(parents), turn, plan[SELECT_WITH], work)])
    father = person_of(pool, parents[select(len(parents), turn + 1, plan[SELECT_WITH], work)])
    crossing = draw(random) < plan[CROSS]
    before = random[0]
    for k in range(2):
        slot = first if k == 0 else second
        if slot == NOBODY:
            break
        child = person_of(pool, slot)
        if crossing:
            random[0] = before
            cross(problem, mother, father, child.genes, plan[CROSS_WITH], work)
            inherit(problem, child, mother, work)
        else:
            become(child, mother)
        mother, father = father, mother
    for k in range(2):
        slot = first if k == 0 else second
        if slot == NOBODY:
            break
        child = person_of(pool, slot)
        if draw(random) < plan[MUTATE]:
            mutate(problem, child, plan[MUTATE_WITH], work)
        if draw(random) < plan[IMPROVE]:
            improve(problem, child, plan[IMPROVE_WITH], work)
        work.flags[EVALUATIONS] += 1


@kernel
def keep_best_ever(best, child, flags):
    """Remember a child of the generation under way if it is better than the best ever."""
    if surpasses(child, best):
        become(best, child)
        flags[IMPROVED_AT] = flags[GENERATION] + 1


@njit(
    int64(
        PROBLEM_TYPE,
        POOL_TYPE,
        _INTS,
        _INTS,
        _INTS,
        _READ_REALS,
        types.FunctionType(CROSSOVER_TYPE),
        types.FunctionType(MUTATION_TYPE),
        types.FunctionType(SELECTION_TYPE),
        types.FunctionType(MUTATION_TYPE),
        types.boolean,
        int64,
        int64,
        int64,
        _MATRIX,
        WORK_TYPE,
    ),
    nogil=True,
    cache=True,
    _nrt=False,
)
def run_generations(
    problem,
    pool,
    parents,
    children,
    spare,
    plan,
    cross,
    mutate,
    select,
    improve,
    merge,
    generations,
    most_children,
    patience,
    history,
    work,
):
    """Run some generations, and return how many were completed.

    It stops early after ``patience`` generations without a better best, and, be it in the middle
    of a generation, after about ``most_children``; the next call goes on from there. The last slot
    of the pool holds the best ever. Row i of the history gets its values after generation i of
    this call.
    """
    flags = work.flags
    best = person_of(pool, len(pool.genes) - 1)
    bred = 0
    for generation in range(generations):
        for i in range(flags[NEXT_CHILD], len(children), 2):
            if bred >= most_children:
                flags[NEXT_CHILD] = i
                return generation
            second = children[i + 1] if i + 1 < len(children) else NOBODY
            breed_pair(
                problem,
                pool,
                parents,
                children[i],
                second,
                plan,
                cross,
                mutate,
                select,
                improve,
                work,
                i,
            )
            if flags[BAD_JOB] != NOBODY:
                return generation
            keep_best_ever(best, person_of(pool, children[i]), flags)
            if second != NOBODY:
                keep_best_ever(best, person_of(pool, second), flags)
            bred += 2
        flags[NEXT_CHILD] = 0
        sort_slots(pool, children, len(children))
        if merge:
            keep_best_of_all(pool, parents, children, spare)
        else:
            keep_children(pool, parents, children)
        flags[GENERATION] += 1
        if flags[GENERATION] % REFRESH == 0:
            for i in range(len(parents)):
                evaluate(problem, person_of(pool, parents[i]), work, True)
            sort_slots(pool, parents, len(parents))
        copy(history[generation], best.value)
        if flags[GENERATION] - flags[IMPROVED_AT] >= patience:
            return generation + 1
    return generations


@njit(void(PROBLEM_TYPE, POOL_TYPE, _INTS, WORK_TYPE), nogil=True, cache=True, _nrt=False)
def value_all(problem, pool, slots, work):
    """Value the persons in these slots from their genes and sort the slots, the best first."""
    for i in range(len(slots)):
        evaluate(problem, person_of(pool, slots[i]), work, True)
        work.flags[EVALUATIONS] += 1
    sort_slots(pool, slots, len(slots))


@njit(
    float64(_READ_MATRIX, _READ_REALS, int64, _REALS, _REALS, _REALS),
    nogil=True,
    cache=True,
    _nrt=False,
)
def find_prices(times, ready, rounds, prices, best_prices, load):
    """Raise the prices of machines that finish late until none gains; return the bound they prove.

    Whatever the prices, no makespan is below the priced work of all jobs, each where it is
    cheapest: the dual of the assignment LP. Each round changes the prices by the loads they cause.
    """
    jobs, machines = times.shape
    best = -1.0
    for machine in range(machines):
        prices[machine] = 1.0 / machines
    for step in range(rounds):
        bound = 0.0
        for machine in range(machines):
            load[machine] = ready[machine]
            bound += prices[machine] * ready[machine]
        for job in range(jobs):
            cheapest = 0
            least = math.inf
            for machine in range(machines):
                cost = prices[machine] * times[job, machine]
                if cost < least:
                    cheapest, least = machine, cost
            load[cheapest] += times[job, cheapest]
            bound += least
        if bound > best:
            best = bound
            copy(best_prices, prices)
        rate = 0.5 / (1.0 + 0.05 * step)
        total = 0.0
        for machine in range(machines):
            surplus = min(max(load[machine] / bound - 1.0, -2.0), 2.0)
            prices[machine] *= math.exp(rate * surplus)
            total += prices[machine]
        for machine in range(machines):
            prices[machine] /= total
    return best

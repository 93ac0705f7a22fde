"""The instance, individuals, and a workspace, as the operators of genetic schedulers take them."""

from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    BITS,
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INT_TABLE,
    INTS,
    REAL_TABLE,
    REALS,
    SMALL_INTS,
    SMALL_TABLE,
)
from queuesmith.compiled.chance import below

# Places in an individual's values.
MAKESPAN, FLOWTIME, PRIMARY, SECONDARY = range(4)
VALUES = 4
# Places in the flags of a workspace.
BAD_JOB, BAD_MACHINE, IMPROVED_AT, GENERATION, EVALUATIONS, NEXT_CHILD = range(6)
FLAGS = 6
NOBODY = -1
# Rows of the workspace's integers.
ROWS = 8


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
    longest: Any  # the jobs by their mean time, the longest first
    fastest: Any  # the machines by their mean time, the shortest first
    near: Any  # how many of the first options of each job are cheap enough for annealing
    pair_job: Any  # all cheap pairs of jobs with more than one such option
    pair_machine: Any
    weights: Any  # of makespan and flowtime in the primary, of flowtime in the secondary key


class Individual(NamedTuple):
    """One individual: the rows of one slot of the pool."""

    genes: Any
    completion: Any
    flow: Any
    value: Any
    sequence: Any  # the permutation encoding, once it is known
    place: Any  # where in it each job is
    known: Any  # whether it is


class Population(Individual):
    """All individuals, a row each: parents, children, and the best ever."""

    __slots__ = ()


class Workspace(NamedTuple):
    """Arrays that operators may write to, and the state of the random numbers."""

    ints: Any  # ROWS x jobs or machines, whichever are more
    reals: Any  # as many
    counts: Any  # two rows of machines
    marks: Any  # machines x words of bits, which are 0 between calls
    members: Any  # machines x jobs; empty unless the local search needs it
    flags: Any
    random: Any


PROBLEM_TYPE = types.NamedTuple(
    [
        FROZEN_REAL_TABLE,
        FROZEN_REAL_TABLE,
        FROZEN_REALS,
        FROZEN_INT_TABLE,
        FROZEN_INTS,
        FROZEN_REALS,
        FROZEN_INT_TABLE,
        FROZEN_INT_TABLE,
        FROZEN_REAL_TABLE,
        FROZEN_INTS,
        FROZEN_INTS,
        FROZEN_INTS,
        FROZEN_INTS,
        FROZEN_INTS,
        FROZEN_REALS,
    ],
    Problem,
)
POPULATION_TYPE = types.NamedTuple(
    [INT_TABLE, REAL_TABLE, REAL_TABLE, REAL_TABLE, SMALL_TABLE, SMALL_TABLE, SMALL_TABLE],
    Population,
)
INDIVIDUAL_TYPE = types.NamedTuple(
    [INTS, REALS, REALS, REALS, SMALL_INTS, SMALL_INTS, SMALL_INTS], Individual
)
WORKSPACE_TYPE = types.NamedTuple(
    [INT_TABLE, REALS, INT_TABLE, INT_TABLE, INT_TABLE, INTS, BITS], Workspace
)


@kernel
def individual_of(pool, slot):
    """Return the individual in a slot of the pool."""
    return Individual(
        pool.genes[slot],
        pool.completion[slot],
        pool.flow[slot],
        pool.value[slot],
        pool.sequence[slot],
        pool.place[slot],
        pool.known[slot],
    )


@kernel
def random_option(problem, job, random):
    """Return a random machine that can run a job."""
    return problem.options[job, below(random, problem.option_count[job])]

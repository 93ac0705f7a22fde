"""Annealing along the cheap columns: pairs of a job and a machine that is cheap for it.

All works on these columns alone. They lie in the order of their extra cost, the job and the machine
of each side by side, so that a trial touches few lines of the processor's cache.
"""

import math
from typing import Any, NamedTuple

from numba import float64, int64, types, uint64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, REALS, SMALL_INTS, SMALL_TABLE
from queuesmith.compiled.chance import below, uniform

# What a row of ``Columns.pair`` holds.
JOB, MACHINE = range(2)
#: What is worse by so many temperatures is not tried at all: exp(-20) is 2e-9.
HOPELESS = 20.0


class Columns(NamedTuple):
    """The cheap columns by ascending extra (reduced) cost, times over the bound."""

    pair: Any  # columns x 2: the job and the machine
    time: Any
    extra: Any
    of_job: Any  # columns, job by job
    first: Any  # where those of each job begin, and where the last end
    offered: Any  # jobs x words: one bit a machine, 1 where the job has a column there
    price: Any  # of lateness on each machine


class ColumnState(NamedTuple):
    """A mapping in the making."""

    column: Any  # of each job
    load: Any
    member: Any  # machines x jobs: those on each machine, in any order
    place: Any  # of each job in that list
    count: Any
    seed: Any


COLUMNS_TYPE = types.NamedTuple(
    [SMALL_TABLE, REALS, REALS, SMALL_INTS, INTS, uint64[:, ::1], REALS], Columns
)
COLUMN_STATE_TYPE = types.NamedTuple(
    [SMALL_INTS, REALS, SMALL_TABLE, SMALL_INTS, INTS, BITS], ColumnState
)


@kernel
def use(columns, state, column):
    """Let a job use another column, and update the loads and the lists."""
    job, goal = columns.pair[column, JOB], columns.pair[column, MACHINE]
    before = state.column[job]
    home = columns.pair[before, MACHINE]
    state.column[job] = column
    state.load[home] -= columns.time[before]
    state.load[goal] += columns.time[column]
    state.count[home] -= 1
    last = state.member[home, state.count[home]]
    state.member[home, state.place[job]] = last
    state.place[last] = state.place[job]
    state.member[goal, state.count[goal]] = job
    state.place[job] = state.count[goal]
    state.count[goal] += 1


@kernel
def change_at(columns, state, target, steep, machine, added):
    """Return by how much more is priced beyond the target if a machine's load changes."""
    before = max(state.load[machine] - target, 0.0)
    after = max(state.load[machine] - target + added, 0.0)
    return columns.price[machine] * (after - before) * (1.0 + steep * (after + before))


@kernel
def accepted(state, worse, temperature):
    """Tell by Metropolis' rule whether to take what is worse by so much."""
    if worse <= 0.0:
        return True
    return worse < HOPELESS * temperature and uniform(state.seed) < math.exp(-worse / temperature)


@kernel
def choose_return(columns, state, home, goal):
    """Return a column by which a job of the goal can go home in exchange, or -1."""
    size = state.count[goal]
    at = below(state.seed, size)
    word, bit = home >> 6, uint64(1) << uint64(home & 63)
    for _ in range(size):
        peer = state.member[goal, at]
        if columns.offered[peer, word] & bit:
            place = columns.first[peer]
            while columns.pair[columns.of_job[place], MACHINE] != home:
                place += 1
            return int64(columns.of_job[place])
        at = at + 1 if at + 1 < size else 0
    return -1


@kernel
def try_swap(columns, state, column, target, steep, temperature):
    """Let a job use another column while one of the goal takes its place, by Metropolis' rule."""
    before = state.column[columns.pair[column, JOB]]
    goal, home = columns.pair[column, MACHINE], columns.pair[before, MACHINE]
    back = choose_return(columns, state, home, goal)
    if back < 0:
        return
    arriving = columns.time[column] - columns.time[state.column[columns.pair[back, JOB]]]
    leaving = columns.time[back] - columns.time[before]
    worse = change_at(columns, state, target, steep, goal, arriving)
    worse += change_at(columns, state, target, steep, home, leaving)
    if accepted(state, worse, temperature):
        use(columns, state, column)
        use(columns, state, back)


@kernel
def try_column(columns, state, target, steep, temperature, swaps):
    """Let a job use another column, one of small extra cost more often, by Metropolis' rule.

    Some of the moves that are refused are tried once more with another job in exchange, so that
    both machines keep about their loads.
    """
    chance = uniform(state.seed)
    column = int64(chance * chance * len(columns.time))
    before = state.column[columns.pair[column, JOB]]
    if column == before:
        return
    goal, home = columns.pair[column, MACHINE], columns.pair[before, MACHINE]
    worse = change_at(columns, state, target, steep, goal, columns.time[column])
    worse += change_at(columns, state, target, steep, home, -columns.time[before])
    if accepted(state, worse, temperature):
        use(columns, state, column)
    elif swaps > 0.0 and state.count[goal] > 0 and uniform(state.seed) < swaps:
        try_swap(columns, state, column, target, steep, temperature)


@entry(void(COLUMNS_TYPE, COLUMN_STATE_TYPE, float64, float64, float64, float64, int64))
def anneal_columns(columns, state, target, steep, temperature, swaps, steps):
    """Make machines keep to the target by moves of single jobs, and by swaps of two."""
    for _ in range(steps):
        try_column(columns, state, target, steep, temperature, swaps)

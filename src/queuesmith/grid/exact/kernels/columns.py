"""Annealing along the cheap columns: pairs of a job and a machine that is cheap for it.

All works on these columns alone. They fit into a processor's cache, where all jobs' times on all
machines would not.
"""

import math
from typing import Any, NamedTuple

from numba import float64, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import (
    BITS,
    FROZEN_SMALL_TABLE,
    INTS,
    REALS,
    SMALL_INTS,
    SMALL_TABLE,
)
from queuesmith.compiled.chance import below, uniform


class Columns(NamedTuple):
    """The cheap columns, job by job, times over the bound."""

    machine: Any
    time: Any
    owner: Any  # the job of each column
    extra: Any  # the reduced cost of each
    order: Any  # columns by ascending extra cost
    price: Any  # of lateness on each machine
    place: Any  # jobs x machines: which column it is, or -1 where it is none of these


class ColumnState(NamedTuple):
    """A mapping in the making."""

    column: Any  # of each job
    load: Any
    member: Any  # machines x jobs: those on each machine, in any order
    place: Any  # of each job in that list
    count: Any
    seed: Any


COLUMNS_TYPE = types.NamedTuple(
    [INTS, REALS, INTS, REALS, INTS, REALS, FROZEN_SMALL_TABLE], Columns
)
COLUMN_STATE_TYPE = types.NamedTuple(
    [INTS, REALS, SMALL_TABLE, SMALL_INTS, INTS, BITS], ColumnState
)


@kernel
def use(columns, state, column):
    """Let a job use another column, and update the loads and the lists."""
    job = columns.owner[column]
    before = state.column[job]
    home, goal = columns.machine[before], columns.machine[column]
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
def choose_return(columns, state, home, goal, swaps):
    """Return the column by which some job of the goal would go home in exchange, or -1."""
    if swaps == 0.0 or state.count[goal] == 0 or uniform(state.seed) >= swaps:
        return -1
    peer = state.member[goal, below(state.seed, state.count[goal])]
    return int64(columns.place[peer, home])


@kernel
def try_column(columns, state, target, steep, temperature, swaps):
    """Let a job use another column, one of small extra cost more often, by Metropolis' rule.

    At times another job takes its place, so that both machines keep about their loads.
    """
    chance = uniform(state.seed)
    column = columns.order[int64(chance * chance * len(columns.order))]
    before = state.column[columns.owner[column]]
    if column == before:
        return
    goal, home = columns.machine[column], columns.machine[before]
    arriving, leaving = columns.time[column], -columns.time[before]
    back = choose_return(columns, state, home, goal, swaps)
    if back >= 0:
        arriving -= columns.time[state.column[columns.owner[back]]]
        leaving += columns.time[back]
    worse = change_at(columns, state, target, steep, goal, arriving)
    worse += change_at(columns, state, target, steep, home, leaving)
    if worse <= 0 or uniform(state.seed) < math.exp(-worse / temperature):
        use(columns, state, column)
        if back >= 0:
            use(columns, state, back)


@entry(void(COLUMNS_TYPE, COLUMN_STATE_TYPE, float64, float64, float64, float64, int64))
def anneal_columns(columns, state, target, steep, temperature, swaps, steps):
    """Make machines keep to the target by moves of single jobs, and by swaps of two."""
    for _ in range(steps):
        try_column(columns, state, target, steep, temperature, swaps)

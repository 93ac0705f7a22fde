"""Annealing along the cheap columns: pairs of a job and a machine that is cheap for it.

All works on these columns alone. They fit into a processor's cache, where all jobs' times on all
machines would not.
"""

import math
from typing import Any, NamedTuple

from numba import float64, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import BITS, INTS, REALS
from queuesmith.compiled.chance import uniform


class Columns(NamedTuple):
    """The cheap columns, job by job, times over the bound."""

    machine: Any
    time: Any
    owner: Any  # the job of each column
    extra: Any  # the reduced cost of each
    order: Any  # columns by ascending extra cost
    price: Any  # of lateness on each machine


class ColumnState(NamedTuple):
    """A mapping in the making."""

    column: Any  # of each job
    load: Any
    seed: Any


COLUMNS_TYPE = types.NamedTuple([INTS, REALS, INTS, REALS, INTS, REALS], Columns)
COLUMN_STATE_TYPE = types.NamedTuple([INTS, REALS, BITS], ColumnState)


@kernel
def use(columns, state, column):
    """Let a job use another column, and update the loads."""
    job = columns.owner[column]
    before = state.column[job]
    state.column[job] = column
    state.load[columns.machine[before]] -= columns.time[before]
    state.load[columns.machine[column]] += columns.time[column]


@kernel
def change_at(columns, state, target, steep, machine, added):
    """Return by how much more is priced beyond the target if a machine's load changes."""
    before = max(state.load[machine] - target, 0.0)
    after = max(state.load[machine] - target + added, 0.0)
    return columns.price[machine] * (after - before) * (1.0 + steep * (after + before))


@kernel
def try_column(columns, state, target, steep, temperature):
    """Let a job use another column, one of small extra cost more often, by Metropolis' rule."""
    chance = uniform(state.seed)
    column = columns.order[int64(chance * chance * len(columns.order))]
    before = state.column[columns.owner[column]]
    if column == before:
        return
    goal, home = columns.machine[column], columns.machine[before]
    worse = change_at(columns, state, target, steep, goal, columns.time[column])
    worse += change_at(columns, state, target, steep, home, -columns.time[before])
    if worse <= 0 or uniform(state.seed) < math.exp(-worse / temperature):
        use(columns, state, column)


@entry(void(COLUMNS_TYPE, COLUMN_STATE_TYPE, float64, float64, float64, int64))
def anneal_columns(columns, state, target, steep, temperature, steps):
    """Make machines keep to the target by single moves."""
    for _ in range(steps):
        try_column(columns, state, target, steep, temperature)

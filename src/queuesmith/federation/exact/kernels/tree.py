"""A tree of all plans, cut down to a proof by what the waiting jobs can earn."""

from typing import Any, NamedTuple

from numba import boolean, float64, int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, REAL_TABLE, REALS
from queuesmith.federation.exact.kernels.plans import MODES_TYPE
from queuesmith.federation.exact.kernels.states import STATES_TYPE, add_job
from queuesmith.federation.exact.kernels.steps import (
    BEST,
    MOST_NODES,
    NODES,
    SPACE_TYPE,
    earliest,
    earliest_end,
    join_running,
)

#: What a bound must exceed a makespan by, relatively, before rounding is out of the question.
MARGIN = 1e-9


class Tree(NamedTuple):
    """A path in the tree of all plans, by depth."""

    clock: Any
    waiting: Any  # bits
    cursor: Any
    last: Any
    span: Any
    running: Any
    run_mode: Any
    run_end: Any
    need: Any  # depth x prices
    chosen: Any
    start: Any
    tables: Any  # prices x sets of jobs x states
    prices: Any
    shortest: Any


TREE_TYPE = types.NamedTuple(
    [
        *([INTS] * 6),
        *(INT_TABLE, INT_TABLE, REAL_TABLE, INTS, INTS),
        *(float64[:, :, ::1], REAL_TABLE, INTS),
    ],
    Tree,
)


@entry(void(MODES_TYPE, STATES_TYPE, REALS, REAL_TABLE))
def fill_table(modes, states, rate, table):
    """Tabulate what each set of jobs can earn in each state."""
    table[0, :] = 0.0
    for jobs in range(1, len(table)):
        lowest = 0
        while not jobs >> lowest & 1:
            lowest += 1
        add_job(modes, states, rate, lowest, table[jobs & ~(1 << lowest)], table[jobs])


@kernel
def hopeless(states, tree, depth, job, start, free, count, best):
    """Return whether no plan that goes on so can be shorter than the best."""
    waiting = tree.waiting[depth] & ~(int64(1) << job)
    for other in range(len(tree.shortest)):
        if waiting >> other & 1 and start + tree.shortest[other] >= best:
            return True
    for i in range(len(tree.prices)):
        need = tree.need[depth, i] - tree.prices[i, job]
        tree.need[depth + 1, i] = need
    for i in range(len(tree.prices)):
        end = earliest_end(
            states,
            tree.tables[i, waiting],
            tree.need[depth + 1, i],
            start,
            free,
            count,
            tree.run_mode[depth + 1],
            tree.run_end[depth + 1],
        )
        if end * (1 - MARGIN) > best - 1:
            return True
    return False


@kernel
def keep_path(modes, space, tree, span):
    """Keep the plan that the path has become."""
    space.result[BEST] = span
    for depth in range(len(tree.chosen)):
        job = modes.job[tree.chosen[depth]]
        space.best_mode[job] = tree.chosen[depth]
        space.best_start[job] = tree.start[depth]


@kernel
def next_mode(modes, tree, depth, before, after):
    """Return the next mode to try at a depth, or -1 where there is none."""
    while tree.cursor[depth] < len(modes.duration):
        mode = tree.cursor[depth]
        job = modes.job[mode]
        waits = tree.waiting[depth] >> job & 1
        # Plans can be run backwards, so that one of two jobs that never overlap may go first.
        if waits and not (job == after and tree.waiting[depth] >> before & 1):
            tree.cursor[depth] += 1
            return mode
        tree.cursor[depth] = modes.first[job + 1]
    return -1


@entry(boolean(MODES_TYPE, STATES_TYPE, SPACE_TYPE, TREE_TYPE, int64, int64, int64, int64))
def search_tree(modes, states, space, tree, before, after, part, parts):
    """Look through all plans shorter than the best; return whether none is left to look at.

    Of ``parts`` that share the work this one has the first modes whose number leaves ``part``.
    """
    jobs = len(tree.chosen)
    tree.waiting[0] = (int64(1) << jobs) - 1
    tree.clock[0], tree.cursor[0], tree.last[0] = 0, 0, -1
    tree.span[0], tree.running[0] = 0, 0
    depth = 0
    while depth >= 0:
        mode = next_mode(modes, tree, depth, before, after)
        if mode < 0:
            depth -= 1
            continue
        if depth == 0 and mode % parts != part:
            continue
        space.result[NODES] += 1
        if space.halt[0] or space.result[NODES] > space.result[MOST_NODES]:
            return False
        job = modes.job[mode]
        start, free, ended = earliest(
            modes,
            states,
            space.room,
            tree.clock[depth],
            tree.running[depth],
            tree.run_mode[depth],
            tree.run_end[depth],
            mode,
        )
        if start == tree.clock[depth] and job < tree.last[depth]:
            continue
        end = start + modes.duration[mode]
        if end >= space.result[BEST]:
            continue
        span = max(tree.span[depth], end)
        tree.chosen[depth], tree.start[depth] = mode, start
        if depth == jobs - 1:
            keep_path(modes, space, tree, span)
            continue
        count = join_running(
            tree.run_mode[depth],
            tree.run_end[depth],
            tree.running[depth],
            ended,
            mode,
            end,
            tree.run_mode[depth + 1],
            tree.run_end[depth + 1],
        )
        free -= states.offset[mode]
        if hopeless(states, tree, depth, job, start, free, count, space.result[BEST]):
            continue
        depth += 1
        tree.running[depth], tree.clock[depth] = count, start
        tree.waiting[depth] = tree.waiting[depth - 1] & ~(int64(1) << job)
        tree.cursor[depth], tree.last[depth], tree.span[depth] = 0, job, span
    return True

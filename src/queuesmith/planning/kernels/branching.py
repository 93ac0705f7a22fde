"""Branching: windows are divided until the least bound of all open branches is high enough."""

import math
from typing import Any, NamedTuple

from numba import int64, types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, REAL_TABLE, REALS, copy
from queuesmith.compiled.heap import rise, sink
from queuesmith.planning.kernels.ascent import ascend
from queuesmith.planning.kernels.placing import place
from queuesmith.planning.kernels.pricing import GRID_TYPE, PRICES_TYPE
from queuesmith.planning.kernels.problem import JOBS_TYPE, PLACING_TYPE, STAIRCASE_TYPE
from queuesmith.planning.kernels.windows import exclude, narrow

# Places in the counters of a tree.
OPEN, USED, SPARE, NODES, IMPROVED = range(5)
COUNTERS = 5


class Tree(NamedTuple):
    """Branches: the windows of the starts, the prices, the bound, and where to split next."""

    earliest: Any
    latest: Any
    price: Any
    bound: Any
    job: Any
    split: Any
    heap: Any  # open branches, the least bound first
    spare: Any  # places that are free again
    counters: Any


class Branching(NamedTuple):
    """A proof in progress: what is planned, the prices, the branches, and the best order."""

    jobs: Any
    stairs: Any
    grid: Any
    prices: Any
    direction: Any  # in which the prices move
    successor: Any  # of each job, the next one that is like it in everything
    tree: Tree
    trial: Any
    best: Any
    placing: Any
    goal: Any  # the cost of the best schedule, and the bound from which on a branch is closed


TREE_TYPE = types.NamedTuple(
    (INT_TABLE, INT_TABLE, REAL_TABLE, REALS, INTS, INTS, INTS, INTS, INTS), Tree
)
BRANCHING_TYPE = types.NamedTuple(
    (
        JOBS_TYPE,
        STAIRCASE_TYPE,
        GRID_TYPE,
        PRICES_TYPE,
        REALS,
        INTS,
        TREE_TYPE,
        INTS,
        INTS,
        PLACING_TYPE,
        REALS,
    ),
    Branching,
)


@kernel
def bound_at(tree, place):
    """Return the bound by which the heap is ordered."""
    return tree.bound[tree.heap[place]]


@kernel
def move_open(tree, goal, source):
    """Move a branch of the heap to another place."""
    tree.heap[goal] = tree.heap[source]


@kernel
def push(tree, node):
    """Add an open branch to the heap."""
    place = rise(tree, tree.counters[OPEN], tree.bound[node], bound_at, move_open)
    tree.counters[OPEN] += 1
    tree.heap[place] = node


@kernel
def pop(tree):
    """Take the open branch of the least bound."""
    top = tree.heap[0]
    tree.counters[OPEN] -= 1
    count = tree.counters[OPEN]
    node = tree.heap[count]
    tree.heap[sink(tree, 0, count, tree.bound[node], bound_at, move_open)] = node
    return top


@kernel
def new_place(tree):
    """Return a free place for a branch."""
    if tree.counters[SPARE] > 0:
        tree.counters[SPARE] -= 1
        return tree.spare[tree.counters[SPARE]]
    tree.counters[USED] += 1
    return tree.counters[USED] - 1


@kernel
def give_back(tree, node):
    """Free the place of a branch that is closed."""
    tree.spare[tree.counters[SPARE]] = node
    tree.counters[SPARE] += 1


@kernel
def choose_split(jobs, prices, earliest, latest):
    """Return the job whose starts are most undecided, by weight; -1 where all are decided."""
    chosen, most = -1, -1.0
    for job in range(len(jobs.length)):
        if earliest[job] < latest[job]:
            reach = min(prices.spread[job], jobs.length[job])
            doubt = jobs.cores[job] * reach + 1e-9 * min(latest[job] - earliest[job], 10**9)
            if doubt > most:
                chosen, most = job, doubt
    return chosen


@kernel
def sort_by_mean(prices, order):
    """Put jobs into the order of their average starts, by insertion."""
    for i in range(len(order)):
        order[i] = i
    for i in range(1, len(order)):
        job = order[i]
        k = i
        while k > 0 and prices.mean[order[k - 1]] > prices.mean[job]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = job


@kernel
def try_order(proof):
    """Place jobs by their average starts; keep the order if it is the best so far."""
    goal = proof.goal
    sort_by_mean(proof.prices, proof.trial)
    cost = place(proof.jobs, proof.stairs, proof.trial, proof.placing)
    if cost < goal[0]:
        goal[1] -= goal[0] - cost
        goal[0] = cost
        copy(proof.best, proof.trial)
        proof.tree.counters[IMPROVED] += 1


@kernel
def least_cost(jobs, earliest):
    """Return the cost if every job started at its earliest."""
    cost = 0.0
    for job in range(len(earliest)):
        cost += jobs.weight[job] * earliest[job]
    return cost


@kernel
def fits_windows(proof, earliest, latest):
    """Narrow the windows of a branch; return whether anything is left of them."""
    return narrow(proof.jobs, proof.stairs, proof.successor, earliest, latest, proof.placing)


@kernel
def settle(proof, node, steps, patience):
    """Bound a branch and find where to split it; return whether it stays open."""
    jobs, grid, prices, tree, aim = proof.jobs, proof.grid, proof.prices, proof.tree, proof.goal[1]
    earliest, latest = tree.earliest[node], tree.latest[node]
    if not fits_windows(proof, earliest, latest):
        return False
    copy(prices.price, tree.price[node])
    bound = ascend(jobs, grid, prices, proof.direction, earliest, latest, aim, steps, 1.0, patience)
    tree.bound[node] = max(tree.bound[node], bound)
    if tree.bound[node] >= aim:
        return False
    copy(prices.price, prices.best)
    copy(tree.price[node], prices.best)
    exclude(jobs, grid, prices, earliest, latest, bound, aim)
    if not fits_windows(proof, earliest, latest):
        return False
    tree.bound[node] = max(tree.bound[node], least_cost(jobs, earliest))
    if tree.bound[node] >= aim:
        return False
    job = choose_split(jobs, prices, earliest, latest)
    tree.job[node] = job
    if job < 0:  # one start is left for each job, and all fit: placing them closes the branch
        copy(prices.mean, earliest)
        return True
    middle = math.floor(prices.mean[job])
    tree.split[node] = min(max(middle, earliest[job]), latest[job] - 1)
    return True


@kernel
def split(tree, node):
    """Divide a branch where it was found to be undecided; return the place of the second part."""
    job, other = tree.job[node], new_place(tree)
    copy(tree.earliest[other], tree.earliest[node])
    copy(tree.latest[other], tree.latest[node])
    copy(tree.price[other], tree.price[node])
    tree.bound[other] = tree.bound[node]
    tree.latest[node, job] = tree.split[node]
    tree.earliest[other, job] = tree.split[node] + 1
    return other


@kernel
def plant(proof, steps, patience):
    """Settle the root, whose windows are in the first place of the tree."""
    tree = proof.tree
    tree.bound[0] = -math.inf
    tree.counters[USED] = 1
    copy(tree.price[0], proof.prices.price)
    if settle(proof, 0, steps, patience):
        push(tree, 0)
        try_order(proof)


@entry(void(BRANCHING_TYPE, int64, int64, int64))
def branch(proof, nodes, steps, patience):
    """Settle the root, if that has not been done; then split the open branches of the least bound,
    so many of them.
    """
    tree = proof.tree
    if tree.counters[USED] == 0:
        plant(proof, steps, patience)
    for _ in range(nodes):
        spare = len(tree.bound) - tree.counters[USED] + tree.counters[SPARE]
        if tree.counters[OPEN] == 0 or spare < 2:
            break
        node = pop(tree)
        if tree.bound[node] >= proof.goal[1]:
            tree.counters[OPEN] = 0
            break
        tree.counters[NODES] += 1
        for child in (node, split(tree, node)):
            if settle(proof, child, steps, patience):
                push(tree, child)
                try_order(proof)
            else:
                give_back(tree, child)

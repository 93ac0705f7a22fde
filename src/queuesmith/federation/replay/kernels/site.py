"""A federation, its jobs, and a replay in progress."""

import functools
from typing import Any, NamedTuple

from numba import float64, int64, types, uint8

from queuesmith.compiled import kernel as any_kernel
from queuesmith.compiled.arrays import INTS, REAL_TABLE, REALS

# Allocation rules.
FASTEST, MOST_FREE, ONE_CLUSTER, LINK_AWARE, CHEAPEST = range(5)

# Places in the array of counters.
NOW, ARRIVED, ENTERED, IN_WINDOW, STARTED, RUNNING, LINKED, FREE = range(8)
COUNTERS = 8

NOBODY = -1
TOO_WIDE = 2**40  # wider than any federation
NEVER = 2**62
LINK_TOLERANCE = 1e-9  # see fitting.py


class Ground(NamedTuple):
    """The federation: groups of nodes that are alike, in the order of their clusters."""

    group_cluster: Any
    group_power: Any
    group_first: Any  # where the members of each group begin; one more at the end
    members: Any  # the nodes of all groups
    node_group: Any
    by_power: Any  # groups from the fastest to the slowest
    cluster_group: Any  # the first group of each cluster; one more at the end
    bandwidth: Any
    group_class: Any  # for the rule CHEAPEST: groups of a like power, the fastest class first
    class_power: Any  # the greatest power in each class
    class_price: Any  # of a second on a node
    by_price: Any  # classes from the cheapest to the dearest


class Work(NamedTuple):
    """The jobs, in the order of their arrival."""

    submit: Any
    tasks: Any
    base_time: Any
    task_bandwidth: Any
    sigma: Any
    offset: Any
    bill: Any  # what each job costs at least, for the rule CHEAPEST


class Line(NamedTuple):
    """Waiting jobs by rank: a tree of the fewest tasks below each node; leaves are the ranks.

    It answers "who is the next in line that has no more tasks than this?" in a few steps.
    """

    tree: Any
    job_at: Any
    rank: Any


class Running(NamedTuple):
    """What becomes of each job, and what those that run have still to do."""

    start: Any
    end: Any  # as the rates are now
    nodes: Any
    use: Any  # jobs x links (eq. 4)
    slowest: Any  # the power of its slowest node
    remaining: Any  # base seconds still to do at ``since``
    since: Any
    cost: Any  # ct since then (eq. 2)
    heap: Any  # running jobs, the next to end first
    heap_place: Any
    linked: Any  # running jobs that use links
    linked_place: Any


class Site(NamedTuple):
    """What is free, and how loaded the links are."""

    node_free: Any
    group_free: Any
    cluster_free: Any
    class_free: Any
    load: Any
    users: Any
    slowdown: Any  # of each link (eq. 6)
    counter: Any


class Manner(NamedTuple):
    """How waiting jobs become running ones."""

    rule: Any  # an allocation rule
    fit: Any  # whether any job that fits may start, or only the first in line
    limit: Any  # how many times its bandwidth each link may be loaded
    window: Any  # how many waiting jobs are looked at
    deadline: Any  # jobs wait for faster nodes where only these let them end by then
    patience: Any  # jobs wait where their nodes would cost so many times the least


class Draft(NamedTuple):
    """Room for one decision."""

    chosen: Any  # nodes of each group
    best: Any
    order: Any  # of groups
    clusters: Any  # order of clusters
    on_cluster: Any
    low: Any  # the most tasks on each cluster for which its link has room
    left: Any


FLAGS = uint8[::1]
GROUND_TYPE = types.NamedTuple((INTS, REALS, *(INTS,) * 5, REALS, INTS, REALS, REALS, INTS), Ground)
WORK_TYPE = types.NamedTuple((INTS, INTS, *(REALS,) * 3, INTS, REALS), Work)
LINE_TYPE = types.NamedUniTuple(INTS, 3, Line)
RUNNING_TYPE = types.NamedTuple(
    (INTS, INTS, INTS, REAL_TABLE, REALS, REALS, INTS, REALS, *(INTS,) * 4), Running
)
SITE_TYPE = types.NamedTuple((FLAGS, *(INTS,) * 3, REALS, INTS, REALS, INTS), Site)
MANNER_TYPE = types.NamedTuple((int64, int64, float64, int64, float64, float64), Manner)
DRAFT_TYPE = types.NamedUniTuple(INTS, 7, Draft)

# Nothing here divides by 0.
kernel = functools.partial(any_kernel, error_model="numpy")


@kernel
def link_use(tasks, each, here):
    """The bandwidth of a job with so many tasks on a cluster (eq. 4)."""
    return here * each * (tasks - here) / max(tasks - 1, 1)

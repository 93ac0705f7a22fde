"""A bound for large queues in seconds: work and width, level by level of speed.

A job whose slowest node has power ``p`` runs wholly on the nodes of at least that power. So for
every level of power, the jobs that keep to it share its nodes: their work fits (an area), and so do
their widths under any dual feasible function. The LP chooses each job's slowest level, fractions
allowed::

    for each level and each function u:  sum of u(tasks / nodes) * duration <= makespan

Whatever the solver's tolerances, any multipliers of these rows (from 0 up, together 1) prove a
bound: each job then costs at least its cheapest level. Links are left out, which only lowers it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.quick_bound import simple_bound
from queuesmith.federation.model.time_cost import durations_by_level
from queuesmith.solving.libraries import solver_library

#: The functions are made for 1 to so many jobs side by side.
MOST_SIDE_BY_SIDE = 6
#: More different powers than this are told apart only roughly.
MOST_LEVELS = 6
#: How many functions are used at each level: those under which the jobs are largest.
MOST_FUNCTIONS = 4
#: What is taken off a bound for the rounding of the arithmetic, as a share of it.
ROUNDING = 1e-9


def quick_bound(federation: Federation, jobs: FederationJobs) -> int:
    """Return a proven lower bound on the makespan, in whole seconds, for any saturation.

    It takes seconds for a thousand jobs on twenty clusters.
    """
    seconds, nodes = _levels(federation, jobs)
    weight = _weights(jobs.tasks, nodes, seconds[:, 0])
    reach = jobs.tasks[:, None] <= nodes
    proven = _safe_value(weight, seconds, reach, _multipliers(weight, seconds, reach))
    together = int(jobs.submit.min()) + proven
    return max(simple_bound(federation, jobs), math.ceil(together * (1 - ROUNDING)))


def _levels(federation: Federation, jobs: FederationJobs) -> tuple[Ints, Ints]:
    """The seconds of each job at each level, and the nodes of at least its power.

    Where there are many powers, neighbours become one level: as fast as its fastest, with the nodes
    down to its slowest. That makes jobs no longer and room no less.
    """
    seconds = durations_by_level(federation, jobs)
    level = np.searchsorted(-federation.levels, -federation.node_power)
    nodes = np.cumsum(np.bincount(level, minlength=seconds.shape[1])).astype(np.int64)
    last = np.arange(len(nodes))
    if len(nodes) > MOST_LEVELS:
        last = np.linspace(0, len(nodes), MOST_LEVELS + 1)[1:].astype(np.int64) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    return seconds[:, first], nodes[last]


def _weights(tasks: Ints, nodes: Ints, seconds: Ints) -> Floats:
    """What share of the nodes each job counts for: levels x functions x jobs."""
    rows = []
    for count in nodes.tolist():
        functions = _functions(np.minimum(tasks, count), count)
        size = functions @ seconds
        rows.append(functions[np.argsort(-size, kind="stable")[:MOST_FUNCTIONS]])
    return np.array(rows)


def _functions(tasks: Ints, nodes: int) -> Floats:
    """Dual feasible functions of the jobs' widths: jobs side by side count for 1 at most.

    The first is the share of the nodes itself. For ``k`` side by side (Fekete and Schepers 1998), a
    share ``x`` counts as itself where ``x (k + 1)`` is whole, else as ``floor(x (k + 1)) / k``.
    The last ones (Martello and Toth 1990) count the widest fully and the narrowest not at all.
    """
    functions = [tasks / nodes]
    for k in range(1, MOST_SIDE_BY_SIDE + 1):
        scaled = tasks * (k + 1)
        functions.append(np.where(scaled % nodes == 0, tasks / nodes, (scaled // nodes) / k))
    for part in (4, 3, 2):
        inner = np.where(part * tasks < nodes, 0.0, tasks / nodes)
        functions.append(np.where(part * tasks > (part - 1) * nodes, 1.0, inner))
    return np.array(functions)


def _cost(weight: Floats, seconds: Ints, multiplier: Floats) -> Floats:
    """What each job costs at each slowest level: levels that it keeps to charge it."""
    charge = np.einsum("lf,lfj->lj", multiplier, weight)
    return np.asarray(np.cumsum(charge[::-1], axis=0)[::-1].T * seconds)


def _safe_value(
    weight: Floats, seconds: Ints, reach: NDArray[np.bool_], multiplier: Floats
) -> float:
    """The bound that multipliers prove."""
    total = float(multiplier.sum())
    if total <= 0:
        return 0.0
    cost = np.where(reach, _cost(weight, seconds, multiplier / total), np.inf)
    return float(cost.min(axis=1).sum())


def _multipliers(weight: Floats, seconds: Ints, reach: NDArray[np.bool_]) -> Floats:
    """The LP's multipliers, each from 0 up; all 0 where the solver fails."""
    optimize, sparse = solver_library("scipy.optimize"), solver_library("scipy.sparse")
    levels, functions, count = weight.shape
    # Variables: the share of each job at each level, then the makespan.
    charge = weight.reshape(-1, count)[:, :, None] * (seconds / float(seconds.sum()))
    keeps = np.arange(levels) <= np.repeat(np.arange(levels), functions)[:, None]
    rows = (charge * keeps[:, None, :]).reshape(levels * functions, -1)
    rows = np.column_stack([rows, np.full(len(rows), -1.0)])
    whole: Any = sparse.kron(sparse.eye(count), np.ones((1, levels)), format="csr")
    upper = np.append(np.where(reach, 1.0, 0.0).ravel(), np.inf)
    found = optimize.linprog(
        np.append(np.zeros(count * levels), 1.0),
        A_ub=sparse.csr_matrix(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=sparse.hstack([whole, sparse.csr_matrix((count, 1))], format="csr"),
        b_eq=np.ones(count),
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method="highs",
    )
    if found.x is None:
        return np.zeros((levels, functions))
    return np.asarray(np.maximum(-found.ineqlin.marginals, 0.0).reshape(levels, functions))

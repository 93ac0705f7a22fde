"""What no mapping can be below: the assignment LP, and its prices as a safe bound.

Whatever a solver's tolerances, any prices of the machines (from 0 up, together 1) prove a bound::

    makespan >= sum_m price_m * completion_m
             >= sum_j min_m price_m * time_jm + sum_m price_m * ready_m

The LP finds the prices for which it is largest; the bound is then computed from them alone.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.errors import QueuesmithError
from queuesmith.grid.etc_matrix import EtcMatrix, Floats
from queuesmith.grid.prices import balanced_prices
from queuesmith.solvers import solver_library

#: Where not all columns are in the LP from the start: how many there are for each job, about.
FEW = 2.4
#: Instances of at most so many columns are solved at once.
AT_ONCE = 40_000
#: A column is worth adding where its cost is below the job's by so much, relatively to the bound.
WORTH = 1e-9
#: Linear assignments of more cells (jobs times positions) are not begun.
MOST_CELLS = 20_000_000
#: Each rounding of a sum of positive numbers loses at most so much, relatively.
ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Bound:
    """A proven bound on the makespan, with the prices that prove it.

    Parameters
    ----------
    matrix
        The jobs and machines.
    price
        The price of each machine's time, from 0 up, together 1.
    priced
        What they prove.
    value
        What no makespan is below: that, or a simpler bound where it is larger.
    share
        The LP's fractions of each job on each machine, where an LP was solved.
    """

    matrix: EtcMatrix
    price: Floats
    priced: float
    value: float
    share: Floats | None = None

    @cached_property
    def extra(self) -> Floats:
        """By how much each column raises the bound if it is used: its reduced cost."""
        return _extra(self.matrix.times, self.price)

    def columns(self, above: float) -> NDArray[np.bool_]:
        """Return the columns that a mapping of a makespan below ``above`` can use at all."""
        slack = (above - self.priced) * (1 + 1e-9) + 1e-12 * above
        return np.asarray(self.extra <= slack)


def lower_bound(matrix: EtcMatrix, *, seconds: float = math.inf) -> Bound:
    """Return the bound of the assignment LP.

    Parameters
    ----------
    matrix
        The jobs and machines.
    seconds
        How long the solver may take; a bound from the prices found by then is still valid.
    """
    price, share = _solve_lp(matrix, seconds)
    return safe_bound(matrix, price, share)


def safe_bound(matrix: EtcMatrix, price: Floats, share: Floats | None = None) -> Bound:
    """Return the bound that prices prove, whatever they are and wherever they come from.

    Negative prices count as 0; the sum is made 1. The result is never below the largest of the
    jobs' own earliest finishing times, nor below the latest ready time of a machine.
    """
    weights = np.maximum(np.nan_to_num(price, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    total = math.fsum(weights)
    if total <= 0:
        weights, total = np.ones(matrix.machines), float(matrix.machines)
    weights = weights / total
    proven = _priced(matrix, weights)
    plain = trivial_bound(matrix)
    return Bound(matrix, weights, proven, max(proven, plain), share)


def trivial_bound(matrix: EtcMatrix) -> float:
    """Return the latest of all jobs' earliest finishing times and of the machines' ready times."""
    earliest = (matrix.ready + matrix.times).min(axis=1).max()
    return float(max(earliest, matrix.ready.max()))


def _priced(matrix: EtcMatrix, weights: Floats) -> float:
    """The bound by prices, rounded down by more than all of its roundings."""
    cheapest = _costs(matrix.times, weights).min(axis=1)
    total = math.fsum(cheapest) + math.fsum(weights * matrix.ready)
    # The products, the division by the sum of weights and the sums each round a few times.
    return total / math.fsum(weights) * (1 - 8 * ROUNDING)


def _costs(times: Floats, weights: Floats) -> Floats:
    """The price of each job on each machine; infinite where it cannot run."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(times), times * weights, np.inf)


def _extra(times: Floats, weights: Floats) -> Floats:
    costs = _costs(times, weights)
    return np.asarray(costs - costs.min(axis=1, keepdims=True))


# -- the LP ----------------------------------------------------------------------------------------


def _solve_lp(matrix: EtcMatrix, seconds: float) -> tuple[Floats, Floats | None]:
    """Return prices and shares of the LP, solved over a growing set of columns."""
    began = time.perf_counter()
    price = np.full(matrix.machines, 1 / matrix.machines)
    columns, share = matrix.compatible, None
    if matrix.times.size > AT_ONCE and matrix.machines > 1:
        price = balanced_prices(matrix)
        columns = _first_columns(matrix, price)
    left = seconds
    while left > 0:
        found = _solve_columns(matrix, columns, left)
        if found is None:
            break
        price, share = found
        missing = _worth_adding(matrix, columns, price)
        if not missing.any():
            break
        columns = columns | missing
        left = seconds - (time.perf_counter() - began)
    return price, share


def _first_columns(matrix: EtcMatrix, price: Floats) -> NDArray[np.bool_]:
    """Return the two cheapest columns of each job, and those hardly dearer than its cheapest."""
    costs = _costs(matrix.times, price)
    second = np.partition(costs, 1, axis=1)[:, 1:2]
    ratio = costs / costs.min(axis=1, keepdims=True)
    count = min(int(FEW * matrix.jobs), ratio.size) - 1
    close = (costs <= second) | (ratio <= np.partition(ratio, count, axis=None)[count])
    return np.asarray(close & matrix.compatible)


def _worth_adding(
    matrix: EtcMatrix, columns: NDArray[np.bool_], price: Floats
) -> NDArray[np.bool_]:
    """Return the columns outside the LP that are cheaper than all of the job's inside it."""
    costs = _costs(matrix.times, price)
    inside = np.where(columns, costs, np.inf).min(axis=1)
    total = float(costs.min(axis=1).sum())
    return np.asarray(costs < inside[:, None] - WORTH * total)


def _solve_columns(
    matrix: EtcMatrix, columns: NDArray[np.bool_], seconds: float
) -> tuple[Floats, Floats] | None:
    """Solve the LP over some columns; None if the solver gives up."""
    linprog = solver_library("scipy.optimize").linprog
    job, machine = np.nonzero(columns)
    model = assignment_model(matrix, job, machine)
    found = linprog(
        model.cost,
        A_ub=model.machine_rows,
        b_ub=-matrix.ready / model.scale,
        A_eq=model.job_rows,
        b_eq=np.ones(matrix.jobs),
        method="highs-ds" if len(job) <= AT_ONCE else "highs",
        options={"time_limit": seconds} if math.isfinite(seconds) else {},
    )
    if found.x is None or found.status != 0:
        return None
    share = np.zeros(matrix.times.shape)
    share[job, machine] = found.x[:-1]
    return np.maximum(-np.asarray(found.ineqlin.marginals), 0.0), share


class AssignmentModel(NamedTuple):
    """The model that LP and MIP share: a share of each column, then the makespan."""

    cost: Floats
    job_rows: Any  # each job's shares sum up to 1
    machine_rows: Any  # each machine's load less the makespan is at most -ready
    scale: float  # what times are divided by


def assignment_model(
    matrix: EtcMatrix, job: NDArray[np.int64], machine: NDArray[np.int64]
) -> AssignmentModel:
    """Return the model over the columns given, with times scaled to about 1."""
    sparse = solver_library("scipy.sparse")
    count = len(job)
    scale = max(trivial_bound(matrix), float(matrix.times.min(axis=1).sum()) / matrix.machines)
    every, ones = np.arange(matrix.machines), np.ones(matrix.machines)
    cost = np.zeros(count + 1)
    cost[-1] = 1.0
    job_rows = sparse.csr_array(
        (np.ones(count), (job, np.arange(count))), shape=(matrix.jobs, count + 1)
    )
    machine_rows = sparse.csr_array(
        (
            np.concatenate([matrix.times[job, machine] / scale, -ones]),
            (np.concatenate([machine, every]), np.append(np.arange(count), count + 0 * every)),
        ),
        shape=(matrix.machines, count + 1),
    )
    return AssignmentModel(cost, job_rows, machine_rows, scale)


# -- flowtime --------------------------------------------------------------------------------------


class Weighted(NamedTuple):
    """The mapping that minimises a weighted sum of flowtime and the machines' completion times."""

    machine: NDArray[np.int64]
    value: float


def least_weighted(
    matrix: EtcMatrix, *, flow: float = 1.0, price: Floats | None = None
) -> Weighted:
    """Return the least ``flow * flowtime + sum_m price_m * completion_m``, and its mapping.

    A job that is the k-th from the end of its machine delays k jobs, itself included. So this is a
    linear assignment of jobs to positions counted from the end. Only as many positions as are
    needed are looked at: where the last one of a machine stays empty, its price is 0, and those
    after it, which cost every job more, cannot be of use.
    """
    weights = np.zeros(matrix.machines) if price is None else np.asarray(price, dtype=np.float64)
    depth = _likely_positions(matrix)
    while True:
        _check_size(matrix, int(depth.sum()))
        found = _assign(matrix, flow, weights, depth)
        if found is None:
            depth = np.minimum(2 * depth, matrix.jobs)
            continue
        machine, value = found
        full = (np.bincount(machine, minlength=matrix.machines) == depth) & (depth < matrix.jobs)
        if not full.any():
            return Weighted(machine, value + math.fsum(weights * matrix.ready))
        depth[full] = np.minimum(2 * depth[full], matrix.jobs)


def can_assign(matrix: EtcMatrix) -> bool:
    """Return whether the linear assignment of this instance fits into memory and patience."""
    return matrix.jobs * int(_likely_positions(matrix).sum()) <= MOST_CELLS


def plain_flowtime_bound(matrix: EtcMatrix) -> float:
    """Return the flowtime if every job had all machines to itself."""
    return math.fsum((matrix.ready + matrix.times).min(axis=1)) * (1 - 4 * ROUNDING)


def _assign(
    matrix: EtcMatrix, flow: float, weights: Floats, depth: NDArray[np.int64]
) -> tuple[NDArray[np.int64], float] | None:
    """Assign jobs to the positions given; None where they do not suffice."""
    linear_sum_assignment = solver_library("scipy.optimize").linear_sum_assignment
    owner = np.repeat(np.arange(matrix.machines), depth)
    position = np.concatenate([np.arange(1, count + 1) for count in depth])
    costs = matrix.times[:, owner] * (flow * position + weights[owner])
    costs += flow * matrix.ready[owner]
    try:
        job, slot = linear_sum_assignment(costs)
    except ValueError:
        return None
    return owner[slot].astype(np.int64), math.fsum(costs[job, slot])


def _likely_positions(matrix: EtcMatrix) -> NDArray[np.int64]:
    """Guess how many jobs each machine gets: short jobs first, each where it ends first."""
    load = np.array(matrix.ready)
    count = np.zeros(matrix.machines, np.int64)
    for job in np.argsort(matrix.times.min(axis=1), kind="stable"):
        own = int(np.argmin(load + matrix.times[job]))
        load[own] += matrix.times[job, own]
        count[own] += 1
    return np.asarray(np.minimum(count + count // 4 + 4, matrix.jobs), dtype=np.int64)


def _check_size(matrix: EtcMatrix, positions: int) -> None:
    if matrix.jobs * positions > 4 * MOST_CELLS:
        raise QueuesmithError(
            f"instance '{matrix.name}' needs {matrix.jobs * positions:,} cells for its linear "
            f"assignment, but at most {4 * MOST_CELLS:,} fit. Use the method ga."
        )

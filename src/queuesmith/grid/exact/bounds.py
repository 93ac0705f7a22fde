"""What no mapping can be below: the assignment LP, and its prices as a safe bound.

Whatever a solver's tolerances, any prices of the machines (from 0 up, together 1) prove a bound::

    makespan >= sum_m price_m * completion_m
             >= sum_j min_m price_m * time_jm + sum_m price_m * ready_m

The LP finds the prices for which it is largest; the bound is then computed from them alone.

A mapping either takes longer than a limit, or none of its columns does. So the minimum may leave
out all columns longer than a limit, if the bound then claims no more than that limit. Where jobs
are long, the LP spreads one over many slow machines, none of which could run it in time; without
those columns it proves more.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.solving.libraries import solver_library

#: Where not all columns are in the LP from the start: how many there are for each job, about.
FEW = 2.4
#: Instances of at most so many columns are solved at once.
AT_ONCE = 40_000
#: A column is worth adding where its cost is below the job's by so much, relatively to the bound.
WORTH = 1e-9
#: Limits are tried until the best is known so closely, relatively.
CLOSE = 1e-7
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
    value
        What no makespan is below.
    share
        The LP's fractions of each job on each machine, where an LP was solved.
    """

    matrix: EtcMatrix
    price: Floats
    value: float
    share: Floats | None = None

    @cached_property
    def extra(self) -> Floats:
        """By how much each column raises the bound if it is used: its reduced cost.

        Infinite where a column alone takes longer than the bound.
        """
        return _extra(_costs(self.matrix, self.price, self.value))

    @property
    def rounded(self) -> NDArray[np.int64] | None:
        """The machine of each job's largest share, where an LP was solved."""
        return None if self.share is None else self.share.argmax(axis=1).astype(np.int64)

    def columns(self, above: float) -> NDArray[np.bool_]:
        """Return the columns that a mapping of a makespan of at most ``above`` can use at all."""
        slack = (above - _priced(self.matrix, self.price, above)) * (1 + 1e-9) + 1e-12 * above
        return np.asarray(_extra(_costs(self.matrix, self.price, above)) <= slack)


def lower_bound(matrix: EtcMatrix, *, seconds: float = math.inf) -> Bound:
    """Return the bound of the assignment LP over columns that are not too long.

    Parameters
    ----------
    matrix
        The jobs and machines.
    seconds
        How long the solver may take; a bound from the prices found by then is still valid.
    """
    began = time.perf_counter()
    bound = safe_bound(matrix, *_solve_lp(matrix, seconds))
    short = _finish(matrix) <= bound.value
    if bound.share is None or not bound.share[~short].any():
        return bound
    shorter = replace(matrix, times=np.where(short, matrix.times, np.inf))
    left = seconds - (time.perf_counter() - began)
    return max(bound, safe_bound(matrix, *_solve_lp(shorter, left)), key=lambda bound: bound.value)


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
    return Bound(matrix, weights, _proven(matrix, weights), share)


def trivial_bound(matrix: EtcMatrix) -> float:
    """Return the latest of all jobs' earliest finishing times and of the machines' ready times."""
    return float(max(_finish(matrix).min(axis=1).max(), matrix.ready.max()))


def _finish(matrix: EtcMatrix) -> Floats:
    """When each job would finish on each machine, were it alone there."""
    return np.asarray(matrix.ready + matrix.times)


def _proven(matrix: EtcMatrix, weights: Floats) -> float:
    """The largest bound by prices, over all limits to the columns: the lesser of limit and sum."""
    low = max(_priced(matrix, weights), trivial_bound(matrix))
    high = _priced(matrix, weights, low)
    while high > low * (1 + CLOSE):
        limit = (low + high) / 2
        proven = _priced(matrix, weights, limit)
        low, high = (limit, high) if proven >= limit else (max(low, proven), limit)
    # What is left out at this limit is left out up to the next column's end.
    finish = _finish(matrix)
    later = finish[finish > low * (1 + 8 * ROUNDING)].min(initial=math.inf)
    return max(low, min(float(later), _priced(matrix, weights, low)))


def _priced(matrix: EtcMatrix, weights: Floats, limit: float = math.inf) -> float:
    """The bound by prices over columns up to a limit, rounded down by more than its roundings."""
    cheapest = _costs(matrix, weights, limit).min(axis=1)
    total = math.fsum(cheapest) + math.fsum(weights * matrix.ready)
    # The products, the division by the sum of weights and the sums each round a few times.
    return total / math.fsum(weights) * (1 - 8 * ROUNDING)


def _costs(matrix: EtcMatrix, weights: Floats, limit: float = math.inf) -> Floats:
    """The price of each job on each machine; infinite where it cannot run within the limit."""
    finish = _finish(matrix)
    usable = np.isfinite(finish) & (finish <= limit * (1 + 8 * ROUNDING))
    costs = np.full(finish.shape, np.inf)
    np.multiply(matrix.times, weights, out=costs, where=usable)
    return costs


def _extra(costs: Floats) -> Floats:
    """By how much each column costs more than the cheapest of its job, where it has one."""
    with np.errstate(invalid="ignore"):
        extra = costs - costs.min(axis=1, keepdims=True)
    return np.where(np.isnan(extra), np.inf, extra)


# -- the LP ----------------------------------------------------------------------------------------


def _solve_lp(matrix: EtcMatrix, seconds: float) -> tuple[Floats, Floats | None]:
    """Return prices and shares of the LP, solved over a growing set of columns."""
    began = time.perf_counter()
    price = np.full(matrix.machines, 1 / matrix.machines)
    columns, share = matrix.compatible, None
    if matrix.times.size > AT_ONCE and matrix.machines > 1:
        from queuesmith.grid.exact.prices import balanced_prices  # compiled: large ones only

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
    costs = _costs(matrix, price)
    second = np.partition(costs, 1, axis=1)[:, 1:2]
    ratio = costs / costs.min(axis=1, keepdims=True)
    count = min(int(FEW * matrix.jobs), ratio.size) - 1
    close = (costs <= second) | (ratio <= np.partition(ratio, count, axis=None)[count])
    return np.asarray(close & matrix.compatible)


def _worth_adding(
    matrix: EtcMatrix, columns: NDArray[np.bool_], price: Floats
) -> NDArray[np.bool_]:
    """Return the columns outside the LP that are cheaper than all of the job's inside it."""
    costs = _costs(matrix, price)
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

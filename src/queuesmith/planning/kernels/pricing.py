"""The bound of given prices: each job takes the cheapest start for itself alone."""

from typing import Any, NamedTuple

from numba import float64, types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import INTS, REAL_TABLE, REALS, SMALL_TABLE
from queuesmith.planning.kernels.placing import stretch_of


class PriceGrid(NamedTuple):
    """Instants between which prices are constant, and where jobs lie that start or end at one."""

    time: Any
    area: Any  # core-seconds that are free in each cell
    end_cell: Any  # job x instant: the cell of the end of a job that starts at the instant
    end_rest: Any  # and the seconds from the beginning of that cell to the end
    start_cell: Any  # the same of the start of a job that ends at the instant
    start_rest: Any


class PriceState(NamedTuple):
    """Scratch of the ascent; all but ``mean``, ``spread`` and the windows are one value a cell."""

    price: Any
    best: Any
    total: Any  # price of all seconds before a cell
    use: Any  # core-seconds that the jobs want
    step: Any
    mean: Any  # average of each job's cheapest starts
    square: Any
    spread: Any  # their standard deviation
    low: Any  # of each job: the first and last instants worth a look, as start and as end
    high: Any
    low_end: Any
    high_end: Any


GRID_TYPE = types.NamedTuple(
    (INTS, REALS, SMALL_TABLE, REAL_TABLE, SMALL_TABLE, REAL_TABLE), PriceGrid
)
PRICES_TYPE = types.NamedTuple((REALS,) * 8 + (INTS,) * 4, PriceState)


@kernel
def cell_of(grid, instant):
    """Return the cell of an instant; the last one, beyond the grid, costs nothing."""
    return stretch_of(grid, len(grid.time), instant)


@kernel
def paid_until(grid, prices, instant):
    """Return the price of one core from now to an instant."""
    cell = cell_of(grid, instant)
    return prices.total[cell] + prices.price[cell] * (instant - grid.time[cell])


@kernel
def own_cost(jobs, grid, prices, job, start):
    """Return what a job pays, and costs, if it starts at an instant."""
    paid = paid_until(grid, prices, start + jobs.length[job]) - paid_until(grid, prices, start)
    return jobs.weight[job] * start + jobs.cores[job] * paid


@kernel
def add_up(grid, prices):
    """Add up the prices, and return that of all there is."""
    value = 0.0
    prices.total[0] = 0.0
    for cell in range(len(grid.area)):
        seconds = grid.time[cell + 1] - grid.time[cell]
        prices.total[cell + 1] = prices.total[cell] + prices.price[cell] * seconds
        value += prices.price[cell] * grid.area[cell]
    return value


@kernel
def find_instants(jobs, grid, prices, earliest, latest):
    """Note the instants of the grid that lie within each job's window, as start and as end."""
    for job in range(len(jobs.length)):
        prices.low[job] = cell_of(grid, earliest[job]) + 1
        prices.high[job] = cell_of(grid, latest[job] - 1) + 1
        prices.low_end[job] = cell_of(grid, earliest[job] + jobs.length[job]) + 1
        prices.high_end[job] = cell_of(grid, latest[job] + jobs.length[job] - 1) + 1


@kernel
def cheapest(jobs, grid, prices, job, earliest, latest):
    """Return the least cost of a job by itself within its window, and the start that has it."""
    weight, cores, length = jobs.weight[job], jobs.cores[job], jobs.length[job]
    start = earliest
    least = own_cost(jobs, grid, prices, job, start)
    horizon = grid.time[len(grid.time) - 1]
    if earliest < latest <= horizon:
        cost = own_cost(jobs, grid, prices, job, latest)
        if cost < least:
            least, start = cost, latest
    for i in range(prices.low[job], prices.high[job]):
        cell = grid.end_cell[job, i]
        paid = prices.total[cell] + prices.price[cell] * grid.end_rest[job, i] - prices.total[i]
        cost = weight * grid.time[i] + cores * paid
        if cost < least:
            least, start = cost, grid.time[i]
    for i in range(prices.low_end[job], prices.high_end[job]):
        cell = grid.start_cell[job, i]
        paid = prices.total[i] - prices.total[cell] - prices.price[cell] * grid.start_rest[job, i]
        cost = weight * (grid.time[i] - length) + cores * paid
        if cost < least:
            least, start = cost, grid.time[i] - length
    return least, start


@kernel
def want(jobs, grid, prices, job, start):
    """Add what a job uses of each cell: parts at its ends, and a step up and down for the rest."""
    cores, end = jobs.cores[job], start + jobs.length[job]
    first, last = cell_of(grid, start), cell_of(grid, end)
    cells = len(grid.area)
    if first >= cells:
        return
    if first == last:
        prices.use[first] += cores * (end - start)
        return
    prices.use[first] += cores * (grid.time[first + 1] - start)
    if last < cells:
        prices.use[last] += cores * (end - grid.time[last])
    prices.step[first + 1] += cores
    prices.step[last] -= cores


@kernel
def dual(jobs, grid, prices, earliest, latest, fresh):
    """Return the bound that the prices prove, and note what jobs want at these prices."""
    value = -add_up(grid, prices)
    cells = len(grid.area)
    for cell in range(cells + 1):
        prices.use[cell] = 0.0
        prices.step[cell] = 0.0
    for job in range(len(jobs.length)):
        least, start = cheapest(jobs, grid, prices, job, earliest[job], latest[job])
        value += least
        want(jobs, grid, prices, job, start)
        prices.mean[job] += fresh * (start - prices.mean[job])
        prices.square[job] += fresh * (float64(start) * start - prices.square[job])
    inside = 0.0
    for cell in range(cells):
        inside += prices.step[cell]
        prices.use[cell] += inside * (grid.time[cell + 1] - grid.time[cell])
    return value

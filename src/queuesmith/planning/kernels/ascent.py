"""Better prices: they rise where jobs want more than there is."""

import math

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import copy
from queuesmith.planning.kernels.pricing import dual, find_instants

#: Weight of the newest answer in the averages of the starts.
FRESH = 0.1
#: Share of the old direction that a step of the prices keeps.
INERTIA = 0.7
#: What the step is multiplied by when nothing gets better, and where it ends.
SHORTER, SHORTEST = 0.6, 0.01


@kernel
def steer(grid, prices, direction, inertia):
    """Turn the direction towards cells where more is wanted than there is; return its size."""
    size = 0.0
    for cell in range(len(grid.area)):
        seconds = grid.time[cell + 1] - grid.time[cell]
        excess = (prices.use[cell] - grid.area[cell]) / seconds
        direction[cell] = inertia * direction[cell] + (1 - inertia) * excess
        if prices.price[cell] > 0 or direction[cell] > 0:
            size += direction[cell] * direction[cell] * seconds
    return size


@kernel
def ascend(jobs, grid, prices, direction, earliest, latest, aim, steps, stride, patience):
    """Raise the bound by so many steps of the prices; the best are kept. Return the bound.

    Steps are Polyak's: as long as would reach the aim if all went straight, times a stride that
    shortens whenever patience ends.
    """
    cells = len(grid.area)
    find_instants(jobs, grid, prices, earliest, latest)
    bound = -math.inf
    waited, inertia, fresh = 0, 0.0, 1.0
    for _ in range(steps):
        value = dual(jobs, grid, prices, earliest, latest, fresh)
        fresh = FRESH
        waited += 1
        if value > bound:
            if value - bound > 1e-5 * (aim - value):
                waited = 0
            bound = value
            copy(prices.best, prices.price)
            if bound >= aim:
                break
        if waited >= patience:
            stride *= SHORTER
            if stride < SHORTEST:
                break
            waited, inertia = 0, 0.0
            copy(prices.price, prices.best)
            value = dual(jobs, grid, prices, earliest, latest, fresh)
        size = steer(grid, prices, direction, inertia)
        if size <= 0 and inertia > 0:
            size = steer(grid, prices, direction, 0.0)
        if size <= 0:
            break
        inertia = INERTIA
        length = stride * (aim - value) / size
        for cell in range(cells):
            prices.price[cell] = max(prices.price[cell] + length * direction[cell], 0.0)
    for job in range(len(jobs.length)):
        variance = prices.square[job] - prices.mean[job] * prices.mean[job]
        prices.spread[job] = math.sqrt(max(variance, 0.0))
    return bound

"""Selection of parents (section 3.4.4).

Parents stand in the order of their fitness: 0 is the best. ``turn`` counts a generation's draws.
"""

import math

from numba import int64

from queuesmith.compiled.chance import below, uniform
from queuesmith.grid.genetic.kernels.operators import selection


@selection
def select_random(count, turn, parameter, work):
    """Any parent."""
    return below(work.random, count)


@selection
def select_best(count, turn, parameter, work):
    """The best parent first, then the second best, and so on."""
    return turn % count


@selection
def select_linear_ranking(count, turn, parameter, work):
    """Linear in the rank: the best is drawn as often as the parameter says, 1 being the mean."""
    chance = uniform(work.random)
    if parameter <= 1.0:
        return int64(chance * count)
    root = math.sqrt(parameter * parameter - 4.0 * (parameter - 1.0) * chance)
    return min(int64(count * (parameter - root) / (2.0 * (parameter - 1.0))), count - 1)


@selection
def select_binary_tournament(count, turn, parameter, work):
    """The better one of two, with the probability of the parameter."""
    one, other = below(work.random, count), below(work.random, count)
    return min(one, other) if uniform(work.random) < parameter else max(one, other)


@selection
def select_n_tournament(count, turn, parameter, work):
    """The best one of so many as the parameter says."""
    best = below(work.random, count)
    for _ in range(int64(parameter) - 1):
        best = min(best, below(work.random, count))
    return best

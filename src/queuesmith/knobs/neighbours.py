"""What a setting is worth among its neighbours: less a matter of luck than its own value alone.

On a log of some weeks the settings of the knobs lie close together, and a single job that happens
to slip through decides between two of them. The least of a hundred such values is mostly the
luckiest, and luck does not last. Settings of nearly one direction order most queues alike, so their
mean tells what such an order is worth.
"""

from __future__ import annotations

import numpy as np

from queuesmith.knobs.bags import Floats

#: So many settings are compared with all others at once, so that a fine range fits into the memory.
_BLOCK = 1024
#: Directions that agree to so many digits are one, and the cosine of one with itself is 1 but for
#: rounding.
_DIGITS, _ROUNDING = 9, 1e-12


def among_neighbours(settings: Floats, values: Floats, reach: float) -> Floats:
    """Return the mean value of all directions around each setting, near ones counting most.

    Parameters
    ----------
    settings
        One row a setting: alpha, beta, gamma. Of settings of one direction the first counts.
    values
        What each of them costs. One that is not finite stays as it is and counts for no other.
    reach
        A direction whose cosine with the setting is c counts exp((c - 1) / reach) times; 0 leaves
        all values as they are.
    """
    finite = np.isfinite(values)
    if reach == 0 or not finite.any():
        return values
    directions = _directions(settings)
    rounded = np.round(directions, _DIGITS) + 0.0  # no negative zeros
    rounded[~finite] = np.inf
    _, first = np.unique(rounded, axis=0, return_index=True)
    counted = np.sort(first[finite[first]])
    low = values[counted].min()
    above = values[counted] - low  # exactly 0 where all are equal, whatever the weights
    result = values.copy()
    for begin in range(0, len(values), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        apart = 1 - directions[block] @ directions[counted].T
        apart[apart < _ROUNDING] = 0.0
        weights = np.exp(-apart / reach)
        result[block] = low + weights @ above / weights.sum(axis=1)
    return np.where(finite, result, values)


def _directions(settings: Floats) -> Floats:
    """Return the settings as unit vectors; the one that is all zeros is at right angles to all."""
    length = np.linalg.norm(settings, axis=1)
    still = length == 0
    return np.column_stack([settings / np.where(still, 1.0, length)[:, None], still])

"""What users have consumed."""

import math
from typing import Any, NamedTuple

from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import REALS


class Usage(NamedTuple):
    """What each user has consumed, in core-seconds that halve every half-life.

    At any instant it is ``level + slope * usage_clock(now)``, so that one evaluation of the clock
    serves all users. The last slot is the total of all users.
    """

    level: Any
    slope: Any
    clock: Any  # two numbers: the half-life, or 0 for no decay, and when the clock was set


USAGE_TYPE = types.NamedUniTuple(REALS, 3, Usage)


@kernel
def usage_clock(usage, now):
    """Return what usage depends on at an instant: the decay, or without decay the seconds."""
    elapsed = now - usage.clock[1]
    if usage.clock[0] <= 0.0:
        return elapsed
    return 2.0 ** (-elapsed / usage.clock[0])


@kernel
def use_cores(usage, user, cores, now):
    """Note that a user, and so all users together, hold so many cores more from now on."""
    clock = usage_clock(usage, now)
    half_life = usage.clock[0]
    if half_life > 0.0 and clock < 1e-200:
        for slot in range(len(usage.slope)):
            usage.slope[slot] *= clock
        usage.clock[1] = now
        clock = 1.0
    for slot in (user, len(usage.level) - 1):
        amount = usage.level[slot] + usage.slope[slot] * clock
        if half_life > 0.0:
            # A core held for ever would settle at this level: what decays equals what is added.
            usage.level[slot] += cores * half_life / math.log(2.0)
            usage.slope[slot] = (amount - usage.level[slot]) / clock
        else:
            usage.slope[slot] += cores
            usage.level[slot] = amount - usage.slope[slot] * clock

"""What users have consumed."""

import math
from typing import Any, NamedTuple

import numpy as np
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
    clock: Any  # the half-life, or 0 for no decay; when the clock was set; scored passes so far
    fair_share: Any
    scored: Any  # the pass for which a user's fair share was last computed


USAGE_TYPE = types.NamedUniTuple(REALS, 5, Usage)
LOG_2 = math.log(2.0)


def new_usage(slots: int = 0, half_life: float = 0.0, since: float = 0.0) -> Usage:
    """Return the bookkeeping before anybody has consumed anything; without slots there is none."""
    clock = np.array([half_life, since, 0.0], np.float64)
    return Usage(np.zeros(slots), np.zeros(slots), clock, np.zeros(slots), np.zeros(slots))


@kernel
def usage_clock(usage, now):
    """Return what usage depends on at an instant: the decay, or without decay the seconds."""
    elapsed = now - usage.clock[1]
    if usage.clock[0] <= 0.0:
        return elapsed
    return 2.0 ** (-elapsed / usage.clock[0])


@kernel
def total_usage(usage, clock):
    """Return what all users together have consumed; 0 where nobody looks at it."""
    total = len(usage.level) - 1
    return usage.level[total] + usage.slope[total] * clock if total >= 0 else 0.0


@kernel
def usage_share(usage, user, clock, total):
    """Return a user's part of what all have consumed."""
    if total <= 0.0:
        return 0.0
    return (usage.level[user] + usage.slope[user] * clock) * (1.0 / total)


@kernel
def share_fairly(users, usage, waiting, clock, total, halvings):
    """Compute the fair shares of those whose jobs wait, each once however many jobs they are.

    They are 2 to the power of minus so many halvings for each part of the whole usage.
    """
    usage.clock[2] += 1.0
    for i in range(waiting):
        user = users[i]
        if usage.scored[user] != usage.clock[2]:
            usage.scored[user] = usage.clock[2]
            share = usage_share(usage, user, clock, total)
            # An exponential takes half the time of a power of 2.
            usage.fair_share[user] = np.exp(-LOG_2 * (share * halvings))


@kernel
def fair_share(usage, user):
    """Return the fair share of a user whose jobs wait."""
    return usage.fair_share[user]


@kernel
def share_nothing(users, usage, waiting, clock, total, halvings):
    """Stand in where an order does not look at fair shares."""


@kernel
def no_fair_share(usage, user):
    """Stand in where an order does not look at fair shares."""
    return 1.0


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
            usage.level[slot] += cores * half_life / LOG_2
            usage.slope[slot] = (amount - usage.level[slot]) / clock
        else:
            usage.slope[slot] += cores
            usage.level[slot] = amount - usage.slope[slot] * clock


@kernel
def use_least(least, usage, now, seconds, cores):
    """Fill in the least part of the whole that each user can have at any instant from now on, up
    to so many seconds: nothing is added to what they have consumed, and to the total all cores are.
    """
    total = len(usage.level) - 1
    if total < 0:
        return
    clock = usage_clock(usage, now)
    kept = 2.0 ** (-seconds / usage.clock[0]) if usage.clock[0] > 0.0 else 1.0
    for slot in range(total):
        least.level[slot] = (usage.level[slot] + usage.slope[slot] * clock) * kept
    least.level[total] = total_usage(usage, clock) + float(cores) * seconds

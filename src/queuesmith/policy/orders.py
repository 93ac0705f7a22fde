"""Which job is first: each order is a function whose highest value comes first.

An order takes a ``job`` and, where it looks at them, ``now`` and ``machine``; keyword parameters
with numbers as defaults are what a user may set and tuning may change. Write your own the same way.
Functions here use numpy, not math, so that fixed orders can be computed for all jobs in one call,
and plain arithmetic without helpers, so that each can also be compiled into a replay as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from queuesmith.policy.order import Order
from queuesmith.policy.view import Job, Machine

HOUR = 3_600
DAY = 24 * HOUR
LOG_2 = math.log(2)
#: To how many parts of 1 the order `power` keeps its logarithms; see `knobs`.
SCORE_DIGITS = 2.0**24


def fcfs(job: Job) -> float:
    """First come, first served."""
    return -job.submit


def sjf(job: Job) -> float:
    """Shortest walltime first."""
    return -job.walltime


def ljf(job: Job) -> float:
    """Longest walltime first."""
    return job.walltime


def narrow(job: Job) -> float:
    """Smallest number of cores first."""
    return -job.cores


def wide(job: Job) -> float:
    """Largest number of cores first."""
    return job.cores


def saf(job: Job) -> float:
    """Smallest area first: walltime times cores."""
    return -job.walltime * job.cores


def laf(job: Job) -> float:
    """Largest area first."""
    return job.walltime * job.cores


def longest_wait(job: Job) -> float:
    """Longest wait first; whoever came first has waited longest, so it is fcfs by another name."""
    return -job.submit


def group(job: Job) -> float:
    """Jobs of group 1 first, then group 2, and so on."""
    return -job.group


def ranked(
    job: Job,
    group_1: float = 5,
    group_2: float = 4,
    group_3: float = 3,
    group_4: float = 2,
    group_5: float = 1,
    alpha: float = 0,
    gamma: float = 0,
) -> float:
    """Groups by rank, the highest first, plus powers of cores and walltime as in the order power.

    By default it is the order group. A small alpha, such as 0.1, decides within a group only: its
    widest jobs first. Groups beyond the fifth count as the fifth.
    """
    rank = (
        group_1 * (job.group == 1)
        + group_2 * (job.group == 2)
        + group_3 * (job.group == 3)
        + group_4 * (job.group == 4)
        + group_5 * (job.group >= 5)
    )
    return rank + alpha * job.log_cores + gamma * job.log_walltime


def head_start(
    job: Job,
    group_1: float = 48,
    group_2: float = 36,
    group_3: float = 24,
    group_4: float = 12,
    group_5: float = 0,
    walltime: float = 0,
    cores: float = 0,
) -> float:
    """First come, first served, but a job counts as if it had come so many hours earlier.

    Hours for its group, and for each doubling of its walltime and cores. So favour ends: whoever
    comes later by more than these hours stands behind. Groups beyond the fifth count as the fifth.
    """
    hours = (
        group_1 * (job.group == 1)
        + group_2 * (job.group == 2)
        + group_3 * (job.group == 3)
        + group_4 * (job.group == 4)
        + group_5 * (job.group >= 5)
        + walltime * job.log_walltime / LOG_2
        + cores * job.log_cores / LOG_2
    )
    return HOUR * hours - job.submit


def wfp3(job: Job, now: int) -> float:
    """Wait over walltime, cubed, times cores (Tang et al. 2009)."""
    urgency = (now - job.submit) / job.walltime
    return urgency * urgency * urgency * job.cores


def unicep(job: Job, now: int) -> float:
    """Wait over walltime and the binary logarithm of the cores (a serial job counts as two)."""
    return (now - job.submit) / (max(job.log_cores / LOG_2, 1.0) * job.walltime)


def f1(job: Job) -> float:
    """F1 of Carastan-Santos and de Camargo (SC 2017)."""
    return -(np.log10(job.walltime) * job.cores + 870 * np.log10(np.maximum(job.submit, 1)))


def f2(job: Job) -> float:
    """F2 of Carastan-Santos and de Camargo (SC 2017)."""
    return -(np.sqrt(job.walltime) * job.cores + 25_600 * np.log10(np.maximum(job.submit, 1)))


def f3(job: Job) -> float:
    """F3 of Carastan-Santos and de Camargo (SC 2017)."""
    return -(job.walltime * job.cores + 6.86e6 * np.log10(np.maximum(job.submit, 1)))


def f4(job: Job) -> float:
    """F4 of Carastan-Santos and de Camargo (SC 2017)."""
    return -(job.walltime * np.sqrt(job.cores) + 5.3e5 * np.log10(np.maximum(job.submit, 1)))


def greedy(
    job: Job,
    now: int,
    favoured_groups: float = 2,
    very_long: float = 2 * DAY,
    weight_1: float = 10,
    weight_2: float = 4,
) -> float:
    """Groups 1 and 2 first, unless others have waited very long (Franke et al., section 2.1).

    Among the favoured, the wait counts with the weights of the paper's objective.
    """
    wait = now - job.submit
    if job.group > favoured_groups:
        return 1e15 + wait if wait > very_long else wait - 1e15
    if job.group == 1:
        return weight_1 * wait
    return weight_2 * wait


def multifactor(
    job: Job,
    now: int,
    machine: Machine,
    PriorityWeightAge: float = 1_000,
    PriorityWeightFairshare: float = 10_000,
    PriorityWeightJobSize: float = 1_000,
    PriorityWeightPartition: float = 1_000,
    PriorityWeightQOS: float = 1_000,
    PriorityMaxAge: float = 7 * DAY,
    PriorityFavorSmall: float = 0,
    PriorityDecayHalfLife: float = 7 * DAY,  # the engine decays the usage by it
    FairShareDampeningFactor: float = 1,  # and dampens the fair share by this
) -> float:
    """Slurm's priority/multifactor, its parameters named as in slurm.conf (times in seconds)."""
    # Products with inverses, since these are the same for all jobs and so computed once.
    age = min((now - job.submit) * (1.0 / max(PriorityMaxAge, 1.0)), 1.0)
    size = job.cores * (1.0 / machine.cores)
    if PriorityFavorSmall:
        size = 1.0 - size
    return (
        PriorityWeightAge * age
        + PriorityWeightFairshare * job.fair_share
        + PriorityWeightJobSize * size
        + PriorityWeightPartition * job.partition_factor
        + PriorityWeightQOS * job.qos_factor
    )


def power(job: Job, now: int, alpha: float = 1, beta: float = 1, gamma: float = 0) -> float:
    """Size, wait and walltime to the powers alpha, beta, gamma (Simon et al., equation 1).

    The logarithm of the product, so that nothing overflows; the averages that the paper divides by
    are the same for all jobs and do not change their order. A wait counts as one second at least.
    Logarithms are kept to the 24th binary digit after the point: products that are equal, such as
    2 x 8 and 4 x 4, are equal then, and not told apart by the rounding of arithmetic.
    """
    wait = max(now - job.submit, 1)
    score = alpha * job.log_cores + beta * np.log(wait) + gamma * job.log_walltime
    return np.rint(score * SCORE_DIGITS) / SCORE_DIGITS


def group_power(
    job: Job,
    now: int,
    group_1: float = 0,
    group_2: float = 0,
    group_3: float = 0,
    group_4: float = 0,
    group_5: float = 0,
    alpha: float = 0,
    beta: float = 1,
    gamma: float = 0,
) -> float:
    """The order power with a weight for the job's group, as tune --method priority finds it.

    A weight of 1 more is as good as waiting e times as long, where beta is 1. Groups beyond the
    fifth count as the fifth.
    """
    weight = group_5
    if job.group <= 1:
        weight = group_1
    elif job.group == 2:
        weight = group_2
    elif job.group == 3:
        weight = group_3
    elif job.group == 4:
        weight = group_4
    wait = max(now - job.submit, 1)
    return weight + alpha * job.log_cores + beta * np.log(wait) + gamma * job.log_walltime


def blend(
    job: Job,
    now: int,
    machine: Machine,
    walltime: float = -1,
    cores: float = -1,
    wait: float = 0,
    urgency: float = 0,
    length: float = 0,
    width: float = 0,
    fits: float = 0,
    fits_walltime: float = 0,
    fits_cores: float = 0,
    filling: float = 0,
) -> float:
    """A weighted sum of what is known of a job; by default smallest area first. Made to be learned.

    Logarithms of walltime, cores, wait and 1 + wait over walltime; the walltime in days, at most
    one; the share of the machine; and, for a job that fits the free cores, a constant, its
    walltime, its cores and the share of the free cores that it fills.
    """
    waited = now - job.submit
    score = (
        walltime * job.log_walltime
        + cores * job.log_cores
        + wait * np.log(max(waited, 1))
        + urgency * np.log(1.0 + waited / job.walltime)
        + length * min(job.walltime / DAY, 1.0)
        + width * job.cores / machine.cores
    )
    if job.cores <= machine.free:
        score += (
            fits
            + fits_walltime * job.log_walltime
            + fits_cores * job.log_cores
            + filling * job.cores / machine.free
        )
    return score


ORDERS = {
    function.__name__: Order(function)
    for function in (
        fcfs,
        sjf,
        ljf,
        narrow,
        wide,
        saf,
        laf,
        longest_wait,
        group,
        ranked,
        head_start,
        wfp3,
        unicep,
        f1,
        f2,
        f3,
        f4,
        greedy,
        multifactor,
        power,
        group_power,
        blend,
    )
}

#: Orders whose scores never fall while a job waits, as far as time and what users consume go, where
#: these parameters are not negative.
RISING: Mapping[Callable[..., float], tuple[str, ...]] = {
    wfp3: (),
    unicep: (),
    greedy: ("weight_1", "weight_2"),
    multifactor: ("PriorityWeightAge", "PriorityWeightFairshare", "FairShareDampeningFactor"),
    power: ("beta",),
    group_power: ("beta",),
}


def rises(order: Order) -> bool:
    """Tell whether the score of a job never falls while it waits and its user starts nothing."""
    weights = RISING.get(order.function)
    return weights is not None and all(order.parameters[name] >= 0 for name in weights)

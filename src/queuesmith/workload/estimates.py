"""How long users say that their jobs may run.

Users choose from few round values, and most often the longest that is allowed (Tsafrir, Etsion
and Feitelson, "Modeling user runtime estimates", JSSPP 2005): about 20 values cover some 90 % of
the jobs, their popularity falls exponentially with the rank, and what a user chooses says little
about the runtime except that it is no less.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import number, positive, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.workload import Ints

MINUTE = 60
HOUR = 3600

#: Round values in minutes, the most popular first; the longest allowed goes before them all.
POPULAR_MINUTES = (
    60, 15, 30, 5, 10, 240, 120, 20, 720, 180, 360, 480, 1440, 300, 600, 1080, 90, 40, 45
)  # fmt: skip

#: Limits in hours that sites set; beyond the last they are whole days.
LIMIT_HOURS = (1, 2, 4, 8, 12, 18, 24, 36, 48, 72, 96, 120, 168)

#: How fast the popularity of round values falls with their rank, after the head of Tsafrir et al.
DECAY = 0.18

#: What the other values are multiples of.
GRAIN = 5 * MINUTE


def round_limit(longest: int) -> int:
    """Return the limit, in seconds, that a site would set so that ``longest`` may run."""
    for hours in LIMIT_HOURS:
        if longest <= hours * HOUR:
            return hours * HOUR
    return math.ceil(longest / (24 * HOUR)) * 24 * HOUR


def popularity(maximum: int, decay: float = DECAY) -> tuple[Ints, NDArray[np.float64]]:
    """Return the round values up to ``maximum``, rising, and the share of each."""
    top = whole_number("the longest walltime", maximum, 1, "Give for example 86400.")
    decay = positive("the decay of popularity", decay, "Give for example 0.18.")
    ranked = [top] + [m * MINUTE for m in POPULAR_MINUTES if m * MINUTE < top]
    shares = np.exp(-decay * np.arange(len(ranked)))
    values = np.asarray(ranked, dtype=np.int64)
    order = np.argsort(values)
    return values[order], shares[order] / shares.sum()


def estimate_walltimes(
    runtime: ArrayLike,
    rng: np.random.Generator,
    *,
    maximum: int | None = None,
    round_share: float = 0.9,
    decay: float = DECAY,
) -> Ints:
    """Return a walltime for each runtime: never less, mostly a round value.

    Parameters
    ----------
    runtime
        The runtimes in seconds.
    rng
        The generator to draw from.
    maximum
        The longest walltime allowed; by default the limit a site would set for these runtimes.
    round_share
        The share of jobs with one of the about 20 round values; the others have any multiple
        of five minutes.
    decay
        How fast the popularity of the round values falls with their rank.
    """
    seconds = _checked(runtime)
    longest = int(seconds.max(initial=1))
    top = round_limit(longest) if maximum is None else maximum
    top = whole_number("the longest walltime", top, 1, "Give for example 86400.")
    if longest > top:
        raise UsageError(
            f"the longest walltime is {top} s, but a job runs for {longest} s. "
            f"Give at least {longest}, or leave it out."
        )
    share = number("round_share", round_share, 0, 1, "Give for example 0.9.")
    walltime = _round_values(seconds, rng, top, decay)
    other = rng.random(len(seconds)) >= share
    walltime[other] = _other_values(seconds[other], rng, top)
    return walltime


def _round_values(runtime: Ints, rng: np.random.Generator, top: int, decay: float) -> Ints:
    """Draw from the round values by popularity, given that they are no less than the runtime."""
    values, shares = popularity(top, decay)
    below = np.concatenate([[0.0], np.cumsum(shares)])
    first = np.searchsorted(values, runtime, "left")
    point = below[first] + rng.random(len(runtime)) * (below[-1] - below[first])
    chosen = np.searchsorted(below, point, "right") - 1
    # Rounding must carry a draw neither below the runtime nor past the last value.
    walltime: Ints = values[np.clip(chosen, first, len(values) - 1)]
    return walltime


def _other_values(runtime: Ints, rng: np.random.Generator, top: int) -> Ints:
    """Draw a multiple of five minutes between runtime and limit, each magnitude alike."""
    low = np.log(np.clip(runtime, min(GRAIN, top), top))
    drawn = np.exp(low + rng.random(len(runtime)) * (math.log(top) - low))
    walltime = (np.ceil(drawn / GRAIN) * GRAIN).astype(np.int64)
    return np.maximum(np.minimum(walltime, top), runtime)


def _checked(runtime: ArrayLike) -> Ints:
    values = np.asarray(runtime)
    numeric = np.issubdtype(values.dtype, np.number) and values.ndim == 1
    if not len(np.atleast_1d(values)):
        return np.empty(0, dtype=np.int64)
    if not numeric or not np.all((values >= 0) & (values <= LARGEST_TIME)):
        raise UsageError(
            "a runtime is not a number of seconds of at least 0, but walltimes are drawn from "
            f"runtimes. Give a column of numbers up to {LARGEST_TIME}."
        )
    seconds: Ints = np.ceil(values).astype(np.int64)
    return seconds

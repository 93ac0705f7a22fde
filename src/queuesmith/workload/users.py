"""Users for jobs that have none: a few submit most, and each submits several jobs in a row.

Shares fall with the rank as in Zipf's law; a session ends at a pause of 20 minutes, the think
time by which Zilber, Amit and Talby (ICS 2005) part the sessions of real users.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import MOST_DRAWN, number, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.workload.workload import Ints

#: With these, the default group thresholds leave none of the five groups empty.
DEFAULT_USERS = 100
DEFAULT_EXPONENT = 1.3

#: A longer pause than this between two jobs always begins a new session.
SESSION_PAUSE = 20 * 60


def zipf_shares(users: int, exponent: float = DEFAULT_EXPONENT) -> NDArray[np.float64]:
    """Return the share of each user, largest first: proportional to ``1 / rank**exponent``."""
    count = whole_number("the number of users", users, 1, "Give for example 100.", most=MOST_DRAWN)
    exponent = number("the Zipf exponent", exponent, 0, 10, "Give for example 1.3; 0 means equal.")
    weights: NDArray[np.float64] = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    weights /= weights.sum()
    return weights


def assign_users(
    submit: ArrayLike,
    rng: np.random.Generator,
    *,
    users: int = DEFAULT_USERS,
    exponent: float = DEFAULT_EXPONENT,
    session_jobs: float = 3.0,
) -> Ints:
    """Return a user for each job, numbered from 1, the busiest first.

    Parameters
    ----------
    submit
        The submit times in rising order; a pause of more than 20 minutes ends a session.
    rng
        The generator to draw from.
    users, exponent
        How many users there are, and how steeply their shares fall.
    session_jobs
        How many jobs in a row one user submits on average where there is no pause.
    """
    times = np.asarray(submit)
    if np.any(np.diff(times) < 0):
        raise UsageError(
            "users are assigned in the order of submission, but a submit time lies before its "
            "predecessor. Sort the jobs first."
        )
    shares = zipf_shares(users, exponent)
    mean = number("session_jobs", session_jobs, 1, 1e9, "Give 1 to draw each job's user anew.")
    begins = rng.random(len(times)) < 1 / mean
    begins[1:] |= np.diff(times) > SESSION_PAUSE
    begins[:1] = True
    session = np.cumsum(begins) - 1
    of_session = np.searchsorted(np.cumsum(shares)[:-1], rng.random(int(begins.sum())), "right")
    user: Ints = (1 + of_session[session]).astype(np.int64)
    return user

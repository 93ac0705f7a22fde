"""Users into groups by their share of the resources.

Group 1 holds the users who consume the most (Franke, Lepping and Schwiegelshohn, section 2.1).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.distinct import distinct
from queuesmith.base.errors import UsageError

#: Above 8 % of all core-seconds: group 1; above 2 %: group 2; and so on; the rest: group 5.
DEFAULT_THRESHOLDS = (0.08, 0.02, 0.01, 0.001)
#: The name of the group of jobs that have none.
NOBODY = "none"


def named_groups(
    codes: NDArray[np.int64], names: tuple[str, ...]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return groups, and their names, of jobs whose names count from 0, -1 where one has none.

    Groups count from 1, as orders and features have it; group 0 are jobs without a name, which is
    written ``none``.
    """
    known = (NOBODY, *(name for name in names if name != NOBODY))
    number = {name: group for group, name in enumerate(known)}
    groups = np.array([*(number[name] for name in names), 0], np.int64)  # the last for -1
    return groups[codes], known


def share_groups(
    user: NDArray[np.int64],
    work: NDArray[np.float64],
    thresholds: tuple[float, ...] = DEFAULT_THRESHOLDS,
) -> NDArray[np.int64]:
    """Return the group of each job: 1 for the heaviest users, counting up.

    Parameters
    ----------
    user
        The user of each job.
    work
        The core-seconds of each job.
    thresholds
        Shares of all work in falling order, each between 0 and 1.
    """
    falling = all(a > b for a, b in pairwise(thresholds))
    if not thresholds or not falling or not all(0 < t < 1 for t in thresholds):
        raise UsageError(
            f"group thresholds are {thresholds}, but they must be shares between 0 and 1 in "
            "falling order. Give for example 0.08,0.02,0.01,0.001."
        )
    users, of_job = distinct(user)
    by_user = np.bincount(of_job, weights=work, minlength=len(users))
    total = by_user.sum()
    share = by_user / total if total > 0 else np.zeros(len(users))
    groups: NDArray[np.int64] = 1 + np.sum(
        share[:, None] <= np.asarray(thresholds)[None, :], axis=1
    )
    return groups[of_job]


def groups_of_users(
    user: NDArray[np.int64],
    known: NDArray[np.int64],
    group: NDArray[np.int64],
    otherwise: int,
) -> NDArray[np.int64]:
    """Return the group of each job's user, as other jobs tell it.

    Parameters
    ----------
    user
        The user of each job.
    known, group
        The users of other jobs, and their groups.
    otherwise
        The group of users that have no other job.
    """
    users, first = np.unique(known, return_index=True)
    place = np.minimum(np.searchsorted(users, user), len(users) - 1)
    return np.where(users[place] == user, group[first[place]], otherwise)

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

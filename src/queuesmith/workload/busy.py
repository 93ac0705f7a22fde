"""How many cores jobs that really ran held at once: what a log tells of its machine's size."""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.workload.workload import Ints, Workload


def peak_cores(workload: Workload) -> int:
    """Return the most cores that were really busy at once: the least the machine can have had.

    A log of sacct does not tell the size of the machine; this is a sensible stand-in.

    Parameters
    ----------
    workload
        Jobs whose ``real_start`` is known; jobs where it is not are passed over.
    """
    real_start = workload.extra.get("real_start")
    known = None if real_start is None else real_start >= workload.submit
    if real_start is None or known is None or not known.any():
        raise WorkloadError(
            f"workload '{workload.name}' does not tell when its jobs began, so the peak of busy "
            "cores is unknown. Give the number of cores of the machine."
        )
    return most_at_once(real_start[known], workload.runtime[known], workload.cores[known])


def most_at_once(start: Ints, runtime: Ints, cores: Ints) -> int:
    """Return the most cores that jobs which really ran must have held at once.

    Logs tell whole seconds. A job of one second may have run for next to none, so it has room for
    itself, and keeps no other off its cores.
    """
    times = np.concatenate([start, start + np.where(runtime > 1, runtime, 0)])
    change = np.concatenate([cores, -cores])
    # At one instant, ends release cores before starts take them.
    peak = np.cumsum(change[np.lexsort((change, times))]).max()
    return int(max(peak, cores.max()))

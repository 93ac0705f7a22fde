"""A trace scaled to a machine of another size.

C. Ernemann, B. Song and R. Yahyapour, "Scaling of workload traces", JSSPP 2003: some jobs become
wider, the others more, so that neither the widths nor the number of jobs alone carry the change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import number, seeded, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.workload.columns import LARGEST_WIDTH
from queuesmith.workload.dependencies import AFTER, PRECEDING, THINK_TIME
from queuesmith.workload.workload import Change, Ints, Workload, checked_workload

#: Columns that tell of the old machine or name jobs by their old ids; so do all ``real_...``.
HISTORY = ("wait", PRECEDING, AFTER, THINK_TIME, "dependency")


def scale(
    workload: Workload, from_cores: int, to_cores: int, *, seed: int = 0, widen: float = 0.5
) -> Workload:
    """Scale a workload from a machine of one size to a machine of another.

    With the factor f = ``to_cores / from_cores``, each job either becomes f times as wide, or
    f copies of it are submitted together, so that the load stays about the same. Where f is not
    a whole number, the last copy is drawn at random; below 1 this leaves some jobs out, which
    the workload's changes count. Groups follow the users' new shares; what really happened on
    the old machine (columns ``real_...``, ``wait``), references to other jobs and the log's header
    are dropped.

    Parameters
    ----------
    workload
        The jobs.
    from_cores, to_cores
        The size of the machine they come from and of the machine they shall go to.
    seed
        Same seed, same workload.
    widen
        The probability that a job becomes wider rather than being copied.
    """
    checked_workload(workload)
    before = _size("from_cores", from_cores, "Give the size of the log's machine.")
    after = _size("to_cores", to_cores, "Give the size of the machine wanted.")
    share = number("widen", widen, 0, 1, "Give the share of jobs to widen, for example 0.5.")
    rng = seeded(seed)
    factor = after / before
    is_wider = rng.random(len(workload)) < share
    copies = np.where(is_wider, 1, _copies(len(workload), factor, rng))
    cores = np.where(is_wider, _widened(workload.cores, factor), workload.cores)
    return _rebuilt(workload, copies, np.minimum(cores, after), after).noting(
        Change(
            f"not drawn in scaling from {before} to {so_many(after, 'core')}",
            int(np.count_nonzero(copies == 0)),
            dropped=True,
        ),
        Change(
            f"wider than {so_many(after, 'core')} after scaling; narrowed to the machine",
            int(np.count_nonzero((cores > after) & (copies > 0))),
            dropped=False,
        ),
        Change(
            "waited for another job; waits for none after scaling, which numbers jobs anew",
            int(np.count_nonzero((_after(workload) >= 0) & (copies > 0))),
            dropped=False,
        ),
    )


def _after(workload: Workload) -> Ints:
    return workload.extra.get(AFTER, np.full(len(workload), -1, np.int64))


def _size(name: str, cores: int, way_out: str) -> int:
    size = whole_number(name, cores, 1, way_out)
    if size > LARGEST_WIDTH:
        raise UsageError(f"{name} is {size}, but it must be at most {LARGEST_WIDTH:,}. {way_out}")
    return size


def _copies(count: int, factor: float, rng: np.random.Generator) -> Ints:
    """Return floor(factor) for each job, plus one with the probability of the fraction."""
    whole = int(factor)
    return whole + (rng.random(count) < factor - whole).astype(np.int64)


def _widened(cores: Ints, factor: float) -> Ints:
    """Return factor times the cores, rounded half up, at least 1."""
    wide: Ints = np.floor(cores * factor + 0.5).astype(np.int64)
    return np.maximum(wide, 1)


def _rebuilt(workload: Workload, copies: Ints, cores: Ints, machine_cores: int) -> Workload:
    def repeated(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.repeat(values, copies)

    return Workload(
        repeated(workload.submit),
        repeated(workload.runtime),
        repeated(workload.walltime),
        repeated(cores),
        user=repeated(workload.user),
        extra={
            key: repeated(values)
            for key, values in workload.extra.items()
            if key not in HISTORY and not key.startswith("real_")
        },
        labels={key: names for key, names in workload.labels.items() if key != "group"},
        name=workload.name,
        machine_cores=machine_cores,
        epoch=workload.epoch,
        changes=workload.changes,
    )

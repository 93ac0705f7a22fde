"""Jobs that wait for other jobs: the columns that tell it, and what is wrong with them.

``after`` is the id of the job whose end a job waits for, -1 for none; ``think_time`` the seconds
from that end until the job can start. Logs in the Standard Workload Format tell both (fields 17
and 18), but most replays leave them out, so they count only where that is asked for.
"""

from __future__ import annotations

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.words import so_many
from queuesmith.workload.workload import Change, Ints, Workload

AFTER, THINK_TIME, PRECEDING = "after", "think_time", "preceding_job"


def with_dependencies(workload: Workload) -> Workload:
    """Return a workload whose jobs wait for the jobs that its log says they follow.

    Jobs that follow one that is not in the log wait for none; they are counted.
    """
    preceding = workload.extra.get(PRECEDING)
    if preceding is None and AFTER not in workload.extra:
        raise WorkloadError(
            f"workload '{workload.name}' does not tell which job follows which. Give a log with "
            f"preceding jobs (field 17 of SWF), or a column '{AFTER}' with the id of a job."
        )
    if preceding is None:
        return workload
    after = preceding.astype(np.int64)
    known = np.isin(after, workload.id)
    lost = Change("follows a job that is not in the log", int(((after > 0) & ~known).sum()), False)
    extra = {**workload.extra, AFTER: np.where((after > 0) & known, after, -1)}
    return workload.replaced(extra=extra).noting(lost)


def has_dependencies(workload: Workload) -> bool:
    """Tell whether any job waits for another."""
    after = workload.extra.get(AFTER)
    return after is not None and bool((after >= 0).any())


def check_no_dependencies(
    workload: Workload, what: str, instead: str = "use simulate, compare or tune"
) -> Workload:
    """Return the workload; raise where jobs wait for others, which not all computations know."""
    if has_dependencies(workload):
        count = int((workload.extra[AFTER] >= 0).sum())
        raise WorkloadError(
            f"{so_many(count, 'job waits', 'jobs wait')} for another in '{workload.name}', which "
            f"{what} does not know. Leave out --dependencies (the column '{AFTER}'), or {instead}."
        )
    return workload


def predecessors(workload: Workload) -> tuple[Ints, Ints]:
    """Return the position of the job that each job waits for, -1 for none, and the think times.

    Jobs that wait for one that was left out wait for none. A circle of them is an error.
    """
    nobody = np.full(len(workload), -1, np.int64)
    if not has_dependencies(workload):
        return nobody, np.zeros(len(workload), np.int64)
    position = {int(id): i for i, id in enumerate(workload.id)}
    after = np.array([position.get(int(id), -1) for id in workload.extra[AFTER]], np.int64)
    _check_no_circle(workload, after)
    think = workload.extra.get(THINK_TIME, nobody).astype(np.int64)
    return after, np.maximum(think, 0)


def _check_no_circle(workload: Workload, after: Ints) -> None:
    checked = np.zeros(len(after), np.bool_)
    for job in range(len(after)):
        path, at = [], job
        while at >= 0 and not checked[at]:
            checked[at] = True
            path.append(at)
            at = int(after[at])
        if at in path:
            circle = [*path[path.index(at) :], at]
            names = " after ".join(workload.label("id", int(workload.id[i])) for i in circle)
            raise WorkloadError(
                f"jobs of '{workload.name}' wait for each other in a circle (job {names}), so none "
                "of them can ever start. Correct a dependency."
            )

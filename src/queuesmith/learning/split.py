"""A log divided in time: what is learned from, and what the learned policy has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from queuesmith.base.checks import number
from queuesmith.base.errors import MetricError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster import Machine
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import Schedule
from queuesmith.workload import Workload

DEFAULT_SPLIT = 0.7


class Parts(NamedTuple):
    """The two parts of a log; nothing is held out where all of it is learned from."""

    learning: Workload
    held_out: Workload | None


def split_in_time(workload: Workload, share: float | None = DEFAULT_SPLIT) -> Parts:
    """Divide a log: jobs submitted in the first part of its time span, and the rest.

    User groups stay what they are in the whole log.

    Parameters
    ----------
    workload
        The log.
    share
        The share of the span from the first submission to the last that is learned from; None
        or 1 for all of it.
    """
    if share is None or share == 1:
        return Parts(workload, None)
    number("the split", share, 0, 1, "Give for example 0.7, or none to learn on all.")
    border = int(np.searchsorted(workload.submit, _border(workload, share), side="left"))
    if not 0 < border < len(workload):
        raise WorkloadError(
            f"workload '{workload.name}' has {so_many(len(workload), 'job')} over "
            f"{workload.span:,} s, but a split at {100 * share:g} % of that leaves none on one "
            "side. Give a longer log, or --split none to learn on all of it."
        )
    places = np.arange(len(workload))
    return Parts(workload.select(places < border), workload.select(places >= border))


def _border(workload: Workload, share: float) -> float:
    return float(workload.submit[0]) + share * workload.span if len(workload) else 0.0


def check_objective(
    parts: Parts, cluster: Machine, objective: Objective, role: str = "objective"
) -> None:
    """Raise where an objective asks for jobs that a part of the log does not have, or for none."""
    if not objective.terms:
        raise MetricError(
            f"{role} '{objective}' names no metric, so all policies are equally good at it. Name "
            "one, for example mean_wait."
        )
    names = {"learning": parts.learning}
    if parts.held_out is not None:
        names |= {"held-out": parts.held_out}
    for name, part in names.items():
        at_once = Schedule(part, cluster, part.submit, name)  # whatever the schedule, same jobs
        try:
            objective(at_once)
        except MetricError as error:
            where = "the log" if parts.held_out is None else f"the {name} part of the log"
            raise MetricError(
                f"{role} '{objective}' cannot be computed for {where}: {error}"
            ) from error

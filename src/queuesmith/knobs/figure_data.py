"""The numbers behind the pictures of knobs; ``drawing`` draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from queuesmith.compiled.pareto import undominated
from queuesmith.knobs.bag_schedule import running_jobs
from queuesmith.knobs.bags import Floats, Mask
from queuesmith.knobs.scaling import Scaling
from queuesmith.knobs.sweep_result import MAKESPAN, SHORT, SweepResult
from queuesmith.schedule import Schedule
from queuesmith.schedule.timeline import curve
from queuesmith.workload.workload import Ints

MOST_BINS = 600
#: A figure of more points than this is slow in a browser; points beyond are thinned out evenly.
MOST_POINTS = 4_000


@dataclass(frozen=True, eq=False)
class Cloud:
    """E_f of one class against the makespan, one point for each different pair.

    Parameters
    ----------
    name
        The class.
    makespan, expansion_factor
        Where each point lies.
    settings
        The knobs of one setting that gives the point.
    count
        How many settings give it.
    on_front
        Whether no other point equals or beats it in both.
    """

    name: str
    makespan: Floats
    expansion_factor: Floats
    settings: Floats
    count: Ints
    on_front: Mask


def cloud_data(result: SweepResult, *, most: int = MOST_POINTS) -> list[Cloud]:
    """Return the points of figure 6, one cloud for each class that has jobs."""
    return [_cloud(result, i, most) for i in result.known if i < MAKESPAN]


def _cloud(result: SweepResult, column: int, most: int) -> Cloud:
    pairs = result.costs[:, [MAKESPAN, column]]
    points, first, count = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    front = np.zeros(len(points), np.bool_)
    front[undominated(points)] = True
    kept = front.copy()
    kept[:: max(-(-len(points) // most), 1)] = True
    return Cloud(
        SHORT[column],
        points[kept, 0],
        points[kept, 1],
        result.settings[first[kept]],
        count[kept],
        front[kept],
    )


@dataclass(frozen=True, eq=False)
class Activity:
    """Utilization and running jobs in bins of time; bin ``i`` begins at ``seconds[i]``.

    Parameters
    ----------
    seconds
        From the first submission on.
    utilization
        The share of the cores in use, 0 to 1.
    running_jobs
        Jobs with at least one task running, on average over the bin.
    """

    seconds: Ints
    utilization: Floats
    running_jobs: Floats


def activity_data(schedule: Schedule, *, bins: int = MOST_BINS) -> Activity:
    """Return the curves of figures 2 and 3."""
    busy = curve(schedule, "busy_cores").binned(bins)
    running = running_jobs(schedule).between(busy.edges)
    return Activity(
        busy.edges[:-1] - busy.edges[0], busy.mean / schedule.cluster.cores, running.mean
    )


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """Response times over sizes, and the power law through them with its confidence band."""

    cores: Ints
    makespan: Ints
    x: Floats
    law: Floats
    low: Floats
    high: Floats


def size_data(scaling: Scaling, *, points: int = 100) -> SizeCurve:
    """Return the curves of figure 5; the band turns the law about the middle of the points."""
    assert scaling.law is not None
    cores = np.array(scaling.at, dtype=np.int64)
    x = np.geomspace(cores.min(), cores.max(), points)
    law = scaling.law.at(x)
    middle = np.exp(np.log(cores).mean())
    low, high = (
        law * (x / middle) ** (bound - scaling.law.exponent)
        for bound in (scaling.law.low, scaling.law.high)
    )
    return SizeCurve(
        cores,
        np.array(scaling.makespans),
        x,
        law,
        np.minimum(low, high),
        np.maximum(low, high),
    )

"""Replay a workload under several policies and put the results side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from queuesmith.cluster import Cluster
from queuesmith.engine.simulate import as_cluster
from queuesmith.policy import Policy
from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
from queuesmith.schedule import history
from queuesmith.schedule.objective import Objective
from queuesmith.study import simulate_many
from queuesmith.workload import Workload


def compare(
    workload: Workload,
    cluster: Cluster | None = None,
    policies: Sequence[Policy | str] = ("fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy"),
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    cores: int | None = None,
    strict: bool = False,
    warm_up: float = 0.0,
    cool_down: float = 0.0,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Replay a workload under several policies; what really happened stands first where known.

    Parameters
    ----------
    workload, cluster, cores, strict, policies, workers, progress
        As for ``simulate_many``.
    metrics
        Metrics, or expressions over metrics.
    warm_up, cool_down
        Shares of the log at its beginning and end whose jobs run but are not counted.
    """
    for metric in metrics:
        Objective(metric)  # a wrong name is told before the replays, not after
    cluster = as_cluster(workload, cluster, cores)
    fitting = workload.fitting(cluster.cores, strict=strict)
    schedules = simulate_many(fitting, cluster, policies, workers=workers, progress=progress)
    real = history(fitting, cluster)
    if real is not None:
        schedules.insert(0, real)
    if warm_up or cool_down:
        schedules = [schedule.trimmed(warm_up, cool_down) for schedule in schedules]
    return Comparison(tuple(schedules), tuple(metrics))

"""Replay a workload under several policies and put the results side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from queuesmith.cluster import Cluster, as_cluster
from queuesmith.policy import AnyPolicy, as_policy
from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
from queuesmith.schedule import Schedule, history
from queuesmith.schedule.measures import DEFAULT_BOUND
from queuesmith.study import simulate_many
from queuesmith.study.engines import Engine
from queuesmith.workload import Workload


def compare(
    workload: Workload,
    cluster: Cluster | None = None,
    policies: Sequence[AnyPolicy | str] = ("fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy"),
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    cores: int | None = None,
    strict: bool = False,
    warm_up: float = 0.0,
    cool_down: float = 0.0,
    bound: float = DEFAULT_BOUND,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Replay a workload under several policies; what really happened stands first where known.

    Parameters
    ----------
    workload, cluster, cores, strict, policies, workers, engine, progress
        As for ``simulate_many``.
    metrics
        Metrics, or expressions over metrics.
    warm_up, cool_down
        Shares of the log at its beginning and end whose jobs run but are not counted.
    bound
        The bound of the bounded slowdown, in seconds.
    """
    cluster = as_cluster(workload, cluster, cores)
    fitting = workload.fitting(cluster.cores, strict=strict)
    chosen = [as_policy(policy) for policy in policies]
    real = history(fitting, cluster)
    known = [] if real is None else [real]

    # What is wrong with the question itself is told before the replays, not after.
    nobody_waits = Schedule(fitting, cluster, fitting.submit, "").trimmed(warm_up, cool_down)
    labels = [*(each.policy for each in known), *map(str, chosen)]
    asked = tuple(replace(nobody_waits, policy=label) for label in labels)
    Comparison(asked, tuple(metrics), bound=bound)

    replayed = simulate_many(
        fitting, cluster, chosen, workers=workers, engine=engine, progress=progress
    )
    return Comparison((*known, *replayed), tuple(metrics), warm_up, cool_down, bound)

"""Replay a workload under several policies and put the results side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from queuesmith.base.checks import several
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.engine.simulate import as_machine
from queuesmith.policy import AnyPolicy, as_policies
from queuesmith.policy.labels import labels_of
from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
from queuesmith.schedule import Schedule, history
from queuesmith.schedule.measures import DEFAULT_BOUND
from queuesmith.study import simulate_many
from queuesmith.study.engines import Engine
from queuesmith.study.grading import todays_policy
from queuesmith.workload import Workload


def compare(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    policies: Sequence[AnyPolicy | str] = ("fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy"),
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    cores: int | None = None,
    strict: bool = False,
    warm_up: float = 0.0,
    cool_down: float = 0.0,
    bound: float = DEFAULT_BOUND,
    today: AnyPolicy | str | None = None,
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
    today
        The policy that really ran, by whose replay the machine is graded where the log tells what
        happened; by default ``slurm()`` on a machine of nodes, else ``fcfs+easy``.
    """
    machine = as_machine(workload, cluster, cores)
    fitting = jobs_that_fit(workload, machine, strict=strict)
    chosen = as_policies(policies)
    real = history(fitting, machine)
    known = [] if real is None else [real]

    # What is wrong with the question itself is told before the replays, not after.
    nobody_waits = Schedule(fitting, machine, fitting.submit, "").trimmed(warm_up, cool_down)
    graded = [todays_policy(machine, today)] if known else []
    labels = labels_of([*chosen, *graded])
    shown = [*(each.policy for each in known), *labels[: len(chosen)]]
    asked = tuple(replace(nobody_waits, policy=label) for label in shown)
    metrics = several("metrics", metrics, "Give for example ['mean_wait'].")
    Comparison(asked, metrics, bound=bound)

    by_label = dict(zip(labels, [*chosen, *graded], strict=True))
    replayed = simulate_many(
        fitting, machine, [*by_label.values()], workers=workers, engine=engine, progress=progress
    )
    found = [replace(one, policy=label) for one, label in zip(replayed, by_label, strict=True)]
    now = next((each for each in found if graded and each.policy == labels[-1]), None)
    return Comparison((*known, *found[: len(chosen)]), metrics, warm_up, cool_down, bound, now)

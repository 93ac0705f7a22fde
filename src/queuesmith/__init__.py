"""Queuesmith: replay a cluster's job log under any scheduling policy, and find a better one.

>>> import queuesmith as qs
>>> log = qs.read("kth.swf.gz")  # doctest: +SKIP
>>> qs.simulate(log, policy="fcfs+easy").summary()  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from queuesmith.base.errors import QueuesmithError
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.cluster.sources import machine_from
    from queuesmith.engine import simulate
    from queuesmith.learning import Tuned
    from queuesmith.learning.pareto import pareto_front
    from queuesmith.learning.tune import tune
    from queuesmith.planning import Snapshot
    from queuesmith.policy import Policy
    from queuesmith.report import Comparison, write_report
    from queuesmith.report.compare import compare
    from queuesmith.schedule import Schedule, history
    from queuesmith.schedule.confidence import confidence
    from queuesmith.schedule.objective import Objective
    from queuesmith.schedule.verify import verify
    from queuesmith.study import simulate_many
    from queuesmith.workload import Workload
    from queuesmith.workload.files import read, write
    from queuesmith.workload.scale import scale
    from queuesmith.workload.synthetic import bag_of_tasks, demo_workload, lublin

# Where each public name lives. Names are imported when they are first used, so that
# ``queuesmith --help`` does not wait for the compiler.
_HOME = {
    "Cluster": "queuesmith.cluster",
    "Comparison": "queuesmith.report",
    "NodeCluster": "queuesmith.cluster",
    "Objective": "queuesmith.schedule.objective",
    "Policy": "queuesmith.policy",
    "QueuesmithError": "queuesmith.base.errors",
    "Schedule": "queuesmith.schedule",
    "Snapshot": "queuesmith.planning",
    "Tuned": "queuesmith.learning",
    "Workload": "queuesmith.workload",
    "bag_of_tasks": "queuesmith.workload.synthetic",
    "compare": "queuesmith.report",
    "confidence": "queuesmith.schedule.confidence",
    "demo_workload": "queuesmith.workload.synthetic",
    "history": "queuesmith.schedule",
    "lublin": "queuesmith.workload.synthetic",
    "machine_from": "queuesmith.cluster.sources",
    "pareto_front": "queuesmith.learning.pareto",
    "read": "queuesmith.workload.files",
    "scale": "queuesmith.workload.scale",
    "simulate": "queuesmith.engine",
    "simulate_many": "queuesmith.study",
    "tune": "queuesmith.learning",
    "verify": "queuesmith.schedule.verify",
    "write": "queuesmith.workload.files",
    "write_report": "queuesmith.report",
}

__all__ = [
    "Cluster",
    "Comparison",
    "NodeCluster",
    "Objective",
    "Policy",
    "QueuesmithError",
    "Schedule",
    "Snapshot",
    "Tuned",
    "Workload",
    "bag_of_tasks",
    "compare",
    "confidence",
    "demo_workload",
    "history",
    "lublin",
    "machine_from",
    "pareto_front",
    "read",
    "scale",
    "simulate",
    "simulate_many",
    "tune",
    "verify",
    "write",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'queuesmith' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])

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
    from queuesmith.federation import Federation
    from queuesmith.federation.methods import place
    from queuesmith.grid import EtcMatrix
    from queuesmith.grid.methods import map_jobs
    from queuesmith.knobs.greedy_knapsack import knapsack
    from queuesmith.knobs.sweeping import sweep
    from queuesmith.learning import Tuned
    from queuesmith.learning.pareto import pareto_front
    from queuesmith.learning.tune import tune
    from queuesmith.planning import Snapshot
    from queuesmith.planning.solve import solve
    from queuesmith.policy import Policy
    from queuesmith.report import Comparison, write_report
    from queuesmith.report.compare import compare
    from queuesmith.schedule import Schedule, history
    from queuesmith.schedule.confidence import confidence
    from queuesmith.schedule.fidelity import Fidelity
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
    "NodeCluster": "queuesmith.cluster",
    "bag_of_tasks": "queuesmith.workload.synthetic",
    "Cluster": "queuesmith.cluster",
    "compare": "queuesmith.report",
    "Comparison": "queuesmith.report",
    "confidence": "queuesmith.schedule.confidence",
    "demo_workload": "queuesmith.workload.synthetic",
    "EtcMatrix": "queuesmith.grid",
    "Federation": "queuesmith.federation",
    "Fidelity": "queuesmith.schedule.fidelity",
    "history": "queuesmith.schedule",
    "knapsack": "queuesmith.knobs.greedy_knapsack",
    "lublin": "queuesmith.workload.synthetic",
    "machine_from": "queuesmith.cluster.sources",
    "map_jobs": "queuesmith.grid.methods",
    "Objective": "queuesmith.schedule.objective",
    "pareto_front": "queuesmith.learning.pareto",
    "place": "queuesmith.federation.methods",
    "Policy": "queuesmith.policy",
    "QueuesmithError": "queuesmith.base.errors",
    "read": "queuesmith.workload.files",
    "scale": "queuesmith.workload.scale",
    "Schedule": "queuesmith.schedule",
    "simulate": "queuesmith.engine",
    "simulate_many": "queuesmith.study",
    "Snapshot": "queuesmith.planning",
    "solve": "queuesmith.planning.solve",
    "sweep": "queuesmith.knobs.sweeping",
    "tune": "queuesmith.learning",
    "Tuned": "queuesmith.learning",
    "verify": "queuesmith.schedule.verify",
    "Workload": "queuesmith.workload",
    "write": "queuesmith.workload.files",
    "write_report": "queuesmith.report",
}

__all__ = [
    "Cluster",
    "Comparison",
    "EtcMatrix",
    "Federation",
    "Fidelity",
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
    "knapsack",
    "lublin",
    "machine_from",
    "map_jobs",
    "pareto_front",
    "place",
    "read",
    "scale",
    "simulate",
    "simulate_many",
    "solve",
    "sweep",
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

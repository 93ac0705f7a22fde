"""Queuesmith: replay a cluster's job log under any scheduling policy, and find a better one.

>>> import queuesmith as qs
>>> log = qs.read("kth.swf.gz")  # doctest: +SKIP
>>> qs.simulate(log, policy="fcfs+easy").summary()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

__version__ = "0.1.0"

if TYPE_CHECKING:
    from queuesmith.base.errors import QueuesmithError
    from queuesmith.campaign import read_study, run_study
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.cluster.sources import machine_from
    from queuesmith.engine import simulate
    from queuesmith.federation import Federation
    from queuesmith.federation.methods import place
    from queuesmith.grid import EtcMatrix
    from queuesmith.grid.methods import map_jobs
    from queuesmith.knobs.greedy_knapsack import knapsack
    from queuesmith.knobs.retuning import retune
    from queuesmith.knobs.sweeping import sweep
    from queuesmith.learning import Tuned
    from queuesmith.learning.pareto import pareto_front
    from queuesmith.learning.rolling import roll
    from queuesmith.learning.tune import tune
    from queuesmith.planning import Snapshot
    from queuesmith.planning.gap import gap
    from queuesmith.planning.solve import solve
    from queuesmith.policy import Backfill, Order, OwnBackfill, Policy
    from queuesmith.policy.own_metrics import add_metric
    from queuesmith.policy.sentences import explain
    from queuesmith.report import Comparison, write_report
    from queuesmith.report.compare import compare
    from queuesmith.running import run_bags
    from queuesmith.schedule import Schedule, history
    from queuesmith.schedule.confidence import confidence
    from queuesmith.schedule.fidelity import Fidelity
    from queuesmith.schedule.objective import Objective
    from queuesmith.schedule.verify import verify
    from queuesmith.study import simulate_many
    from queuesmith.study.constraints import with_constraints
    from queuesmith.study.grading import fidelity
    from queuesmith.web import serve
    from queuesmith.workload import Workload
    from queuesmith.workload.files import read, write
    from queuesmith.workload.scale import scale
    from queuesmith.workload.synthetic import bag_of_tasks, demo_workload, lublin
    from queuesmith.workload.tables import from_frame
    from queuesmith.workload.workload import describe

__all__ = [
    "Backfill",
    "Cluster",
    "Comparison",
    "EtcMatrix",
    "Federation",
    "Fidelity",
    "NodeCluster",
    "Objective",
    "Order",
    "OwnBackfill",
    "Policy",
    "QueuesmithError",
    "Schedule",
    "Snapshot",
    "Tuned",
    "Workload",
    "add_metric",
    "bag_of_tasks",
    "compare",
    "confidence",
    "demo_workload",
    "describe",
    "explain",
    "fidelity",
    "from_frame",
    "gap",
    "history",
    "knapsack",
    "lublin",
    "machine_from",
    "map_jobs",
    "pareto_front",
    "place",
    "read",
    "read_study",
    "retune",
    "roll",
    "run_bags",
    "run_study",
    "scale",
    "serve",
    "simulate",
    "simulate_many",
    "solve",
    "sweep",
    "tune",
    "verify",
    "with_constraints",
    "write",
    "write_report",
]

# Names are imported when they are first used, so that ``queuesmith --help`` does not wait for the
# compiler.
__getattr__, __dir__ = door(
    __name__,
    {
        "base.errors": ("QueuesmithError",),
        "campaign": ("read_study", "run_study"),
        "cluster": (
            "Cluster",
            "NodeCluster",
        ),
        "cluster.sources": ("machine_from",),
        "engine": ("simulate",),
        "federation": ("Federation",),
        "federation.methods": ("place",),
        "grid": ("EtcMatrix",),
        "grid.methods": ("map_jobs",),
        "knobs.greedy_knapsack": ("knapsack",),
        "knobs.retuning": ("retune",),
        "knobs.sweeping": ("sweep",),
        "learning": (
            "Tuned",
            "tune",
        ),
        "learning.pareto": ("pareto_front",),
        "learning.rolling": ("roll",),
        "planning": ("Snapshot",),
        "planning.gap": ("gap",),
        "planning.solve": ("solve",),
        "policy": (
            "Backfill",
            "Order",
            "OwnBackfill",
            "Policy",
        ),
        "policy.own_metrics": ("add_metric",),
        "policy.sentences": ("explain",),
        "report": ("Comparison", "write_report"),
        "report.compare": ("compare",),
        "running": ("run_bags",),
        "schedule": (
            "Schedule",
            "history",
        ),
        "schedule.confidence": ("confidence",),
        "schedule.fidelity": ("Fidelity",),
        "schedule.objective": ("Objective",),
        "schedule.verify": ("verify",),
        "study": ("simulate_many",),
        "study.constraints": ("with_constraints",),
        "study.grading": ("fidelity",),
        "web": ("serve",),
        "workload": ("Workload",),
        "workload.files": (
            "read",
            "write",
        ),
        "workload.scale": ("scale",),
        "workload.synthetic": (
            "bag_of_tasks",
            "demo_workload",
            "lublin",
        ),
        "workload.tables": ("from_frame",),
        "workload.workload": ("describe",),
    },
)

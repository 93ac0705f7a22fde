"""How much of hidden constraints is found again: on runs of our own, and on a real one.

    python -m tests.lab.constraints                       # replays of made-up jobs, then hidden
    python -m tests.lab.constraints FOLDER JOBS.events    # a folder with sacct.out and slurm.conf

The rule was chosen on seeds 1 and 2; what is printed has others.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from queuesmith import Workload, simulate
from queuesmith.cluster import Association, NodeCluster, NodeKind, Partition
from queuesmith.cluster.features import nodes_with
from queuesmith.cluster.fitting import jobs_that_fit
from queuesmith.cluster.hostlist import folded
from queuesmith.cluster.node_arrays import node_features
from queuesmith.cluster.sources import machine_from
from queuesmith.engine.inferred_constraints import inferred_constraints
from queuesmith.schedule import history
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.study.constraints import constrained
from queuesmith.workload.files import read
from queuesmith.workload.table_columns import coded

SETTINGS = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "20000",
    "PriorityWeightFairshare": "30000",
    "PriorityWeightJobSize": "10000",
    "PriorityMaxAge": "0-6",
    "PriorityDecayHalfLife": "0-8",
    "SelectTypeParameters": "CR_Core_Memory",
    "DefMemPerCPU": "2000",
}
SMALL = (
    NodeKind("a[1-6]", 16, memory=64000, features=("old",)),
    NodeKind("b[1-4]", 16, memory=128000, features=("ib", "new")),
    NodeKind("g[1-2]", 16, memory=64000, gres={"gpu": 4}, features=("eth", "new"), weight=5),
)
LARGE = (
    NodeKind("c[01-20]", 32, memory=128000, features=("amd",)),
    NodeKind("d[01-12]", 24, memory=96000, features=("intel", "cascade"), weight=2),
    NodeKind("e[1-4]", 24, memory=768000, features=("intel", "big"), weight=10),
)
USERS = 8


class HiddenRun(NamedTuple):
    """Jobs as accounting without Constraints tells them, and what they asked for in truth."""

    machine: NodeCluster
    jobs: Workload
    truth: list[str]


def hidden_run(kinds: tuple[NodeKind, ...], seed: int, count: int = 1500) -> HiddenRun:
    """Replay jobs of which half ask for a feature, and forget what they asked for."""
    names = ",".join(folded(kind.nodes) for kind in kinds)
    links = tuple(Association(f"p{i % 3}", f"u{i}", shares=1 + i % 2) for i in range(USERS))
    machine = NodeCluster(
        kinds,
        partitions=(Partition("all", names, default=True),),
        associations=links,
        settings=SETTINGS,
    )
    jobs, truth = _jobs(machine, np.random.default_rng(seed), count)
    ran = simulate(constrained(jobs, truth), machine, "slurm(clock_offset=17)")
    lists: list[list[str]] = [[] for _ in truth]
    assert ran.pieces is not None and ran.pieces.place is not None
    for job, place in zip(ran.pieces.job, ran.pieces.place, strict=True):
        lists[job].append(machine.node_names[place])
    codes, texts = coded([folded(each) for each in lists])
    extra = {**jobs.extra, "node_list": codes, "real_start": ran.start}
    return HiddenRun(
        machine, jobs.replaced(extra=extra, labels={**jobs.labels, "node_list": texts}), truth
    )


def _jobs(
    machine: NodeCluster, random: np.random.Generator, count: int
) -> tuple[Workload, list[str]]:
    features = node_features(machine)
    nodes = np.array([nodes_with(machine, name).sum() for name in features])
    asked = random.choice(len(features), count, p=nodes / nodes.sum())
    asked = np.where(random.random(count) < 0.5, asked, -1)
    per_node = min(kind.cores for kind in machine.kinds)
    widths = [1, 2, 4, 8, per_node, 2 * per_node, 4 * per_node]
    cores = random.choice(widths, count, p=[0.25, 0.1, 0.15, 0.15, 0.2, 0.1, 0.05])
    room = np.where(asked >= 0, per_node * np.maximum(nodes[asked] // 2, 1), 4 * per_node)
    cores = np.minimum(cores, room)
    runtime = np.clip(random.lognormal(6.5, 1.3, count).astype(int), 1, 20000)
    stated = np.ceil(runtime * random.uniform(1, 4, count) / 300).astype(int) * 300
    between = (cores * runtime).mean() / machine.cores
    user = random.integers(0, USERS, count)
    jobs = Workload(
        np.cumsum(random.exponential(between, count)).astype(int),
        runtime,
        stated,
        cores,
        user=user,
        extra={
            "requested_nodes": np.maximum(cores // per_node, 1),
            "tasks_per_node": np.minimum(cores, per_node),
            "account": user % 3,
        },
        labels={"user": tuple(f"u{i}" for i in range(USERS)), "account": ("p0", "p1", "p2")},
        epoch=1_600_000_000,
    )
    return jobs, [features[i] if i >= 0 else "" for i in asked]


class Found(NamedTuple):
    """How many jobs were found to be bound, rightly so, and to the right nodes; of how many."""

    bound: int
    rightly: int
    exactly: int
    of: int


def compared(machine: NodeCluster, found: list[str], truth: list[str]) -> Found:
    """Return how much of the truth was found; features of the same nodes are the same."""

    def nodes(text: str) -> bytes:
        return nodes_with(machine, text).tobytes() if text else b""

    bound = [(nodes(one), nodes(other)) for one, other in zip(found, truth, strict=True) if one]
    return Found(
        len(bound),
        sum(1 for _, other in bound if other),
        sum(one == other for one, other in bound),
        sum(1 for text in truth if text),
    )


def told(run: HiddenRun, policy: str) -> list[str]:
    """Return how much was found and how true replays are: as logged, inferred, with the truth."""
    found = inferred_constraints(run.jobs, run.machine)
    count = compared(run.machine, found, run.truth)
    lines = [
        f"{count.of} of {len(run.truth)} jobs bound, {count.bound} found, {count.rightly} of them "
        f"rightly, {count.exactly} to the right nodes"
    ]
    empty = [""] * len(found)
    for name, texts in (("as logged", empty), ("inferred", found), ("truth", run.truth)):
        jobs = constrained(run.jobs, texts)
        real = history(jobs, run.machine)
        assert real is not None
        judged = Fidelity(real, simulate(jobs, run.machine, policy))
        lines.append(
            f"  {name}: {judged.error_percent:+.1f} %, rank {judged.rank_correlation:.2f}, "
            f"a job's error {judged.mean_error:,.0f} s"
        )
    return lines


def real_run(folder: Path, events: Path) -> HiddenRun:
    """Return a run whose submissions tell the constraints that its accounting lacks."""
    machine = machine_from(folder)
    jobs = jobs_that_fit(read(folder / "sacct.out", cancelled=True), machine)
    asked = {}
    for line in events.read_text().splitlines():
        name = re.search(r"-J jobid_(\d+)", line)
        constraint = re.search(r"--constraint=(\S+)", line)
        if name:
            asked[name[1]] = constraint[1] if constraint else ""
    return HiddenRun(machine, jobs, [asked[str(job)] for job in jobs.extra["jobid"]])


def main(argv: list[str]) -> int:
    """Print what is found of made-up runs, or of a real one."""
    if argv:
        print("\n".join(told(real_run(Path(argv[0]), Path(argv[1])), "slurm()")))
        return 0
    for name, kinds in (("12 nodes", SMALL), ("36 nodes", LARGE)):
        for seed in (11, 12, 13):
            run = hidden_run(kinds, seed)
            print(f"{name}, seed {seed}: ", end="")
            print("\n".join(told(run, "slurm(clock_offset=140)")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

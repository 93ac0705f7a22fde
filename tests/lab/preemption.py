"""A real Slurm that stops jobs for others, by tier and by QOS, and replays that do so themselves.

    python -m tests.lab.preemption --seed 11

as root; both labs run side by side, for about twelve minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from queuesmith import Workload, fidelity, verify
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.sources import machine_from
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload.files import read
from queuesmith.workload.preempted import cut_runs
from tests.lab.slurm_lab import LabNodes, SlurmLab
from tests.lab.submissions import Submission, submit_all

NODES = LabNodes("n[1-4]", cores=8)
SETTINGS = {
    "PreemptMode": "REQUEUE",
    "AccountingStorageEnforce": "associations,limits,qos",
    "PriorityWeightQOS": "1000",
    "PriorityWeightAge": "1000",
    "SchedulerParameters": "bf_interval=10,bf_resolution=1,sched_interval=30",
}
ACCOUNTING = (
    "add qos scavenger Priority=1",
    "add qos urgent Priority=10",
    "modify qos set Preempt=scavenger where name=urgent",
    "add account alpha QOS=normal,scavenger,urgent",
    "add user games account=alpha",
    "add user mail account=alpha",
)
DRAWS = 16


class Kind(NamedTuple):
    """A way to say who may stop whom: partitions, and what jobs of either kind are asked with."""

    type: str
    partitions: tuple[str, ...]
    low: str
    high: str


KINDS = {
    "tiers": Kind(
        "preempt/partition_prio",
        ("low Nodes=ALL Default=YES", "high Nodes=ALL PriorityTier=10 PreemptMode=OFF"),
        "-p low",
        "-p high",
    ),
    "qos": Kind("preempt/qos", ("main Nodes=ALL Default=YES",), "-q scavenger", "-q urgent"),
}


def submissions(kind: Kind, count: int, seed: int) -> Iterator[Submission]:
    """Yield jobs of which a third may stop the others, and are shorter and narrower."""
    random, at = np.random.default_rng(seed), 0.0
    for number in range(count):
        at += float(random.exponential(3.5))
        high = random.random() < 0.35
        cores = int(random.choice([2, 4, 8] if high else [1, 2, 4, 8, 16]))
        seconds = int(random.integers(10, 40) if high else random.integers(20, 120))
        minutes = seconds // 60 + int(random.integers(1, 3))
        options = f"-n {cores} -t {minutes} {kind.high if high else kind.low} -A alpha"
        yield Submission(at, ("games", "mail")[number % 2], float(seconds), options)


def run(folder: Path, kind: Kind, jobs: Iterator[Submission]) -> tuple[Workload, NodeCluster]:
    """Let Slurm run the jobs; return its accounting and its machine."""
    with SlurmLab(
        folder,
        nodes=[NODES],
        partitions=kind.partitions,
        settings={**SETTINGS, "PreemptType": kind.type},
        accounting=ACCOUNTING,
    ) as lab:
        submit_all(lab, jobs)
        lab.wait_for_jobs(1800)
        path = lab.configuration / "jobs.sacct"
        path.write_text(lab.sacct())
        return read(path), machine_from(lab.configuration)


def told(name: str, found: Fidelity) -> str:
    """Return how true a replay is, in a line."""
    return (
        f"{name}: {found.mean_wait_history:.1f} s really, {found.mean_wait_replayed:.1f} replayed "
        f"({found.error_percent:+.1f} %), rank {found.rank_correlation:.2f}, "
        f"a job's error {found.mean_error:.1f} s"
    )


def stopped(found: Fidelity) -> set[int]:
    """Return the ids of the jobs that a replay has stopped."""
    replayed = verify(found.replayed)
    jobs = replayed.parts.job[replayed.cut_short]
    return set(replayed.workload.id[jobs].tolist())


def report(name: str, log: Workload, machine: NodeCluster) -> Iterator[str]:
    """Yield what came out of a lab: waits, and who was stopped."""
    once, drawn = fidelity(log, machine), fidelity(log, machine, draws=DRAWS)
    without = fidelity(log, machine, "slurm(PreemptMode=OFF)")
    really, ours = set(log.id[cut_runs(log)].tolist()), stopped(once)
    yield f"-- {name}: {len(once.history)} jobs, {int(cut_runs(log).sum())} runs cut short"
    yield told("one replay", once)
    yield told(f"mean of {DRAWS}", drawn)
    yield told("nobody stopped", without)
    yield (
        f"stopped: {len(really)} jobs really, {len(ours)} replayed, {len(really & ours)} of them "
        "the same"
    )


def main() -> None:
    """Read the command line, run both labs, print what came out."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=11)
    options.add_argument("--jobs", type=int, default=48)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="lab-preemption-") as folder:
        Path(folder).chmod(0o755)
        with ThreadPoolExecutor(len(KINDS)) as pool:
            runs = {
                name: pool.submit(
                    run, Path(folder) / name, kind, submissions(kind, given.jobs, given.seed)
                )
                for name, kind in KINDS.items()
            }
        for name, ran in runs.items():
            print(*report(name, *ran.result()), sep="\n")


if __name__ == "__main__":
    main()

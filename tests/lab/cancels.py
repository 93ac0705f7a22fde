"""A real Slurm whose users cancel waiting jobs, replayed with these in the queue and without.

    python -m tests.lab.cancels --seed 5

as root; takes about ten minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from queuesmith import simulate
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.sources import machine_from
from queuesmith.schedule import history
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload import Workload
from queuesmith.workload.files import read
from tests.lab.slurm_lab import LabNodes, SlurmLab
from tests.lab.submissions import Submission, submit_all

NODES = LabNodes("n[1-3]", cores=8)


def submissions(count: int, seed: int) -> Iterator[Submission]:
    """Yield jobs of which a quarter need most of the machine; three tenths are cancelled."""
    random, at = np.random.default_rng(seed), 0.0
    for _ in range(count):
        wide = random.random() < 0.25
        cores = int(random.integers(16, 25)) if wide else int(random.integers(1, 9))
        seconds, minutes = float(random.integers(3, 20)), int(random.integers(1, 4))
        cancelled = float(random.integers(15, 90)) if random.random() < 0.3 else None
        at += float(random.exponential(1.6))
        yield Submission(at, "root", seconds, f"-n {cores} -t {minutes}", cancelled)


def run(folder: Path, jobs: Iterator[Submission]) -> tuple[Workload, NodeCluster]:
    """Let Slurm run the jobs; return its accounting and its machine."""
    with SlurmLab(folder / "lab", nodes=[NODES]) as lab:
        submit_all(lab, jobs)
        lab.wait_for_jobs(1500)
        lab.show_controller()
        path = folder / "jobs.sacct"
        path.write_text(lab.sacct())
        return read(path, cancelled=True), machine_from(lab.configuration)


def told(name: str, log: Workload, machine: NodeCluster) -> str:
    """Return how true a replay is, in a line."""
    real = history(log, machine)
    assert real is not None
    found = Fidelity(real, simulate(log, machine, "slurm()"))
    return (
        f"{name}: {found.mean_wait_history:.1f} s really, {found.mean_wait_replayed:.1f} replayed "
        f"({found.error_percent:+.1f} %), rank {found.rank_correlation:.2f}, "
        f"a job's error {found.mean_error:.1f} s"
    )


def main() -> None:
    """Read the command line, run the lab, print both replays."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=5)
    options.add_argument("--jobs", type=int, default=120)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="lab-cancels-") as name:
        Path(name).chmod(0o755)
        log, machine = run(Path(name), submissions(given.jobs, given.seed))
        count = 0 if log.cancelled is None else len(log.cancelled)
        print(f"{len(log)} jobs ran, {count} were cancelled while they waited")
        print(told("with them", log, machine))
        print(told("without", log.replaced(cancelled=None), machine))


if __name__ == "__main__":
    main()

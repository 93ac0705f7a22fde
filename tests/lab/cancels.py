"""A real Slurm whose users cancel waiting jobs, replayed with these in the queue and without.

    python -m tests.lab.cancels --seed 5

as root; takes about ten minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from queuesmith import simulate
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.sources import machine_from
from queuesmith.schedule import history
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.workload import Workload
from queuesmith.workload.files import read
from tests.lab.slurm_lab import LabNodes, SlurmLab

NODES = LabNodes("n[1-3]", cores=8)


class Submission(NamedTuple):
    """A job, and after how many seconds its user cancels it, None: never."""

    pause: float
    cores: int
    seconds: float
    minutes: int
    cancelled: float | None


def submissions(count: int, seed: int) -> Iterator[Submission]:
    """Yield jobs of which a quarter need most of the machine; three tenths are cancelled."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        wide = random.random() < 0.25
        cores = int(random.integers(16, 25)) if wide else int(random.integers(1, 9))
        seconds, minutes = float(random.integers(3, 20)), int(random.integers(1, 4))
        cancelled = float(random.integers(15, 90)) if random.random() < 0.3 else None
        yield Submission(float(random.exponential(1.6)), cores, seconds, minutes, cancelled)


def cancel(lab: SlurmLab, number: int) -> None:
    """Cancel a job if it still waits; one that runs stays, and one that is over is an error."""
    with suppress(RuntimeError):
        lab.run("scancel", "--state=PENDING", str(number))


def run(folder: Path, jobs: Iterator[Submission]) -> tuple[Workload, NodeCluster]:
    """Let Slurm run the jobs; return its accounting and its machine."""
    timers: list[threading.Timer] = []
    with SlurmLab(folder / "lab", nodes=[NODES]) as lab:
        for job in jobs:
            time.sleep(job.pause)
            number = lab.submit(job.seconds, f"-n {job.cores} -t {job.minutes}")
            if job.cancelled is not None:
                timers.append(threading.Timer(job.cancelled, cancel, (lab, number)))
                timers[-1].start()
        lab.wait_for_jobs(1500)
        for timer in timers:
            timer.cancel()
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

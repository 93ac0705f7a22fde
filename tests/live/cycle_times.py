"""How long a cycle of the steerer takes on a real Slurm, commands included.

    python -m tests.live.cycle_times --lab 1000 10000

as root starts a Slurm of its own for each number of waiting jobs; without ``--lab`` it is the one
that ``SLURM_CONF`` names. The first cycle changes all that must be, the next ones find everything
in order. All is put back at the end.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from queuesmith.live.steering import Steering, SteerOptions
from queuesmith.policy import as_policy
from tests.lab.slurm_lab import LabNodes, SlurmLab

NODES = LabNodes("n[1-4]", cores=16)


@contextmanager
def waiting_jobs(count: int) -> Iterator[int]:
    """Start a Slurm with so many waiting jobs; yields the process of its slurmctld."""
    with tempfile.TemporaryDirectory(prefix="cycle-times-") as folder:
        Path(folder).chmod(0o755)
        settings = {"MaxJobCount": str(count + 1000)}
        with SlurmLab(Path(folder) / "lab", nodes=[NODES], settings=settings) as lab:
            for _ in range(4):
                lab.submit(36_000, "-N 1 -n 16 -t 600")

            def submit(number: int) -> None:
                # Requests in no order: what the policy wants differs from what is there.
                lab.submit(60, f"-n {1 + number % 16} -t {1 + number * 7919 % 599}")

            began = time.perf_counter()
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(submit, range(count)))
            print(f"{count} jobs submitted in {time.perf_counter() - began:.0f} s", flush=True)
            os.environ["SLURM_CONF"] = str(lab.configuration / "slurm.conf")
            yield int((lab.folder / "state" / "slurmctld.pid").read_text())


def processor_seconds(controller: int | None) -> tuple[float, float, float]:
    """Return the processor time so far of this process, its commands, and slurmctld."""
    commands = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = 0.0
    if controller is not None:
        words = Path(f"/proc/{controller}/stat").read_text().rpartition(")")[2].split()
        theirs = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return time.process_time(), commands.ru_utime + commands.ru_stime, theirs


def steer(policy: str, cycles: int, controller: int | None) -> None:
    """Steer a few cycles and print the times of each."""
    with tempfile.TemporaryDirectory() as folder:
        options = SteerOptions(
            every=0.1,
            cycles=cycles,
            most_changes=100_000,
            as_administrator=True,
            any_grade=True,
            timeout=120,
        )
        steering = Steering(as_policy(policy), Path(folder), options)
        one = steering._pass

        def timed(journal: object) -> None:
            began, before = time.perf_counter(), steering.counts.changes
            used = processor_seconds(controller)
            one(journal)  # type: ignore[arg-type]
            counts = steering.counts
            parts = zip(("here", "commands", "slurmctld"), used, strict=True)
            after = processor_seconds(controller)
            spent = [f"{b - a:.2f} {n}" for (n, a), b in zip(parts, after, strict=True)]
            print(
                f"{counts.waiting} waiting, {counts.changes - before} changed: "
                f"{time.perf_counter() - began:.2f} s; processor seconds: {', '.join(spent)}",
                flush=True,
            )

        steering._pass = timed  # type: ignore[method-assign]
        began = time.perf_counter()
        done = steering.run()
        print(f"{done}; {time.perf_counter() - began:.1f} s in all", flush=True)


def main() -> None:
    """Read the command line, steer a few cycles, print their times."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--policy", default="sjf+easy")
    options.add_argument("--cycles", type=int, default=4)
    options.add_argument("--controller", type=int, help="slurmctld's process, to count its time")
    options.add_argument("--lab", type=int, nargs="+", help="start a Slurm with so many waiting")
    given = options.parse_args()
    if given.lab is None:
        steer(given.policy, given.cycles, given.controller)
    for count in given.lab or ():
        with waiting_jobs(count) as controller:
            print(f"load {os.getloadavg()[0]:.1f}", flush=True)
            steer(given.policy, given.cycles, controller)


if __name__ == "__main__":
    main()

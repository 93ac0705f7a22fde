"""How long a cycle of the steerer takes on the Slurm that ``SLURM_CONF`` names, commands included.

    python -m tests.live.cycle_times --policy sjf+easy

as root. The first cycle changes all that must be, the next ones find everything in order. All is
put back at the end.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from queuesmith.live.steering import Steering, SteerOptions
from queuesmith.policy import as_policy


def processor_seconds(controller: int | None) -> tuple[float, float, float]:
    """Return the processor time so far of this process, its commands, and slurmctld."""
    commands = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = 0.0
    if controller is not None:
        words = Path(f"/proc/{controller}/stat").read_text().rpartition(")")[2].split()
        theirs = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return time.process_time(), commands.ru_utime + commands.ru_stime, theirs


def main() -> None:
    """Read the command line, steer a few cycles, print their times."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--policy", default="sjf+easy")
    options.add_argument("--cycles", type=int, default=4)
    options.add_argument("--controller", type=int, help="slurmctld's process, to count its time")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steer = SteerOptions(
            every=0.1,
            cycles=given.cycles,
            most_changes=100_000,
            as_administrator=True,
            any_grade=True,
            timeout=120,
        )
        steering = Steering(as_policy(given.policy), Path(folder), steer)
        one = steering._pass

        def timed(journal: object) -> None:
            began, before = time.perf_counter(), steering.counts.changes
            used = processor_seconds(given.controller)
            one(journal)  # type: ignore[arg-type]
            counts = steering.counts
            parts = zip(("here", "commands", "slurmctld"), used, strict=True)
            after = processor_seconds(given.controller)
            spent = [f"{b - a:.2f} {n}" for (n, a), b in zip(parts, after, strict=True)]
            print(
                f"{counts.waiting} waiting, {counts.changes - before} changed: "
                f"{time.perf_counter() - began:.2f} s; processor seconds: {', '.join(spent)}",
                flush=True,
            )

        steering._pass = timed  # type: ignore[method-assign]
        began = time.perf_counter()
        done = steering.run()
        print(f"{done}; {time.perf_counter() - began:.1f} s in all")


if __name__ == "__main__":
    main()

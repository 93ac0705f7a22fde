"""Kill a steerer again and again on a real Slurm, and look whether anything is left behind.

    python -m tests.live.kills --kills 20 --restart "COMMAND THAT RESTARTS slurmctld"

works on the Slurm that ``SLURM_CONF`` names, as root; it must have nothing else to do. While the
steerer works, users hold and release jobs, running jobs are requeued, arrays are split, slurmctld
is restarted and reconfigured. After each kill and ``slurm restore`` all that runs is requeued
and everything held is released, so that sprio shows all jobs, and every priority is compared with
the sum of its own parts.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from queuesmith.live.jobs import LiveJob
from queuesmith.live.restoring import present_jobs

POLICIES = ("sjf+easy", "ljf+easy", "narrow+easy", "laf+easy", "saf+easy")
ENTRY = "import sys; from queuesmith.cli import main; sys.exit(main())"


def call(*words: object) -> str:
    """Run a command whose failure does not matter here."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    return done.stdout


def submit(chance: random.Random, users: tuple[str, ...], *options: str) -> None:
    """Submit a job, or an array, of a random size."""
    user, cores, minutes = chance.choice(users), chance.randint(1, 16), chance.randint(1, 90)
    who = () if user == "root" else (f"--uid={user}", f"--gid={user}")
    size = (f"-n{cores}", f"-t{minutes}", f"--nice={chance.choice((0, 0, 0, 20))}")
    command = ("--output=/dev/null", "--chdir=/", "--wrap", "sleep 600")
    call("sbatch", *who, *size, *options, *command)


def disturb(chance: random.Random, restart: Callable[[], None], users: tuple[str, ...]) -> str:
    """Do one thing that happens on a cluster, and tell what."""
    jobs = present_jobs()
    waiting = [job for job in jobs if job.waiting]
    running = [job for job in jobs if job.running]
    what = chance.choice(("hold", "requeue", "split", "submit", "array", "reconfigure", "restart"))
    if what == "hold" and waiting:
        job = chance.choice(waiting)
        call("scontrol", "release" if job.held else "hold", job.array)
    elif what == "requeue" and running:
        call("scontrol", "requeue", chance.choice(running).id)
    elif what == "split" and (arrays := [job for job in waiting if job.tasks > 1]):
        call("scontrol", "update", f"JobId={chance.choice(arrays).array}_2", "TimeLimit=3")
    elif what == "submit":
        submit(chance, users)
    elif what == "array":
        submit(chance, users, "--array=1-4")
    elif what == "reconfigure":
        call("scontrol", "reconfigure")
    elif what == "restart":
        restart()
    return what


def reveal(seconds: float = 90) -> tuple[LiveJob, ...]:
    """Let every job wait and be shown by sprio; return them all."""
    call("scontrol", "update", "PartitionName=main", "State=DOWN")
    end = time.monotonic() + seconds
    while True:
        jobs = present_jobs()
        hidden = [job for job in jobs if job.made_of is None]
        if not hidden or time.monotonic() > end:
            return jobs
        for job in hidden:
            if job.held:
                call("scontrol", "release", job.array)
            elif job.state == "RUNNING":
                call("scontrol", "requeue", job.id)
            elif job.waiting:
                call("scontrol", "update", f"JobId={job.id}", "StartTime=now")
        time.sleep(0.3)


def left_behind(jobs: tuple[LiveJob, ...]) -> list[str]:
    """Return a sentence for each job whose priority is not what it would have been."""
    found = []
    for job in jobs:
        if job.made_of is None:
            found.append(f"job {job.id} ({job.state}, {job.reason}) cannot be looked at")
        elif job.made_of.site or job.made_of.by_hand:
            found.append(f"job {job.id} has {job.made_of}")
    return found


def kill_once(
    chance: random.Random, folder: Path, restart: Callable[[], None], users: tuple[str, ...]
) -> tuple[int, list[str], list[str]]:
    """Steer, disturb, kill, restore; return changes noted, what was done, and what is left."""
    words = ["slurm", "steer", "--policy", chance.choice(POLICIES), "--apply", "--everyone"]
    words += ["--as-administrator", "--any-grade", "--every", "0.3", "--most-changes", "25"]
    words += ["--journal", str(folder)]
    steerer = subprocess.Popen([sys.executable, "-c", ENTRY, *words], stderr=subprocess.DEVNULL)
    journals = lambda: [p for p in folder.glob("*.journal") if p.stat().st_size > 60]  # noqa: E731
    end = time.monotonic() + 60
    while not journals() and time.monotonic() < end and steerer.poll() is None:
        time.sleep(0.005)
    done = []
    until = time.monotonic() + chance.choice((0.0, 0.02, 0.1, 0.5, 2.0)) * chance.random()
    while time.monotonic() < until:
        done.append(disturb(chance, restart, users))
    steerer.kill()
    steerer.wait()
    noted = sum(path.read_text().count("\n") - 1 for path in journals())
    done += [disturb(chance, restart, users) for _ in range(chance.randrange(3))]
    words = ["slurm", "restore", "--journal", str(folder)]
    subprocess.run([sys.executable, "-c", ENTRY, *words], check=True, stdout=subprocess.DEVNULL)
    left = left_behind(reveal())
    call("scontrol", "update", "PartitionName=main", "State=UP")
    return noted, done, left


def exercise(
    kills: int, seed: int, restart: Callable[[], None], users: tuple[str, ...], jobs: int = 60
) -> list[str]:
    """Kill so often, print a line for each, and return all that was ever left behind."""
    chance = random.Random(seed)
    for _ in range(jobs):
        submit(chance, users)
    for _ in range(3):
        submit(chance, users, "--array=1-6")
    everything: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, kills + 1):
            noted, done, left = kill_once(chance, Path(folder), restart, users)
            everything += left
            print(f"kill {number}: {noted} changes noted, {len(left)} left; {' '.join(done)}")
    return everything


def main() -> int:
    """Run the exercise from the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--restart", required=True)
    options.add_argument("--users", default="root")
    given = options.parse_args()
    print(f"SLURM_CONF={os.environ.get('SLURM_CONF')}")
    left = exercise(
        given.kills,
        given.seed,
        lambda: subprocess.run(given.restart, shell=True, check=True, capture_output=True) and None,
        tuple(given.users.split(",")),
    )
    print(*left, sep="\n")
    print(f"{len(left)} jobs left behind after {given.kills} kills")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

"""A workload for a lab, made from a seed: who submits what, and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.lab.slurm_lab import LabNodes, SlurmLab

#: Three kinds of nodes: many plain ones, one with much memory, two with GPUs.
NODES = (
    LabNodes("c[1-6]", 8, 16_000, more="Weight=1 Feature=plain"),
    LabNodes("b1", 16, 64_000, more="Weight=10 Feature=big"),
    LabNodes("g[1-2]", 8, 32_000, gpus=4, more="Weight=20"),
)
#: Three partitions, one of them over the nodes of another.
PARTITIONS = (
    "main Nodes=c[1-6],b1 Default=YES MaxTime=10 DefaultTime=5",
    "gpu Nodes=g[1-2] MaxTime=10 DefaultTime=5",
    "short Nodes=c[1-2] MaxTime=1 DefaultTime=1 PriorityJobFactor=10",
)
#: Who shares the machine with whom: limits of a user, of jobs and of an account.
ACCOUNTING = (
    "add qos high Priority=100",
    "add qos capped MaxTRESPerUser=cpu=12 MaxJobsPerUser=5",
    "add account alpha Fairshare=50 QOS=normal,high",
    "add account beta Fairshare=30 QOS=normal GrpTRES=cpu=40",
    "add account gamma Fairshare=20 QOS=capped DefaultQOS=capped",
    "add user games,news account=alpha",
    "add user mail,lp account=beta",
    "add user uucp,irc account=gamma",
)
ACCOUNTS = {
    "games": "alpha",
    "news": "alpha",
    "mail": "beta",
    "lp": "beta",
    "uucp": "gamma",
    "irc": "gamma",
}
#: Priorities and a backfill on the scale of minutes, on which such a workload lives.
SETTINGS = {
    "AccountingStorageEnforce": "associations,limits,qos",
    "PriorityWeightAge": "1000",
    "PriorityMaxAge": "0-00:10:00",
    "PriorityWeightFairshare": "5000",
    "PriorityWeightJobSize": "500",
    "PriorityWeightPartition": "1000",
    "PriorityWeightQOS": "2000",
    "PriorityCalcPeriod": "1",
    "PriorityDecayHalfLife": "0-00:10:00",
    "SchedulerParameters": "bf_interval=10,bf_resolution=10,bf_window=60",
}


@dataclass(frozen=True)
class Submission:
    """One job that somebody submits after some seconds, and perhaps cancels so many later."""

    at: float
    user: str
    seconds: float
    options: str
    cancelled: float | None = None


def random_submissions(count: int, *, within: float, seed: int) -> list[Submission]:
    """Return jobs of several users, sizes and partitions, submitted within so many seconds.

    Jobs run for seconds to two minutes and state a limit that is longer, as people do.
    """
    random = np.random.default_rng(seed)
    instants = np.sort(random.uniform(0.0, within, count))
    instants -= instants[0]
    return [_submission(float(at), random) for at in instants]


def _submission(at: float, random: np.random.Generator) -> Submission:
    user = str(random.choice(list(ACCOUNTS)))
    seconds = int(np.clip(random.lognormal(3.5, 0.8), 4, 170))
    minutes = int(np.ceil(seconds / 60 * random.uniform(1.05, 3.0)))
    cores = int(random.choice([1, 2, 4, 8, 12, 16], p=[0.25, 0.2, 0.25, 0.2, 0.05, 0.05]))
    cores = min(cores, 8) if ACCOUNTS[user] == "gamma" else cores  # or it could never start
    options, kind = [f"-n {cores} -A {ACCOUNTS[user]}"], random.random()
    if kind < 0.15:
        options = [
            f"-n {min(cores, 4)} -A {ACCOUNTS[user]} -p gpu --gres=gpu:{random.integers(1, 5)}"
        ]
    elif kind < 0.3 and seconds < 55 and cores <= 8:
        options, minutes = [*options, "-p short"], 1
    elif kind < 0.4:
        options.append(f"--mem-per-cpu={random.integers(1500, 3500)}")
    elif kind < 0.5:
        options.append("-C plain")
    elif kind < 0.55:
        options = [f"-n 8 -N 1 --exclusive -A {ACCOUNTS[user]} -C plain"]
    if user in ("games", "news") and random.random() < 0.15:
        options.append("-q high")
    return Submission(at, user, seconds, " ".join([*options, f"-t {minutes}"]))


def submit_all(lab: SlurmLab, submissions: Iterable[Submission]) -> None:
    """Submit jobs at their instants; those that users cancel are cancelled if they still wait."""
    began = time.monotonic()
    for each in submissions:
        time.sleep(max(began + each.at - time.monotonic(), 0.0))
        number = lab.submit(each.seconds, each.options, user=each.user)
        if each.cancelled is not None:
            timer = threading.Timer(each.cancelled, _cancel, (lab, number))
            timer.daemon = True  # a job may be over before
            timer.start()


def _cancel(lab: SlurmLab, number: int) -> None:
    """Cancel a job if it still waits; one that runs stays, and one that is over is an error."""
    with suppress(RuntimeError):
        lab.run("scancel", "--state=PENDING", str(number))


def run_lab(
    folder: Path, submissions: Sequence[Submission], *, settings: dict[str, str], longest: float
) -> SlurmLab:
    """Run a workload on a lab of its own; its accounting is ``jobs.sacct`` beside slurm.conf.

    The lab is stopped when this returns; its configuration can still be read.
    """
    with SlurmLab(
        folder,
        nodes=NODES,
        partitions=PARTITIONS,
        settings=SETTINGS | settings,
        accounting=ACCOUNTING,
    ) as lab:
        submit_all(lab, submissions)
        lab.wait_for_jobs(longest)
        (lab.configuration / "jobs.sacct").write_text(lab.sacct())
    return lab

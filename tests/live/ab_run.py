"""The same jobs on a real Slurm with and without steering: what the replay foretold, and what came.

    SLURM_CONF=... python -m tests.live.ab_run run --out a --record 20
    SLURM_CONF=... python -m tests.live.ab_run run --out b --steer sjf+easy
    python -m tests.live.ab_run judge a b

Two runs need two Slurms or one after the other; each must have nothing else to do. Jobs only sleep.
With ``--record`` the state is kept every so many seconds, for forecasts to be judged by.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith import Workload, simulate
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.nodes import Partition
from queuesmith.live.restoring import present_jobs
from queuesmith.live.state import look

COLUMNS = "JobID,User,Account,Partition,Submit,Start,End,Elapsed,Timelimit,State,AllocCPUS,ReqCPUS"
ENTRY = "import sys; from queuesmith.cli import main; sys.exit(main())"


def submissions(
    seed: int, count: int, seconds: float, scale: float, users: list[str]
) -> list[dict[str, object]]:
    """Return who submits what and when: seconds of sleep, and minutes that are asked for."""
    chance = np.random.default_rng(seed)
    at = np.sort(chance.uniform(0, seconds, count))
    cores = chance.choice([1, 2, 4, 8, 16], count, p=[0.2, 0.2, 0.25, 0.2, 0.15])
    asked = chance.choice([1, 2, 3, 5, 8], count, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    share = np.clip(chance.beta(1.5, 2.0, count), 0.05, 0.9)
    return [
        {
            "at": float(at[i]),
            "cores": int(cores[i]),
            "minutes": int(asked[i]),
            "sleep": round(float(np.clip(scale * 60 * asked[i] * share[i], 3, 150)), 1),
            "user": users[int(chance.integers(len(users)))],
        }
        for i in range(count)
    ]


def submit(job: dict[str, object]) -> None:
    """Submit one job that sleeps."""
    who = (f"--uid={job['user']}", f"--gid={job['user']}", "--output=/dev/null", "--chdir=/")
    size = (f"-n{job['cores']}", "-N1", f"-t{job['minutes']}", "--wrap", f"sleep {job['sleep']}")
    subprocess.run(["sbatch", *who, *size], check=True, capture_output=True)


def run(given: argparse.Namespace) -> None:
    """Submit all jobs in time, steer where asked, wait for the end, keep the accounting."""
    folder = Path(given.out)
    folder.mkdir(parents=True)
    jobs = submissions(given.seed, given.jobs, given.seconds, given.scale, given.users.split(","))
    steerer = None
    if given.steer:
        words = ["slurm", "steer", "--policy", given.steer, "--apply", "--everyone", "--every", "2"]
        words += ["--as-administrator", "--any-grade", "--journal", str(folder / "journal")]
        with (folder / "steer.log").open("w") as log:
            steerer = subprocess.Popen([sys.executable, "-c", ENTRY, *words], stderr=log)
        time.sleep(15)
    began, recorded, number = time.time(), -given.record if given.record else 1e18, 0
    while number < len(jobs) or present_jobs():
        now = time.time() - began
        while number < len(jobs) and float(str(jobs[number]["at"])) <= now:
            submit(jobs[number])
            number += 1
        if now - recorded >= given.record:
            recorded = now
            kept = folder / f"state-{int(now):05d}"
            kept.mkdir()
            look(keep=kept)
        time.sleep(0.3)
    if steerer is not None:
        steerer.terminate()
        steerer.wait(60)
    time.sleep(8)  # the accounting hears of the last end some seconds late
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(began - 5))
    words = ["sacct", "-aPX", "-S", since, f"--format={COLUMNS}"]
    (folder / "jobs.sacct").write_bytes(
        subprocess.run(words, capture_output=True, check=True).stdout
    )
    (folder / "run.json").write_text(
        json.dumps({"began": began, "seed": given.seed, "steer": given.steer}) + "\n"
    )


def judge(given: argparse.Namespace) -> None:
    """Print waits with and without steering beside what replays of the same jobs foretell."""
    from queuesmith.live.state import state_of
    from queuesmith.workload.files import read

    machine = state_of(min(Path(given.without).glob("state-*"))).machine
    logs = [read(Path(folder) / "jobs.sacct") for folder in (given.without, given.steered)]
    real = [measures(log, log.extra["real_start"] - log.submit) for log in logs]
    # Both are foretold from the jobs of the run without steering.
    replayed = [measures(logs[0], wait) for wait in replays(logs[0], machine)]
    for name, (without, steered) in (("real", real), ("foretold", replayed)):
        for measure in without:
            before, after = without[measure], steered[measure]
            gain = 100 * (1 - after / before)
            print(f"{name}: {measure} {before:.2f} without, {after:.2f} steered, {gain:.1f} % less")


def measures(log: Workload, wait: Any) -> dict[str, float]:
    """Return what waits of jobs come to."""
    slowdown = np.maximum((wait + log.runtime) / np.maximum(log.runtime, 10), 1)
    return {
        "mean wait": float(wait.mean()),
        "mean bounded slowdown": float(slowdown.mean()),
        "longest wait": float(wait.max()),
    }


def replays(log: Workload, machine: NodeCluster) -> list[Any]:
    """Return the waits under Slurm by submission, and by the shortest request.

    Slurm's priority knows no requests, so in the second replay each request is a partition of all
    nodes with a priority of its own.
    """
    asked = sorted(set(log.walltime.tolist()))
    names = tuple(f"of {seconds} s" for seconds in asked)
    parts = tuple(
        Partition(name, machine.node_names, default=i == 0, priority=1000.0 - i)
        for i, name in enumerate(names)
    )
    unwanted = ("partition", "qos", "account")
    extra = {key: values for key, values in log.extra.items() if key not in unwanted}
    plain = log.replaced(extra=extra)
    code = np.array([asked.index(seconds) for seconds in log.walltime.tolist()])
    divided = plain.replaced(
        extra={**extra, "partition": code}, labels={**log.labels, "partition": names}
    )
    shortest = "slurm(PriorityWeightPartition=1000000, PriorityWeightAge=1)"
    return [
        simulate(plain, machine, "slurm(PriorityType=priority/basic)").wait,
        simulate(divided, replace(machine, partitions=parts), shortest).wait,
    ]


def forecasts(given: argparse.Namespace) -> None:
    """Print how far forecasts and Slurm's own expectations were off in a recorded run."""
    from queuesmith.live.forecast import forecast
    from queuesmith.live.state import state_of
    from queuesmith.workload.files import read

    text = (Path(given.folder) / "jobs.sacct").read_text()
    log = read(Path(given.folder) / "jobs.sacct")
    began = dict(zip(log.id.tolist(), (log.epoch + log.extra["real_start"]).tolist(), strict=True))
    ends = log.epoch + log.extra["real_start"] + log.runtime
    errors, theirs, within = [], [], []
    for folder in sorted(Path(given.folder).glob("state-*"))[:: given.step]:
        state = state_of(folder)
        history = log.select(ends < state.now)
        if len(history) < given.least or not any(job.ready for job in state.waiting):
            continue
        found = forecast(state, history, replays=given.replays, arrivals=given.arrivals)
        for each in found:
            start = began.get(each.job.id)
            if start is None or each.slurm is None:
                continue
            real = start - state.now
            errors.append(abs(each.median - real))
            theirs.append(abs(each.slurm - real))
            within.append(real <= each.late)
    print(
        f"{len(text.splitlines()) - 1} jobs, {len(errors)} forecasts: mean error "
        f"{np.mean(errors):.1f} s, squeue --start {np.mean(theirs):.1f} s; "
        f"90 % marks hold for {100 * np.mean(within):.1f} %"
    )


def main() -> None:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    verbs = options.add_subparsers(required=True)
    one = verbs.add_parser("run")
    one.add_argument("--out", required=True)
    one.add_argument("--jobs", type=int, default=150)
    one.add_argument("--seed", type=int, default=11)
    one.add_argument("--seconds", type=float, default=300)
    one.add_argument("--scale", type=float, default=1.0)
    one.add_argument("--users", default="root", help="who submits, with commas between")
    one.add_argument("--steer")
    one.add_argument("--record", type=float, default=0)
    two = verbs.add_parser("judge")
    two.add_argument("without")
    two.add_argument("steered")
    three = verbs.add_parser("forecasts")
    three.add_argument("folder")
    three.add_argument("--replays", type=int, default=50)
    three.add_argument("--least", type=int, default=10)
    three.add_argument("--step", type=int, default=1)
    three.add_argument("--arrivals", action="store_true")
    for verb, act in ((one, run), (two, judge), (three, forecasts)):
        verb.set_defaults(act=act)
    given = options.parse_args()
    given.act(given)


if __name__ == "__main__":
    main()

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
from pathlib import Path

import numpy as np

from queuesmith.live.restoring import present_jobs
from queuesmith.live.state import look

COLUMNS = "JobID,User,Account,Partition,Submit,Start,End,Elapsed,Timelimit,State,AllocCPUS,ReqCPUS"
ENTRY = "import sys; from queuesmith.cli import main; sys.exit(main())"


def submissions(seed: int, count: int, seconds: float, scale: float) -> list[dict[str, object]]:
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
            "user": ("lu_ana", "lu_ben")[int(chance.integers(2))],
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
    jobs = submissions(given.seed, given.jobs, given.seconds, given.scale)
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
    from queuesmith import simulate
    from queuesmith.workload.files import read

    waits = {}
    logs = [read(Path(folder) / "jobs.sacct") for folder in (given.without, given.steered)]
    for name, log in zip(("without", "steered"), logs, strict=True):
        wait = log.extra["real_start"] - log.submit
        waits[name] = wait
        print(f"{name}: {len(log)} jobs, mean wait {wait.mean():.1f} s, longest {wait.max()} s")
    for name, policy in (("without", given.policies[0]), ("steered", given.policies[1])):
        replayed = simulate(logs[0], cores=given.cores, policy=policy).wait
        print(f"replay of the jobs of the first, {policy}: mean wait {replayed.mean():.1f} s")
        waits[f"replayed {name}"] = replayed
    real = 1 - waits["steered"].mean() / waits["without"].mean()
    foretold = 1 - waits["replayed steered"].mean() / waits["replayed without"].mean()
    print(f"gain in the mean wait: {100 * real:.1f} %, foretold {100 * foretold:.1f} %")


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
    one.add_argument("--steer")
    one.add_argument("--record", type=float, default=0)
    two = verbs.add_parser("judge")
    two.add_argument("without")
    two.add_argument("steered")
    two.add_argument("--cores", type=int, default=64)
    two.add_argument("--policies", nargs=2, default=["fcfs+plan", "sjf+plan"])
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

"""The same jobs on a real Slurm with and without steering: what the replay foretold, and what came.

    python -m tests.live.ab_run foretell sjf+easy
    python -m tests.live.ab_run run --out a
    python -m tests.live.ab_run run --out b --steer sjf+easy
    python -m tests.live.ab_run judge a b

as root; each run starts a Slurm of its own, so both may run at the same time. Jobs only sleep. The
state is kept every ``--record`` seconds, for forecasts to be judged by.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind
from queuesmith.live.forecast import Expectation, forecast
from queuesmith.live.marks import learned_marks
from queuesmith.live.outcomes import Noted, Outcomes
from queuesmith.live.state import look, state_of
from queuesmith.live.steered import Steered
from queuesmith.policy import as_policy
from queuesmith.workload.files import read
from tests.lab.slurm_lab import LabNodes, SlurmLab
from tests.lab.submissions import Submission, submit_all
from tests.live.ab_foretold import measures, of_policies, replays, submitted

ENTRY = "import sys; from queuesmith.cli import main; sys.exit(main())"
NODES = LabNodes("n[1-4]", cores=16, memory=64_000)
#: Priority by age alone, and schedulers on the scale of seconds.
SETTINGS = {
    "PriorityWeightAge": "1000",
    "PriorityMaxAge": "1-0",
    "PriorityCalcPeriod": "1",
    "SchedulerParameters": "bf_interval=2,bf_resolution=1,sched_interval=2,sched_min_interval=0,"
    "batch_sched_delay=0,bf_max_job_test=2000,default_queue_depth=2000,bf_continue",
}
#: How often the steerer looks, in seconds.
CYCLE = 2
#: The most seconds that a run may take.
LONGEST = 3600.0


def submissions(
    seed: int, count: int, seconds: float, scale: float, users: list[str], at_once: int = 0
) -> list[Submission]:
    """Return who submits what and when: seconds of sleep, and minutes that are asked for."""
    chance = np.random.default_rng(seed)
    at = np.sort(chance.uniform(0, seconds, count))
    at[:at_once] = 0.0
    cores = chance.choice([1, 2, 4, 8, 16], count, p=[0.2, 0.2, 0.25, 0.2, 0.15])
    asked = chance.choice([1, 2, 3, 5, 8], count, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    share = np.clip(chance.beta(1.5, 2.0, count), 0.05, 0.9)
    return [
        Submission(
            float(at[i]),
            users[int(chance.integers(len(users)))],
            round(float(np.clip(scale * 60 * asked[i] * share[i], 3, 150)), 1),
            f"-n{cores[i]} -N1 -t{asked[i]}",
        )
        for i in range(count)
    ]


def run(given: argparse.Namespace) -> None:
    """Submit all jobs in time, steer where asked, wait for the end, keep the accounting."""
    folder = Path(given.out)
    folder.mkdir(parents=True)
    users = given.users.split(",")
    jobs = submissions(given.seed, given.jobs, given.seconds, given.scale, users, given.at_once)
    with tempfile.TemporaryDirectory(prefix="ab-run-") as home:
        Path(home).chmod(0o755)
        with SlurmLab(Path(home) / "lab", nodes=[NODES], settings=SETTINGS) as lab:
            os.environ["SLURM_CONF"] = str(lab.configuration / "slurm.conf")
            began = time.time()
            with steered(given.steer, folder), recorded(given.record, folder):
                submit_all(lab, jobs)
                lab.wait_for_jobs(LONGEST)
            (folder / "jobs.sacct").write_text(lab.sacct())
    facts = {"began": began, "load": os.getloadavg(), **vars(given), "act": "run"}
    (folder / "run.json").write_text(json.dumps(facts) + "\n")


@contextmanager
def steered(policy: str | None, folder: Path) -> Iterator[None]:
    """Steer the queue while within, where a policy is given."""
    if policy is None:
        yield
        return
    words = ["slurm", "steer", "--policy", policy, "--apply", "--everyone", "--every", str(CYCLE)]
    words += ["--as-administrator", "--any-grade", "--journal", str(folder / "journal")]
    with (folder / "steer.log").open("w") as log:
        steerer = subprocess.Popen([sys.executable, "-c", ENTRY, *words], stderr=log)
    time.sleep(15)
    try:
        yield
    finally:
        steerer.terminate()
        steerer.wait(60)


@contextmanager
def recorded(every: float, folder: Path) -> Iterator[None]:
    """Keep the state every so many seconds while within."""
    over, began = threading.Event(), time.time()

    def record() -> None:
        while not over.wait(every):
            kept = folder / f"state-{int(time.time() - began):05d}"
            kept.mkdir()
            look(keep=kept)

    recorder = threading.Thread(target=record)
    recorder.start()
    try:
        yield
    finally:
        over.set()
        recorder.join()


def judge(given: argparse.Namespace) -> None:
    """Print waits with and without steering beside what replays of the same jobs foretell."""
    machine = state_of(min(Path(given.without).glob("state-*"))).machine
    logs = [read(Path(folder) / "jobs.sacct") for folder in (given.without, given.steered)]
    # Both are foretold from the jobs of the run without steering.
    policy = json.loads((Path(given.steered) / "run.json").read_text())["steer"]
    told("real", *(measures(log, log.extra["real_start"] - log.submit) for log in logs))
    told("replays of policies", *of_policies(logs[0], machine, policy))
    if policy == "sjf+easy":
        waits = replays(logs[0], machine)
        told("replays of Slurm", *(measures(logs[0], wait) for wait in waits))


def told(name: str, without: dict[str, float], steered: dict[str, float]) -> None:
    """Print measures with and without steering."""
    for measure, before in without.items():
        after = steered[measure]
        gain = 100 * (1 - after / before)
        print(f"{name}: {measure} {before:.2f} without, {after:.2f} steered, {gain:.1f} % less")


def foretell(given: argparse.Namespace) -> None:
    """Print what replays foretell of jobs before any of them is submitted."""
    jobs = submissions(given.seed, given.jobs, given.seconds, given.scale, ["any"], given.at_once)
    log = submitted(jobs)
    machine = NodeCluster((NodeKind(("n1", "n2", "n3", "n4"), NODES.cores, NODES.memory),))
    for policy in given.policies:
        told(policy, *of_policies(log, machine, policy))


class Judged(NamedTuple):
    """A forecast of a recorded run, as replayed and as learned, beside what came."""

    replayed: Expectation
    learned: Expectation
    real: int


def judged(folder: Path, learned: Outcomes, given: argparse.Namespace) -> list[Judged]:
    """Foretell from each state that was kept, from what was known then."""
    log = read(folder / "jobs.sacct")
    begins = log.epoch + log.extra["real_start"]
    began, ends = dict(zip(log.id.tolist(), begins.tolist(), strict=True)), begins + log.runtime
    policy = json.loads((folder / "run.json").read_text())["steer"]
    steered = Steered(as_policy(policy), CYCLE) if policy else None
    found = []
    for kept in sorted(folder.glob("state-*"))[:: given.step]:
        state = state_of(kept)
        history = log.select(ends < state.now)
        begun = {job: start for job, start in began.items() if start <= state.now}
        learned.learn(state.now, partial(_start, begun))
        if len(history) < given.least or not any(job.ready for job in state.waiting):
            continue
        expected = forecast(
            state,
            history,
            steered=steered,
            replays=given.replays,
            arrivals=given.arrivals,
            explained=(),
        )
        expected = [each for each in expected if each.job.id in began]
        told = learned_marks(learned, expected, state.now)
        found += [
            Judged(as_replayed, as_learned, began[as_replayed.job.id] - state.now)
            for as_replayed, as_learned in zip(expected, told, strict=True)
        ]
    learned.learn(int(ends.max()), partial(_start, began))
    # What is learned belongs to another Slurm from now on, whose jobs have the same numbers.
    for each in learned.noted:
        each.job = -abs(each.job)
    return found


def _start(starts: dict[int, int], forecast: Noted) -> int | None:
    return starts.get(forecast.job)


def forecasts(given: argparse.Namespace) -> None:
    """Print how far forecasts and Slurm's own expectations were off in recorded runs.

    Marks are learned from one run to the next, and within each from what was known by then.
    """
    learned = Outcomes()
    for folder in given.folders:
        found = judged(Path(folder), learned, given)
        real = np.array([each.real for each in found])
        numbers = [each.replayed.job.id for each in found]
        # A job that is foretold again and again has one vote, shared by its forecasts.
        votes = [1 / numbers.count(number) for number in numbers]
        first = np.unique(numbers, return_index=True)[1]
        theirs = [(e.replayed.slurm, e.real) for e in found if e.replayed.slurm is not None]
        print(f"{folder}: {len(found)} forecasts of {len(set(numbers))} jobs")
        for name in ("replayed", "learned"):
            told = [getattr(each, name) for each in found]
            error = np.abs(np.array([each.median for each in told]) - real).mean()
            mark = np.array([each.late for each in told])
            held = 100 * (real <= mark).mean()
            by_job = 100 * np.average(real <= mark, weights=votes)
            at_first = 100 * (real <= mark)[first].mean()
            print(
                f"  as {name}: mean error {error:.1f} s, marks after {mark.mean():.0f} s on "
                f"average (jobs start after {real.mean():.0f} s) hold for {held:.1f} % of the "
                f"forecasts, {by_job:.1f} % of the jobs, {at_first:.1f} % when first told"
            )
        off = np.mean([abs(expects - came) for expects, came in theirs])
        print(f"  squeue --start: mean error {off:.1f} s, of {len(theirs)}", flush=True)


def main() -> None:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    verbs = options.add_subparsers(required=True)
    zero, one = verbs.add_parser("foretell"), verbs.add_parser("run")
    zero.add_argument("policies", nargs="+")
    for verb in (zero, one):
        verb.add_argument("--jobs", type=int, default=150)
        verb.add_argument("--seed", type=int, default=11)
        verb.add_argument("--seconds", type=float, default=300)
        verb.add_argument("--at-once", type=int, default=0, help="so many in the first second")
        verb.add_argument("--scale", type=float, default=1.0)
    one.add_argument("--out", required=True)
    one.add_argument("--users", default="games,news,mail,lp", help="who submits")
    one.add_argument("--steer", help="a policy")
    one.add_argument("--record", type=float, default=20.0)
    two = verbs.add_parser("judge")
    two.add_argument("without")
    two.add_argument("steered")
    three = verbs.add_parser("forecasts")
    three.add_argument("folders", nargs="+")
    three.add_argument("--replays", type=int, default=50)
    three.add_argument("--least", type=int, default=10)
    three.add_argument("--step", type=int, default=1)
    three.add_argument("--arrivals", action=argparse.BooleanOptionalAction)
    for verb, act in ((zero, foretell), (one, run), (two, judge), (three, forecasts)):
        verb.set_defaults(act=act)
    given = options.parse_args()
    given.act(given)


if __name__ == "__main__":
    main()

"""Jobs a second of the engine, on one core, beside the plain-Python twin and the targets."""

import resource
import tempfile
import time
from pathlib import Path

import queuesmith as qs
from benchmarks.data import SYNTHETIC_CORES, synthetic, trace
from benchmarks.timing import seconds_of
from queuesmith.cluster import Cluster
from queuesmith.engine.simulate import Replay
from queuesmith.testing import simulate_slowly

REPEATS = 3
TWIN_JOBS = 400

#: Jobs a second that each policy is to reach.
TARGETS = {
    "fcfs": None,
    "fcfs+list": None,
    "fcfs+easy": 1_000_000,
    "sjf+easy": None,
    "wfp3+easy": 200_000,
    "unicep+easy": 200_000,
    "greedy+easy": 200_000,
    "power+easy": 200_000,
    "multifactor+easy": 200_000,
    "fcfs+conservative": None,
}


def rate(log: qs.Workload, cores: int, policy: str) -> float:
    """Jobs a second of the quickest of a few replays."""
    seconds = min(seconds_of(Replay(log, Cluster(cores), policy).run()) for _ in range(REPEATS))
    return len(log) / seconds


def twin_rate(log: qs.Workload, cores: int, policy: str) -> float:
    few = log.head(TWIN_JOBS)
    began = time.perf_counter()
    simulate_slowly(few, Cluster(cores), policy)
    return len(few) / (time.perf_counter() - began)


def show(name: str, policy: str, fast: float, slow: float, target: int | None) -> None:
    verdict = ""
    if target is not None:
        verdict = f"  target {target:>9,}: {'met' if fast >= target else 'MISSED'}"
    print(f"{name:<18}{policy:<20}{fast:>12,.0f} jobs/s  {fast / slow:>8,.0f} x twin{verdict}")


def main() -> None:
    log = synthetic(1_000_000)
    for policy, target in TARGETS.items():
        slow = twin_rate(log, SYNTHETIC_CORES, policy)
        show("lublin 1,000,000", policy, rate(log, SYNTHETIC_CORES, policy), slow, target)
    path = trace("CTC-SP2-1996-3.1-cln.swf.gz")
    if path is not None:
        ctc = qs.read(path)
        for policy, target in (("fcfs+easy", None), ("fcfs+conservative", 50_000)):
            show("CTC-SP2", policy, rate(ctc, 338, policy), twin_rate(ctc, 338, policy), target)


USERS_ORDERS = """
def shortest(job, now):
    return -job.walltime

def urgent(job, now):
    urgency = (now - job.submit) / job.walltime
    return urgency * urgency * urgency * job.cores
"""


def own_orders() -> None:
    """Orders from a user's file beside the built-in ones that do the same."""
    log = synthetic(300_000)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mine.py"
        file.write_text(USERS_ORDERS)
        for mine, built_in in (("shortest", "sjf"), ("urgent", "wfp3")):
            own = rate(log, SYNTHETIC_CORES, f"{file}:{mine}+easy")
            other = rate(log, SYNTHETIC_CORES, f"{built_in}+easy")
            verdict = "met" if other <= 2 * own else "MISSED"
            print(
                f"mine.py:{mine}+easy {own:,.0f} jobs/s, {built_in}+easy {other:,.0f} jobs/s: "
                f"{other / own:.2f} times as long; target 2: {verdict}"
            )


def workers() -> None:
    """Eight replays at once, by one worker and by two."""
    log = synthetic(300_000)
    policies = [f"power(alpha={alpha / 10})+easy" for alpha in range(8)]
    took = []
    for count in (1, 2):
        began = time.perf_counter()
        qs.simulate_many(log, Cluster(SYNTHETIC_CORES), policies, workers=count)
        took.append(time.perf_counter() - began)
    print(
        f"8 replays of {len(log):,} jobs: 1 worker {took[0]:.2f} s, 2 workers {took[1]:.2f} s "
        f"({took[0] / took[1]:.2f} times as fast)"
    )


def growth() -> None:
    """Time and memory from 100,000 to 10,000,000 jobs under fcfs+easy."""
    Replay(synthetic(1000), Cluster(SYNTHETIC_CORES), "fcfs+easy").run()
    for jobs in (100_000, 1_000_000, 10_000_000):
        replay = Replay(synthetic(jobs), Cluster(SYNTHETIC_CORES), "fcfs+easy")
        seconds = seconds_of(replay.run())
        print(f"{jobs:>12,} jobs {seconds:>8.2f} s  {jobs / seconds:,.0f} jobs/s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / jobs
    verdict = "met" if peak <= 400 else "MISSED"
    print(
        f"peak of the process, generator included: {peak:,.0f} bytes a job; target 400: {verdict}"
    )

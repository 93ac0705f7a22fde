"""Bags of tasks that really run, measured: python -m benchmarks.bag_runs EXPERIMENT --help.

replay     hundreds of real tasks on this machine beside what the replay foretold
rate       tasks a second, and the overhead of one
knobs      the effect of the knobs on response times, beside what the replay foretold
exactly    the same bag on Dask or Slurm workers that are killed: each task exactly once
figure1    a batch queue that starts each task as a job, beside workers that take tasks
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.lab import lab
from benchmarks.study_kills import Processes
from queuesmith import simulate
from queuesmith.knobs import Knobs, TaskJobs, knapsack
from queuesmith.running import Bag, RunState, read_state, run_bags
from queuesmith.running.dispatch import log_priority
from queuesmith.study.dask_engines import DaskEngine, SlurmEngine, SlurmJobs
from queuesmith.study.engines import Engine, LocalEngine
from queuesmith.workload import Workload

#: Real computing, a fifth of a second on a quiet machine.
COMPUTING = "python3 -c 'n = 0\nfor i in range(1_500_000): n += i * i % 7'"


def main() -> int:
    experiments = {
        "replay": replay,
        "rate": rate,
        "knobs": knobs,
        "exactly": exactly,
        "figure1": figure1,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--tasks", type=int, default=2000, help="rate, exactly: how many")
    parser.add_argument("--on", default="local", help="rate, exactly: local, dask or slurm")
    parser.add_argument("--kills", type=int, default=5, help="exactly: workers to kill")
    parser.add_argument("--granule", type=float, default=1.0, help="figure1: seconds of a task")
    parser.add_argument("--port", type=int, default=18788)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(json.dumps(experiments[options.experiment](options, Path(folder)), indent=2))
    return 0


# -- beside the replay ----------------------------------------------------------------------------


def mixed_bags(computing: float) -> list[Bag]:
    """Return 528 tasks in six bags: sleeping ones of all kinds, and one that computes.

    Arrivals are chosen in the replay, so that no decision hangs on a near tie: with other ones,
    tasks that take 1 % longer can move the response of a bag by 15 %, in the replay itself.
    """
    return [
        Bag("large-long", ("sleep 3",) * 120, "A", 0, 3.0),
        Bag("small-long", ("sleep 5",) * 40, "C", 0, 5.0),
        Bag("computing", (COMPUTING,) * 8, "D", 2, computing, share=0.1),
        Bag("large-short", ("sleep 1",) * 200, "B", 6, 1.0),
        Bag("middle", ("sleep 2",) * 80, "B", 9, 2.0),
        Bag("capped", ("sleep 2",) * 80, "B", 14, 2.0, share=0.05),
    ]


def replay(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    began = time.monotonic()
    subprocess.run(COMPUTING, shell=True, check=True)
    bags = mixed_bags(time.monotonic() - began)
    return beside_replay(bags, Knobs(0.5, 1.0, -0.5), options.cores, folder / "run")


def knobs(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run the same bags under four settings, in the manner of the paper's figure 2."""
    bags = [
        Bag("large-long", ("sleep 2",) * 40, "A", 0, 2.0),
        Bag("large-short", ("sleep 1",) * 40, "B", 0, 1.0),
        Bag("small-long", ("sleep 2",) * 8, "C", 0, 2.0),
        Bag("small-short", ("sleep 1",) * 8, "D", 0, 1.0),
    ]
    settings = [Knobs(-1, 0, 0), Knobs(1, 0, 0), Knobs(0, 1, 1), Knobs(0, 0, -1)]
    return {
        str(each): beside_replay(bags, each, options.cores, folder / f"run-{number}")["bags"]
        for number, each in enumerate(settings)
    }


def beside_replay(bags: list[Bag], knobs: Knobs, cores: int, folder: Path) -> dict[str, object]:
    with LocalEngine(cores) as engine:
        state = run_bags(bags, engine, folder, knobs)
    foretold = foretell(state, knobs, cores)
    moved = foretell(state, knobs, cores, stretch=1.03)
    hindsight = foretell(state, knobs, cores, measured=True)
    rows = [
        {
            "bag": row["bag"],
            "tasks": row["tasks"],
            "completed": row["completed"],
            "response": round(row["response"], 2),
            "foretold": foretold[row["bag"]],
            "apart, per cent": round(100 * (row["response"] / foretold[row["bag"]] - 1), 2),
            "with lengths as measured": round(hindsight[row["bag"]], 2),
            "then apart": round(100 * (row["response"] / hindsight[row["bag"]] - 1), 2),
        }
        for row in state.rows()
    ]
    apart = [abs(row["apart, per cent"]) for row in rows]
    starts, wrong = against_priority(state, knobs)
    return {
        "tasks": sum(len(bag.tasks) for bag in bags),
        "cores": cores,
        "knobs": str(knobs),
        "bags": rows,
        "furthest apart, per cent": max(apart),
        "the replay itself with tasks 3 % longer, per cent": round(
            max(100 * abs(moved[bag] / foretold[bag] - 1) for bag in foretold), 2
        ),
        "then, per cent": max(abs(row["then apart"]) for row in rows),
        "starts": starts,
        "starts against the priority": wrong,
        "load of the machine (1 min)": round(os.getloadavg()[0], 1),
    }


def foretell(
    state: RunState, knobs: Knobs, cores: int, *, stretch: float = 1.0, measured: bool = False
) -> dict[str, float]:
    """Return the response of each bag in the compiled replay.

    It knows the expected length of a bag's tasks, or, in hindsight, the mean of what was measured.
    """
    bags = [progress.bag for progress in state.bags]
    scale = 100  # hundredths of a second: the replay's time is whole numbers
    expected = [
        (progress.mean_runtime if measured else None) or progress.bag.runtime or 1.0
        for progress in state.bags
    ]
    lengths = np.array([round(scale * stretch * seconds) for seconds in expected])
    log = Workload(
        submit=np.array([round(scale * bag.arrival) for bag in bags]),
        runtime=lengths,
        walltime=lengths,
        cores=np.array([len(bag.tasks) for bag in bags]),
    )
    jobs = TaskJobs(log, share=np.array([bag.share for bag in bags]))
    found = knapsack(jobs, cores=cores, knobs=knobs)
    return {
        bag.name: float(end - submit) / scale
        for bag, end, submit in zip(bags, found.end, log.submit, strict=True)
    }


def against_priority(state: RunState, knobs: Knobs) -> tuple[int, int]:
    """Count starts, and those at which a bag of higher priority could have started instead.

    Everything is recomputed from the times that workers recorded. Priorities that are equal within
    a hundredth of a logarithm count as equal: decisions fall some milliseconds before starts.
    """
    events = []
    for bag in state.bags:
        for task in bag.tasks:
            assert task.start is not None and task.end is not None
            events += [(task.end, 0, bag.place), (task.start, 1, bag.place)]
    demands = [bag.demand(float(bag.bag.runtime or 1)) for bag in state.bags]
    for demand, bag in zip(demands, state.bags, strict=True):
        demand.waiting = len(bag.tasks)
    wrong = starts = 0
    for second, is_start, place in sorted(events):
        demand = demands[place]
        if not is_start:
            demand.running -= 1
            continue
        starts += 1
        own = log_priority(demand, second, knobs)
        others = [d for d in demands if d.startable > 0 and d.submit <= second - 0.1]
        wrong += any(log_priority(other, second, knobs) > own + 0.01 for other in others)
        demand.waiting -= 1
        demand.running += 1
    return starts, wrong


# -- rates ----------------------------------------------------------------------------------------


def rate(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run thousands of tasks that do nothing."""
    with opened(options) as engine:
        state = run_bags([Bag("tiny", ("true",) * options.tasks)], engine, folder / "run")
    (row,) = state.rows()
    seconds = row["end"] - row["first_start"]
    began = time.monotonic()
    for _ in range(200):
        subprocess.run(["/bin/sh", "-c", "true"], check=True)
    plain = (time.monotonic() - began) / 200
    return {
        "on": options.on,
        "tasks": row["completed"],
        "cores": options.cores,
        "tasks a second": round(row["completed"] / seconds, 1),
        "milliseconds of a core a task": round(1000 * seconds * options.cores / options.tasks, 2),
        "of which starting a shell alone": round(1000 * plain, 2),
        "load of the machine (1 min)": round(os.getloadavg()[0], 1),
    }


# -- exactly once ---------------------------------------------------------------------------------


def exactly(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Kill workers in mid-task, and count how often each task came to its end."""
    processes = Processes()
    os.environ.update(processes.environment)
    ended = folder / "ended"
    commands = tuple(f"sleep 0.5; echo {i} >> {ended}" for i in range(options.tasks))
    ended.write_text("")
    stop = threading.Event()
    killed: list[int] = []
    with opened(options) as engine:
        killer = threading.Thread(
            target=kill_workers, args=(processes, options, ended, stop, killed)
        )
        killer.start()
        try:
            state = run_bags([Bag("bag", commands)], engine, folder / "run")
        finally:
            stop.set()
            killer.join()
    counts = Counter(map(int, ended.read_text().split()))
    (row,) = read_state(folder / "run").rows()
    return {
        "on": options.on,
        "tasks": options.tasks,
        "workers killed": len(killed),
        "completed": row["completed"],
        "attempts": sum(task.attempts for task in state.bags[0].tasks),
        "tasks that ended once": sum(count == 1 for count in counts.values()),
        "twice": sum(count > 1 for count in counts.values()),
        "never": options.tasks - len(counts),
    }


def kill_workers(
    processes: Processes,
    options: argparse.Namespace,
    ended: Path,
    stop: threading.Event,
    killed: list[int],
) -> None:
    """Kill a worker whenever another part of the tasks has ended."""
    chance = random.Random(0)
    part = options.tasks / (options.kills + 1)
    while len(killed) < options.kills and not stop.wait(0.2 + 0.5 * chance.random()):
        if len(ended.read_text().split()) < part * (len(killed) + 1):
            continue
        pids = processes.found("spawn_main")  # the workers themselves, not who watches over them
        if pids:
            pid = chance.choice(pids)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)


def opened(options: argparse.Namespace) -> Engine:
    if options.on == "local":
        return LocalEngine(options.cores)
    if options.on == "slurm":
        return SlurmEngine(SlurmJobs(options.cores, interface="lo", minutes=30))
    return OwnDask(options)


class OwnDask(DaskEngine):
    """A Dask cluster that the experiment starts: a scheduler, and workers with their nannies."""

    def __init__(self, options: argparse.Namespace) -> None:
        port = str(options.port)
        self.scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", port)
        time.sleep(4)
        words = ("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--nworkers")
        self.nanny = dask(*words, str(options.cores))
        super().__init__(f"tcp://127.0.0.1:{port}")

    def close(self) -> None:
        """End what was started."""
        super().close()
        for process in (self.nanny, self.scheduler):
            process.terminate()
            process.wait()


def dask(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words, "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


# -- the paper's figure 1 -------------------------------------------------------------------------


def figure1(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Process days of granules on a real Slurm in three ways, each beside its replay.

    ``regular`` is the paper's: a day is one job on one processor, its granules one after another.
    ``a job a task`` gives each granule to the batch queue. ``bags`` runs them in workers that are
    jobs of the same queue.
    """
    days, granules, seconds = 6, 30, options.granule
    with lab(options.cores):
        measured = {
            "regular": batch([f"for i in $(seq {granules}); do sleep {seconds}; done"] * days),
            "a job a task": batch([f"sleep {seconds}"] * (days * granules)),
        }
        measured["bags"], ready = bagged(options, days, granules, folder)
    foretold = {
        "regular": forecast(days, granules * seconds, options.cores),
        "a job a task": forecast(days * granules, seconds, options.cores),
        "bags": forecast(days * granules, seconds, options.cores),
    }
    return {
        "days": days,
        "granules a day": granules,
        "seconds a granule": seconds,
        "cores": options.cores,
        "measured": {way: round(spent, 1) for way, spent in measured.items()},
        "foretold": foretold,
        "until all workers were there": round(ready, 1),
        "bags against regular, per cent shorter": shorter(measured, "regular"),
        "so foretold": shorter(foretold, "regular"),
        "bags against a job a task, per cent shorter": shorter(measured, "a job a task"),
        "load of the machine (1 min)": round(os.getloadavg()[0], 1),
    }


def bagged(
    options: argparse.Namespace, days: int, granules: int, folder: Path
) -> tuple[float, float]:
    """Run days as bags in workers that are jobs; return how long that took, and their start."""
    began = time.monotonic()
    with SlurmEngine(SlurmJobs(options.cores, interface="lo", minutes=30)) as engine:
        engine._client.wait_for_workers(options.cores, timeout=300)
        ready = time.monotonic() - began
        task = (f"sleep {options.granule}",) * granules
        bags = [Bag(f"day-{i}", task, runtime=options.granule) for i in range(days)]
        state = run_bags(bags, engine, folder / "run")
        return max(row["end"] for row in state.rows()), ready


def forecast(jobs: int, seconds: float, cores: int) -> float:
    """Return how long a replay says that so many jobs of one core take, all submitted at once."""
    tenths = np.full(jobs, round(10 * seconds))
    log = Workload(
        submit=np.zeros(jobs, int), runtime=tenths, walltime=tenths, cores=tenths * 0 + 1
    )
    return simulate(log, cores=cores, policy="fcfs+easy").value("makespan") / 10


def shorter(ways: dict[str, float], other: str) -> float:
    return round(100 * (1 - ways["bags"] / ways[other]), 1)


def batch(commands: list[str]) -> float:
    """Give each command to Slurm as a job of one core; return how long all took."""
    began = time.monotonic()
    words = ["sbatch", "--parsable", "--ntasks=1", "--mem=100", "--output=/dev/null"]
    for command in commands:
        subprocess.run([*words, "--wrap", command], check=True, stdout=subprocess.DEVNULL)
    while True:
        left = subprocess.run(
            ["squeue", "--noheader", "--me", "--format=%i"], capture_output=True, check=True
        )
        if not left.stdout.strip():
            return time.monotonic() - began
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())

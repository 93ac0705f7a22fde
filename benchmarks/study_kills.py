"""Kills at random while a study runs: python -m benchmarks.study_kills --help.

The same study is computed twice: by one process, undisturbed; and in another folder, on Dask and on
Slurm in turn, while workers, coordinator, Dask's scheduler and slurmctld are killed (kill -9) at
random moments and the same command is simply given again. The two tables must be equal to the bit.

With --sleep a metric of the study's own sleeps in each unit, so that chunks of half a minute, and
hours of work, fit on a machine that others use, too. Work is then counted in units, all alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from benchmarks.lab import KillableLab, lab

STUDY = """
name = "kills"
policies = ["fcfs", "fcfs+easy", "sjf+easy", "f1+easy", "wfp3+easy", "unicep+easy",
            "ljf+easy", "fcfs+conservative", "sjf+conservative", "power(alpha=1)+easy"]
seeds = {seeds}
load_factors = [0.8, 1.0]
metrics = ["mean_wait", "mean_bounded_slowdown", "awrt", "utilization"{slow}]
""" + "".join(
    f"""
[[logs]]
name = "{name}"
generate = "{generator}"
jobs = {{jobs}}
cores = {cores}
load = {load}
"""
    for name, generator, cores, load in (
        ("lublin-64", "lublin", 64, 0.8),
        ("lublin-128", "lublin", 128, 0.9),
        ("lublin-256", "lublin", 256, 0.85),
        ("bags-64", "bag-of-tasks", 64, 0.85),
        ("bags-128", "bag-of-tasks", 128, 0.9),
    )
)
#: A metric that takes its time.
SLOW = """
import time

def slow_wait(schedule):
    time.sleep({sleep})
    return schedule.wait.mean()
"""
MARK = "QUEUESMITH_KILLS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder to work in")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--chunk", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=8.0, help="seconds between two kills")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--port", type=int, default=18787)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sleep", type=float, default=0.0, help="seconds that a unit sleeps")
    parser.add_argument("--slurm", action="store_true", help="on a real Slurm, too, started here")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    study = options.folder / "kills.toml"
    expected = alone(study, options)
    write_study(study, options, options.sleep)
    with lab(options.workers) if options.slurm else nullcontext() as slurm:
        report = disturbed(study, options, slurm)
    report["equal to the bit"] = (
        expected == (options.folder / "killed" / "results.sqlite").read_bytes()
    )
    print(json.dumps(report, indent=2))
    return 0 if report["equal to the bit"] else 1


def write_study(study: Path, options: argparse.Namespace, sleep: float) -> None:
    slow = ', "slow.py:slow_wait"' if options.sleep else ""
    study.write_text(STUDY.format(seeds=options.seeds, jobs=options.jobs, slow=slow))
    study.with_name("slow.py").write_text(SLOW.format(sleep=sleep))


def alone(study: Path, options: argparse.Namespace) -> bytes:
    """Compute the study by one process, which need not sleep."""
    write_study(study, options, 0.0)
    words = ["study", "run", str(study), "--workers", "1", "--folder", str(study.parent / "alone")]
    subprocess.run(command(words), check=True, stdout=subprocess.DEVNULL)
    return (study.parent / "alone" / "results.sqlite").read_bytes()


def command(words: list[str]) -> list[str]:
    program = f"import sys; from queuesmith.cli import main; sys.exit(main({words!r}))"
    return [sys.executable, "-c", f"if __name__ == '__main__': {program}"]


class Processes:
    """What this experiment has started, by a mark in its environment: nothing else is killed."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8)
        self.environment = {**os.environ, MARK: self.mark}

    def found(self, *words: str) -> list[int]:
        """Return our processes whose command has all of these words."""
        pids = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                ours = f"{MARK}={self.mark}".encode() in (place / "environ").read_bytes()
                if ours and all(word in line for word in words) and "/bin/sh" not in line:
                    pids.append(int(place.name))
        return pids


class Cluster:
    """A Dask scheduler of our own with workers, started again where it was killed."""

    def __init__(self, processes: Processes, options: argparse.Namespace) -> None:
        self.processes, self.options = processes, options
        self.address = f"tcp://127.0.0.1:{options.port}"

    def up(self) -> None:
        """Start what is not running."""
        if not self.processes.found("dask", "scheduler"):
            where = ["--host", "127.0.0.1", "--port", str(self.options.port), "--no-dashboard"]
            self.start("scheduler", *where)
            time.sleep(3)
        missing = self.options.workers - len(self.processes.found("dask", "worker", self.address))
        for _ in range(missing):
            self.start("worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny")

    def start(self, *words: str) -> None:
        """Start one program of Dask."""
        subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            env=self.processes.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def disturbed(
    study: Path, options: argparse.Namespace, slurm: KillableLab | None
) -> dict[str, Any]:
    chance, processes = random.Random(options.seed), Processes()
    cluster = Cluster(processes, options)
    folder = study.parent / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    kills: list[tuple[float, str, str]] = []
    commands, engine, run = 0, "", None
    began = time.time()
    try:
        while True:
            if run is None or run.poll() is not None:
                if run is not None and run.returncode == 0:
                    break
                engine = chance.choice(["dask", "slurm"]) if slurm is not None else "dask"
                if engine == "dask":
                    cluster.up()
                run = subprocess.Popen(
                    command(words(study, folder, engine, cluster, options)),
                    env=processes.environment,
                    stdout=subprocess.DEVNULL,
                )
                commands += 1
            time.sleep(chance.uniform(0.5, 1.5) * options.every)
            if len(kills) < options.kills and run.poll() is None:
                what = kill_something(chance, processes, run, slurm if engine == "slurm" else None)
                kills.append((time.time(), engine, what))
                print(
                    f"{time.time() - began:6.0f} s: kill {len(kills)}: {engine} {what}", flush=True
                )
            if engine == "dask":
                cluster.up()
    finally:
        for pid in processes.found("dask"):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    report = counted(folder, kills, commands, time.time() - began)
    work = report["units"] * options.sleep or report["processor seconds of the units"]
    twice = report["units in two shards"] * options.sleep
    spent = twice + report["seconds of these chunks until the next kill"]
    report["repeated, per cent of the work, at most"] = round(100 * spent / work, 2)
    return report


def words(
    study: Path, folder: Path, engine: str, cluster: Cluster, options: argparse.Namespace
) -> list[str]:
    own = ["--scheduler", cluster.address]
    if engine == "slurm":
        own = ["--workers", str(options.workers), "--interface", "lo", "--minutes", "30"]
    chunk = ["--chunk", str(options.chunk), "--quiet"]
    return ["study", "run", str(study), "--folder", str(folder), "--on", engine, *own, *chunk]


def kill_something(
    chance: random.Random,
    processes: Processes,
    run: subprocess.Popen[bytes],
    slurm: KillableLab | None,
) -> str:
    what = chance.choice(["worker", "worker", "coordinator", "other"])
    if what == "worker":
        # The workers themselves: on Slurm each has a nanny, which lets it finish.
        pids = processes.found("spawn_main") or processes.found("dask", "worker")
        if pids:
            os.kill(chance.choice(pids), signal.SIGKILL)
            return "worker"
        return "worker that was not there yet"
    if what == "coordinator":
        run.kill()
        run.wait()
        return "coordinator"
    if slurm is None:
        for pid in processes.found("dask", "scheduler"):
            os.kill(pid, signal.SIGKILL)
        return "Dask's scheduler"
    slurm.kill_controller()
    time.sleep(chance.uniform(2, 6))
    slurm.restart_controller()
    return "slurmctld"


def counted(
    folder: Path, kills: list[tuple[float, str, str]], commands: int, seconds: float
) -> dict[str, Any]:
    """Count the work that was repeated: units in two shards, and chunks that no shard came of.

    A killed worker leaves the note of what it was busy with. How many units it had done by then
    nobody knows; at most all that it can do in the time from the note to the next kill, at the pace
    of those chunks that came to their end.
    """
    shards = [json.loads(path.read_bytes()) for path in folder.glob("shard-*.json")]
    names = [name for shard in shards for name in shard]
    units = len(set(names))
    lost = 0.0
    for note in folder.glob("busy-*.json"):
        begun = note.stat().st_mtime
        after = [at for at, _, _ in kills if at >= begun]
        lost += min(after) - begun if after else 0.0
    return {
        "units": units,
        "kills": len(kills),
        "killed": {what: sum(k[2] == what for k in kills) for what in {k[2] for k in kills}},
        "commands": commands,
        "seconds": round(seconds),
        "processor seconds of the units": round(
            sum(result["seconds"] for shard in shards for result in shard.values()), 1
        ),
        "units in two shards": len(names) - units,
        "notes of chunks that no shard came of": len(list(folder.glob("busy-*.json"))),
        "seconds of these chunks until the next kill": round(lost, 1),
    }


if __name__ == "__main__":
    sys.exit(main())

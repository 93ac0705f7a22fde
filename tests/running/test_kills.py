"""Real processes, really killed: what ended is not run again, and nothing is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from queuesmith.running import read_state

TASKS, CORES = 24, 3


def start_runner(folder: Path) -> subprocess.Popen:
    words = ["run", "bag.txt", "--cores", str(CORES), "--quiet"]
    program = f"import sys; from queuesmith.cli import main; sys.exit(main({words!r}))"
    return subprocess.Popen(
        [sys.executable, "-c", f"if __name__ == '__main__': {program}"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )


def last_record(path: Path) -> dict:
    *_, last = path.read_text().splitlines() or ["{}"]
    return json.loads(last)


def kill_a_worker_in_mid_task(folder: Path) -> list[int]:
    """Kill a worker whose task has just begun; return the task that it left without a record."""
    for _ in range(2000):
        for path in (folder / "bag.run/records").glob("*"):
            line = last_record(path)
            if line.get("event") == "started" and time.time() - line["start"] < 0.1:
                os.kill(int(path.stem.split("-")[-2]), signal.SIGKILL)
                line = last_record(path)
                return [line["task"]] if line["event"] == "started" else []
        time.sleep(0.01)
    raise AssertionError("no worker began a task")


def wait_for_tasks(folder: Path, count: int) -> None:
    for _ in range(600):
        if (folder / "ended").is_file() and len((folder / "ended").read_text().split()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the run did not get so far")


def test_runner_and_workers_are_killed_and_no_recorded_task_is_run_again(tmp_path):
    chance = random.Random(7)
    (tmp_path / "ended").write_text("")
    lines = [f"sleep 0.3; echo {i} >> ended" for i in range(TASKS)]
    (tmp_path / "bag.txt").write_text("\n".join(lines))
    for killed in ("runner", "worker", "runner"):
        already = len((tmp_path / "ended").read_text().split())
        runner = start_runner(tmp_path)
        wait_for_tasks(tmp_path, already + 3)
        time.sleep(chance.uniform(0, 0.2))
        if killed == "worker":
            cut_short = kill_a_worker_in_mid_task(tmp_path)
            wait_for_tasks(tmp_path, already + 6)
        runner.kill()
        runner.wait()
    runner = start_runner(tmp_path)
    assert runner.wait(60) == 0
    ended = Counter(map(int, (tmp_path / "ended").read_text().split()))
    assert set(ended) == set(range(TASKS))
    # A worker that dies between the end of a command and its record leaves a task to do again.
    assert [task for task, times in ended.items() if times > 1 and task not in cut_short] == []
    (row,) = read_state(tmp_path / "bag.run").rows()
    assert row["completed"] == TASKS and row["failed"] == 0

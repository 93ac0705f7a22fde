"""Predicted runtimes on published logs, beside the figures of the SC 2015 study.

    python -m benchmarks.predicted [--traces ../shared/traces] [--starts 6]

Mean bounded slowdown (10 s). The study drops jobs without a request and cuts runtimes to it. Its
simulator lets the scheduler pass after every single event, arrivals before ends, where ours passes
once an instant: `easy_by_events` is plain EASY by that rule.

Replays of learned predictions are chaotic: a few jobs less at the beginning and all that follows is
another sample. So each is replayed from several beginnings, seven jobs apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numba import njit

from queuesmith import Workload, simulate
from queuesmith.workload.files import read

#: The file, the cores, and what was published: EASY, last-2, known runtimes.
LOGS = {
    "KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100, (92.6, 62.9, 49.8)),
    "CTC-SP2": ("CTC-SP2-1996-3.1-cln", 338, (49.6, 26.5, 17.6)),
    "SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128, (87.9, 65.1, 56.8)),
}
PREDICTORS = ("request", "known", "last2", "linear", "blend")
REQUESTED = 8  # the column of the format that has the requested time


def log_of(path: Path, cores: int) -> Workload:
    """Return the jobs of a log as the study takes them."""
    jobs = read(path, overrun="cut").fitting(cores)
    raw = np.loadtxt(path, comments=";")
    return jobs.select(np.isin(jobs.id, raw[raw[:, REQUESTED] > 0, 0].astype(np.int64)))


def slowdown(jobs: Workload, wait: np.ndarray) -> float:
    """Return the mean bounded slowdown of some waits."""
    return float(np.maximum((wait + jobs.runtime) / np.maximum(jobs.runtime, 10), 1).mean())


@njit
def easy_by_events(submit, runtime, walltime, width, cores):  # type: ignore[no-untyped-def]
    """Return the starts under EASY with a pass after every event, arrivals before ends."""
    count = len(submit)
    start = np.full(count, -1, np.int64)
    queue, running = [0][:0], [0][:0]
    free, arrived = cores, 0
    while arrived < count or len(queue) > 0:
        first, ends = -1, 2**62
        for place in range(len(running)):
            job = running[place]
            end = start[job] + runtime[job]
            if end < ends or (end == ends and job < running[first]):
                first, ends = place, end
        if arrived < count and submit[arrived] <= ends:
            now = submit[arrived]
            queue.append(arrived)
            arrived += 1
        else:
            now = ends
            free += width[running.pop(first)]
        while len(queue) > 0 and width[queue[0]] <= free:
            job = queue.pop(0)
            start[job] = now
            free -= width[job]
            running.append(job)
        if len(queue) < 2 or free == 0:
            continue
        due = sorted([(start[job] + walltime[job], width[job]) for job in running])
        room, shadow, place = free, 0, 0
        while room < width[queue[0]] or (place < len(due) and due[place][0] == shadow):
            shadow = due[place][0]
            room += due[place][1]
            place += 1
        extra, place = room - width[queue[0]], 1
        while place < len(queue) and free > 0:
            job = queue[place]
            in_time = now + walltime[job] <= shadow
            if width[job] <= free and (in_time or width[job] <= extra):
                start[job] = now
                free -= width[job]
                extra -= 0 if in_time else width[job]
                running.append(queue.pop(place))
            else:
                place += 1
    return start


def main() -> None:
    """Print a line for each log and policy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=Path, default=Path("../shared/traces"))
    parser.add_argument("--starts", type=int, default=6)
    asked = parser.parse_args()
    for name, (file, cores, published) in LOGS.items():
        jobs = log_of(asked.traces / f"{file}.swf.gz", cores)
        print(f"{name}: {len(jobs):,} jobs; published EASY, last-2, known: {published}")
        columns = (jobs.submit, jobs.runtime, jobs.walltime, jobs.cores)
        by_events = slowdown(jobs, easy_by_events(*columns, cores) - jobs.submit)
        ours = slowdown(jobs, simulate(jobs, cores=cores, policy="fcfs+easy").wait)
        print(f"  fcfs+easy {ours:.2f}; with a pass after every event {by_events:.2f}")
        for predictor in PREDICTORS:
            values = []
            for number in range(asked.starts):
                part = jobs.select(range(7 * number, len(jobs)))
                policy = f"fcfs+easy+predicted({predictor})"
                values.append(slowdown(part, simulate(part, cores=cores, policy=policy).wait))
            mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
            shown = " ".join(f"{value:.2f}" for value in values)
            print(f"  {predictor:8} {mean:6.2f} +- {error:.2f}  ({shown})", flush=True)


if __name__ == "__main__":
    main()

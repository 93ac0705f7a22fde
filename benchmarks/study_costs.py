"""What studies cost beside their units: python -m benchmarks.study_costs EXPERIMENT.

overhead   processor time beside that of the units, on Dask and in processes of this machine; where
           units sleep instead of computing (--sleep), also on a machine that others use
workers    the time of two local processes against one; wants a quiet machine
memory     ten thousand small units: memory of coordinator and worker on the way
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from benchmarks.study_kills import SLOW
from queuesmith.campaign import Study, run_study
from queuesmith.campaign.study_file import Log
from queuesmith.policy.own_metrics import add_metric
from queuesmith.study.dask_engines import DaskEngine
from queuesmith.study.engines import Engine, LocalEngine

POLICIES = ("fcfs+easy", "sjf+easy", "f1+easy", "fcfs+conservative")


def main() -> int:
    experiments = {"overhead": overhead, "workers": workers, "memory": memory}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--chunk", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, default=400, help="overhead, workers: 4 units each")
    parser.add_argument(
        "--sleep", type=float, default=0.0, help="overhead: units sleep, not compute"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = experiments[options.experiment](options, Path(folder))
    print(json.dumps(found, indent=2))
    return 0


def study(seeds: int, jobs: int, own_metrics: tuple[str, ...] = ()) -> Study:
    logs = (Log("lublin", generate="lublin", jobs=jobs, cores=128, load=0.9),)
    metrics = ("mean_wait", *(add_metric(each) for each in own_metrics))
    return Study(
        "costs", logs, POLICIES, seeds=tuple(range(seeds)), metrics=metrics, own_metrics=own_metrics
    )


def processor_time(_: int = 0) -> float:
    return time.process_time()


def memory_in_use(_: int = 0) -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def overhead(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Compute the same units by one Dask worker and by one local process."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        DaskEngine(cluster.scheduler_address) as engine,
    ):
        on_dask = beside(engine, options, folder / "dask")
    with LocalEngine(1) as local:
        here = beside(local, options, folder / "local")
    return {"dask": on_dask, "local": here, "load (1 min)": round(os.getloadavg()[0], 1)}


def beside(engine: Engine, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    run_study(study(1, 500), engine, folder / "warm", chunk_seconds=0)
    slow = folder / "slow.py"
    slow.write_text(SLOW.format(sleep=options.sleep))
    whole = study(options.seeds, 10_000)
    if options.sleep:
        whole = study(options.seeds, 500, (f"{slow}:slow_wait",))
    began = time.monotonic()
    own, theirs = time.process_time(), engine.submit(processor_time, 0).result()
    _, course = run_study(whole, engine, folder / "run", chunk_seconds=options.chunk)
    own = time.process_time() - own
    theirs = engine.submit(processor_time, 1).result() - theirs
    more = own + theirs - course.seconds
    work = course.seconds + course.computed * options.sleep
    return {
        "units": course.computed,
        "seconds by the clock": round(time.monotonic() - began, 1),
        "seconds that the units slept": round(course.computed * options.sleep, 1),
        "shards": course.chunks,
        "workers lost": course.lost,
        "processor seconds of units": round(course.seconds, 2),
        "of the worker beside them": round(theirs - course.seconds, 2),
        "of coordinator and scheduler": round(own, 2),
        "overhead, per cent": round(100 * more / work, 2),
        "milliseconds a unit": round(1000 * more / course.computed, 2),
    }


def workers(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Compute the same units by one process and by two.

    On a machine that others use, the clock tells of them. What two free cores would do follows
    from the processor time of the busier of the two, which is the one that is waited for.
    """
    clock, busiest, together = {}, {}, {}
    for count in (1, 2):
        with LocalEngine(count) as engine:
            warmed_up(engine, count, folder / f"warm-{count}")
            before, began = processor_times(engine, count), time.monotonic()
            own = time.process_time()
            whole = study(options.seeds, 10_000)
            run_study(whole, engine, folder / f"run-{count}", chunk_seconds=options.chunk)
            clock[count] = time.monotonic() - began
            spent = [b - a for a, b in zip(before, processor_times(engine, count), strict=True)]
            busiest[count] = max(spent)
            together[count] = sum(spent) + time.process_time() - own
    return {
        "one process, s": round(clock[1], 1),
        "two processes, s": round(clock[2], 1),
        "times as fast by the clock": round(clock[1] / clock[2], 2),
        "processor seconds of the one process": round(busiest[1], 2),
        "of the busier of two": round(busiest[2], 2),
        "times as fast by processor time": round(busiest[1] / busiest[2], 2),
        "of all, coordinator included, with one and with two": [
            round(together[1], 2),
            round(together[2], 2),
        ],
        "load (1 min)": round(os.getloadavg()[0], 1),
    }


def warmed_up(engine: Engine, count: int, folder: Path) -> None:
    """Let every process load all that it needs."""
    for future in [engine.submit(warm_up, str(folder / str(i))) for i in range(count)]:
        future.result()


def warm_up(folder: str) -> None:
    run_study(study(1, 500), InProcess(), folder)


class InProcess(Engine):
    """An engine that computes in the process that asks."""

    name = "here"
    workers = 1

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Do it at once."""
        done: Future[Any] = Future()
        done.set_result(work(*arguments))
        return done

    def close(self) -> None:
        """Have nothing to let go."""


def processor_times(engine: Engine, count: int) -> list[float]:
    """Return the processor time of each process, each asked once, since all are idle."""
    asked = [engine.submit(processor_time, i) for i in range(count)]
    return [future.result() for future in asked]


def memory(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Compute ten thousand units, and look at memory every thousand."""
    whole = study(2500, 100)
    marks: dict[int, float] = {}

    def look(done: int, units: int) -> None:
        marks.setdefault(done // 1000 * 1000, memory_in_use())

    with LocalEngine(1) as engine:
        run_study(study(1, 100), engine, folder / "warm", chunk_seconds=0)
        first = engine.submit(memory_in_use, 0).result()
        run_study(whole, engine, folder / "run", chunk_seconds=options.chunk, progress=look)
        last = engine.submit(memory_in_use, 1).result()
    return {
        "units": 10_000,
        "coordinator, MB at so many units": {k: round(v, 1) for k, v in marks.items()},
        "worker, MB before and after": [round(first, 1), round(last, 1)],
    }


if __name__ == "__main__":
    sys.exit(main())

"""The greedy fractional knapsack (Simon, Nguyen and Halem, algorithm 1), replayed over time."""

from __future__ import annotations

import time

import numpy as np

from queuesmith.base.checks import of_kind
from queuesmith.base.registry import entry
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.compiled import load
from queuesmith.knobs.bag_schedule import bag_schedule
from queuesmith.knobs.bags import TaskJobs
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.kernels.replay import CHUNKS, EASY, LIST, NONE, ChunkRecord, new_replay
from queuesmith.knobs.options import BagOptions
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.workload import checked_workload

#: Who may overtake a job that does not fit, by the names of the engine.
BACKFILLS = {"none": NONE, "list": LIST, "easy": EASY}


def knapsack(
    jobs: TaskJobs | Workload,
    cluster: Cluster | None = None,
    knobs: Knobs | None = None,
    *,
    backfill: str = BagOptions.backfill,
    cores: int | None = None,
    strict: bool = False,
    over_weight: bool = False,
) -> Schedule:
    """Fill the machine with tasks in the order of priority, at every instant something happens.

    The job of the highest priority starts as many of its tasks as fit and as its share allows; the
    rest of the machine goes to the next. Nothing is preempted. The pieces of the schedule are
    chunks of tasks that started together.

    Parameters
    ----------
    jobs
        The bags; a plain workload is one of malleable jobs of one-core tasks.
    cluster, cores
        The machine, or just its number of processors; by default the size that the log states.
    knobs
        The exponents of the priority.
    backfill
        What happens where a task of the first job does not fit: others go on (``list``), nobody
        does (``none``), or only tasks that do not delay it (``easy``). Where all tasks need one
        core, nothing is ever too wide and the three are the same.
    strict
        Raise where a job can never run, instead of leaving it out.
    over_weight
        Order jobs by their priority over their weight, the number of their tasks, as the printed
        algorithm 1 has it in line 2. The text, and the default, take the priority itself.

    Examples
    --------
    >>> log = Workload(submit=[0, 0], runtime=[10, 5], walltime=[10, 5], cores=[3, 2])
    >>> knapsack(log, cores=4, knobs=Knobs(1, 0, 0)).end.tolist()
    [10, 10]
    """
    bags = jobs if isinstance(jobs, TaskJobs) else TaskJobs(checked_workload(jobs))
    machine = as_cluster(bags.workload, cluster, cores)
    bags = bags.fitting(machine.cores, strict=strict)
    chosen = Knobs() if knobs is None else of_kind("knobs", knobs, Knobs, "Give Knobs(1, 1, 1).")
    # Sizes are tasks times cores of a task: dividing by the tasks is an exponent of 1 less.
    used = Knobs(chosen.alpha - 1, chosen.beta, chosen.gamma) if over_weight else chosen
    mode = backfill_mode(backfill)
    packed = bags.packed()
    load(runs.run_once)
    began = time.perf_counter()
    chunks = 4 * len(bags)
    while True:
        replay = new_replay(packed, machine.cores, chunks=chunks)
        runs.run_once(replay, always(), used.array(), machine.cores, mode)
        made = int(replay.counters[CHUNKS])
        if made <= chunks:
            break
        chunks = made  # the same replay again, now with room for all
    record = ChunkRecord(*(column[:made] for column in replay.record))
    order = np.lexsort((record.job, record.start))
    return bag_schedule(
        bags,
        machine,
        record.job[order],
        record.start[order],
        record.tasks[order],
        f"knapsack({chosen}){' over weight' if over_weight else ''}+{backfill}",
        time.perf_counter() - began,
    )


def backfill_mode(backfill: str) -> int:
    """Return the kernel's number of a backfill; an error where there is none."""
    return entry("backfill", backfill, BACKFILLS)


def always() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the turning times of knobs that are never turned."""
    when = np.zeros(1, np.int64)
    when.setflags(write=False)
    return when

"""A replay of bags of tasks in progress."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled.arrays import FROZEN_INTS, FROZEN_REALS, INTS, REALS, SMALL_INTS

NONE, LIST, EASY = range(3)

# Places in the array of counters.
FREE, WAITING, RUNNING, DUE, ARRIVED, CHUNKS, CANCEL = range(7)
COUNTERS = 7

# Places in the array of findings: up to which gamma the schedule is proven to stay the same, and
# whether every decision was clear.
REACH, CLEAR = range(2)
NEVER = np.iinfo(np.int64).max
NOBODY = -1


class Bags(NamedTuple):
    """The columns of all jobs, in the order of submission, then id."""

    submit: Any
    runtime: Any  # of one task
    walltime: Any  # of one task; at least one second
    width: Any  # cores of one task
    tasks: Any
    limit: Any  # how many tasks may run at once
    log_size: Any
    log_walltime: Any
    kind: Any  # 0 to 3 for the classes A to D


class BagQueue(NamedTuple):
    """Waiting jobs in no order, what a pass reads of each, and its score."""

    job: Any
    width: Any
    walltime: Any
    startable: Any  # tasks that could start if cores were free: within the share, not yet started
    score: Any
    log_walltime: Any


class RunningChunks(NamedTuple):
    """Chunks of tasks that run: a heap by their true end, a sorted list by the expected end."""

    end: Any
    job: Any
    tasks: Any
    due: Any
    due_cores: Any


class ChunkRecord(NamedTuple):
    """Every chunk that started, where one wants to know; else of no length."""

    job: Any
    start: Any
    tasks: Any


class BagReplay(NamedTuple):
    """All that a replay in progress consists of."""

    bags: Bags
    queue: BagQueue
    running: RunningChunks
    record: ChunkRecord
    waiting: Any  # of each job, the tasks that have not started
    active: Any  # of each job, the tasks that run
    place: Any  # of each job, its place in the queue, or NOBODY
    start: Any  # of each job, the first start
    end: Any  # of each job, the last end
    counters: Any
    findings: Any


BAGS_TYPE = types.NamedTuple([FROZEN_INTS] * 6 + [FROZEN_REALS] * 2 + [FROZEN_INTS], Bags)
REPLAY_TYPE = types.NamedTuple(
    [
        BAGS_TYPE,
        types.NamedTuple([SMALL_INTS, INTS, INTS, INTS, REALS, REALS], BagQueue),
        types.NamedTuple([INTS, SMALL_INTS, INTS, INTS, INTS], RunningChunks),
        types.NamedUniTuple(INTS, 3, ChunkRecord),
        INTS,
        INTS,
        SMALL_INTS,
        INTS,
        INTS,
        INTS,
        REALS,
    ],
    BagReplay,
)


def new_replay(bags: Bags, cores: int, *, chunks: int = 0) -> BagReplay:
    """Return a replay with all the space it will need, and space to record some chunks."""
    count = len(bags.submit)
    running = int(min(cores, int(bags.tasks.sum())))
    return BagReplay(
        bags,
        BagQueue(
            job=np.empty(count, np.int32),
            width=np.empty(count, np.int64),
            walltime=np.empty(count, np.int64),
            startable=np.empty(count, np.int64),
            score=np.empty(count, np.float64),
            log_walltime=np.empty(count, np.float64),
        ),
        RunningChunks(
            end=np.empty(running, np.int64),
            job=np.empty(running, np.int32),
            tasks=np.empty(running, np.int64),
            due=np.empty(running, np.int64),
            due_cores=np.empty(running, np.int64),
        ),
        ChunkRecord(*(np.empty(chunks, np.int64) for _ in range(3))),
        waiting=np.empty(count, np.int64),
        active=np.empty(count, np.int64),
        place=np.empty(count, np.int32),
        start=np.empty(count, np.int64),
        end=np.empty(count, np.int64),
        counters=np.zeros(COUNTERS, np.int64),
        findings=np.zeros(2),
    )

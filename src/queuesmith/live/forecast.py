"""When each waiting job will start, and why it waits."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.live.commands import PATIENCE, SlurmError, run
from queuesmith.live.future import Future
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import away, walltime_left
from queuesmith.live.outcomes import MARK
from queuesmith.live.picture import span
from queuesmith.live.rights import check_all_shown
from queuesmith.live.state import ClusterState
from queuesmith.live.steered import Steered
from queuesmith.prediction.past import PastRuntimes
from queuesmith.workload import Workload
from queuesmith.workload.files import read

#: What sacct is asked for to learn from.
COLUMNS = (
    "JobID,JobIDRaw,User,Account,Partition,QOS,Submit,Start,End,Elapsed,Timelimit,State,NNodes,"
    "AllocCPUS,ReqCPUS"
)
#: What Slurm's reasons mean where a limit is meant.
_LIMITS = (
    "QOS",
    "Assoc",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "JobArrayTaskLimit",
    "Licenses",
)


@dataclass(frozen=True)
class Expectation:
    """When a waiting job is expected to start.

    Parameters
    ----------
    job
        The job; of an array its first task.
    median, late
        Seconds from now by which it has started in half and in nine tenths of all cases.
    slurm
        What Slurm itself expects, where it does.
    why
        Why it waits.
    rests_on
        On how many past jobs the marks rest; 0 where they are those of the replays.
    """

    job: LiveJob
    median: int
    late: int
    slurm: int | None
    why: str
    rests_on: int = 0


def accounting(days: float, *, seconds: float = PATIENCE) -> Workload | None:
    """Return the jobs that ended in the last days as sacct tells them; None without accounting."""
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - 86_400 * days))
    who = ("sacct", "--allusers", "--allocations", "--parsable2", "--starttime", since)
    try:
        text = run((*who, "--format", COLUMNS), seconds=seconds)
        with tempfile.TemporaryDirectory(prefix="queuesmith-") as folder:
            path = Path(folder) / "history.sacct"
            path.write_text(text)
            return read(path)
    except SlurmError:
        return None
    except QueuesmithError:  # nothing has ended yet
        return None


def forecast(
    state: ClusterState,
    history: Workload | None = None,
    *,
    steered: Steered | None = None,
    replays: int = 50,
    arrivals: bool | None = None,
    seed: int = 0,
    explained: Collection[int] | None = None,
    tick: Callable[[float], None] = lambda share: None,
) -> list[Expectation]:
    """Foretell when each waiting job starts, from many replays of the present moment.

    In each replay every job runs as long as some job like it has run, under Slurm's own schedulers
    with its settings. The queue stands as it stands now, or as the policy wants it that steers it.

    Parameters
    ----------
    state
        The cluster.
    history
        Jobs that have ended, to draw runtimes and new jobs from; without, jobs run to their limits.
    steered
        By what the queue is steered; None where it is left to Slurm.
    replays
        How many.
    arrivals
        Whether the late mark is that of replays in which new jobs come as they came at some time of
        the history. They stand behind those that wait now, or where the policy wants them that
        steers; by default they come where the queue is steered. The median is without them: what
        came so far may have been a rush.
    seed
        The same seed gives the same forecast.
    explained
        The jobs of which to say why they wait; by default it is said of all, which takes time where
        thousands wait.
    tick
        Told the share that is done.
    """
    whole_number("the number of replays", replays, 1, "Give for example 50.")
    check_all_shown(state.cluster, state.hidden_from)
    chance, past = seeded(seed), PastRuntimes(history)
    coming = steered is not None if arrivals is None else arrivals
    future = Future(state, history if coming else None, steered, past)
    alone, crowded = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    count = replays if past.known else 1
    for number in range(count):
        for starts, found in zip((alone, crowded), future.starts(chance), strict=True):
            for job, start in found.items():
                starts[job].append(start)
        tick((number + 1) / count)
    return [
        Expectation(
            job,
            int(np.median(alone[job.id])),
            int(max(np.quantile(starts[job.id], MARK) for starts in (alone, crowded))),
            None if job.start is None else max(job.start - state.now, 0),
            why_it_waits(state, job) if explained is None or job.id in explained else "",
        )
        for job in state.waiting
        if job.id in alone
    ]


def why_it_waits(state: ClusterState, job: LiveJob) -> str:
    """Return in one sentence what a job waits for: whom, which nodes, which limit."""
    if job.held:
        return f"it is held ({job.reason})"
    if not job.ready:
        return f"it is not due yet ({job.reason}{f': {job.dependency}' if job.dependency else ''})"
    if job.reason.startswith(_LIMITS):
        return f"a limit keeps it waiting: {job.reason}"
    nodes = _nodes_of(state, job)
    before = _before(state, job, nodes)
    free = sum(state.free_cores[node] for node in nodes - away(state.machine, state.now))
    cores = so_many(sum(other.cores * other.tasks for other in before), "core")
    tasks = sum(other.tasks for other in before)
    stand = so_many(tasks, f"job for {cores} stands", f"jobs for {cores} stand")
    ahead = f"{stand} before it; " if before else ""
    here = (other for other, held in state.nodes_held if held & nodes)
    soonest = min(here, key=walltime_left, default=None)
    ends = (
        f"; job {soonest.id} of {soonest.user} must end within {span(walltime_left(soonest))}"
        if soonest is not None
        else ""
    )
    spread = f" on {job.nodes} nodes" if job.nodes > 1 else ""
    return (
        f"{ahead}it needs {so_many(job.cores, 'core')}{spread} of partition "
        f"{job.partition}, where {so_many(free, 'is', 'are')} free{ends}"
    )


def _nodes_of(state: ClusterState, job: LiveJob) -> frozenset[str]:
    """Return the nodes of a job's partitions."""
    names = job.partition.split(",")
    parts = (each for each in state.machine.partitions if each.name in names)
    return frozenset(node for each in parts for node in each.nodes)


def _before(state: ClusterState, job: LiveJob, nodes: frozenset[str]) -> list[LiveJob]:
    """Return the jobs of a higher place whose partitions have some of these nodes, too."""
    near = {each.name for each in state.machine.partitions if not nodes.isdisjoint(each.nodes)}
    ahead = takewhile(lambda other: other.id != job.id, state.waiting)
    return [each for each in ahead if each.ready and near.intersection(each.partition.split(","))]


def rows(expected: Sequence[Expectation]) -> list[dict[str, Any]]:
    """Return forecasts as rows for a table."""
    return [
        {
            "job": str(each.job.id),
            "user": each.job.user,
            "cores": each.job.cores,
            "starts in, half": span(each.median),
            "nine in ten": span(each.late),
            "Slurm says": "-" if each.slurm is None else span(each.slurm),
        }
        for each in expected
    ]

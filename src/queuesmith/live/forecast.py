"""When each waiting job will start, and why it waits."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.engine.simulate import simulate
from queuesmith.live.advice import AS_THEY_STAND
from queuesmith.live.commands import PATIENCE, SlurmError, run
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import away, moment_of_nodes, walltime_left
from queuesmith.live.picture import span
from queuesmith.live.state import ClusterState
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
        Seconds from now by which it has started in half and in nine tenths of the replays.
    slurm
        What Slurm itself expects, where it does.
    why
        Why it waits.
    """

    job: LiveJob
    median: int
    late: int
    slurm: int | None
    why: str


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
    replays: int = 50,
    arrivals: bool = False,
    seed: int = 0,
    explained: Collection[int] | None = None,
    tick: Callable[[float], None] = lambda share: None,
) -> list[Expectation]:
    """Foretell when each waiting job starts, from many replays of the present moment.

    In each replay every job runs as long as some job like it has run. The queue stands as it stands
    now, and Slurm's own schedulers are replayed, with its settings.

    Parameters
    ----------
    state
        The cluster.
    history
        Jobs that have ended, to draw runtimes and new jobs from; without, jobs run to their limits.
    replays
        How many.
    arrivals
        Whether new jobs come as they came at some time of the history.
    seed
        The same seed gives the same forecast.
    explained
        The jobs of which to say why they wait; by default it is said of all, which takes time where
        thousands wait.
    tick
        Told the share that is done.
    """
    whole_number("the number of replays", replays, 1, "Give for example 50.")
    chance, past = seeded(seed), PastRuntimes(history)
    starts: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(replays if past.known else 1):
        drawn = _drawn(state, past, chance)
        new = _newcomers(state, history, chance) if arrivals and history is not None else []
        for job, start in _first_starts(state, new, drawn).items():
            starts[job].append(start)
        tick((number + 1) / replays)
    return [
        Expectation(
            job,
            int(np.median(starts[job.id])),
            int(np.quantile(starts[job.id], 0.9)),
            None if job.start is None else max(job.start - state.now, 0),
            why_it_waits(state, job) if explained is None or job.id in explained else "",
        )
        for job in state.waiting
        if job.id in starts
    ]


def _drawn(state: ClusterState, past: PastRuntimes, chance: np.random.Generator) -> dict[int, int]:
    """Return a runtime for each job, what is left of it for those that run."""
    found = {}
    for job in state.jobs:
        beyond = job.elapsed if job.running else 0
        if job.running and beyond >= job.walltime:
            found[job.id] = 1
        else:
            runtime = past.draw(chance, job.user, job.walltime, beyond=beyond)
            found[job.id] = runtime - beyond
    return found


def _newcomers(
    state: ClusterState, history: Workload, chance: np.random.Generator
) -> list[LiveJob]:
    """Return jobs that come from now on as they came at some time of the history."""
    horizon = max((job.walltime for job in state.waiting), default=0) * 4
    first, last = int(history.submit[0]), int(history.submit[-1])
    since = int(chance.integers(first, max(last - horizon, first) + 1))
    part = history.between(since, since + horizon)
    example = state.waiting[0]

    def text(column: str, i: int) -> str:
        return part.label(column, int(part.extra[column][i])) if column in part.extra else ""

    return [
        replace(
            example,
            id=-1 - i,
            array=-1 - i,
            tasks=1,
            user=part.label("user", int(part.user[i])),
            account=text("account", i),
            partition=text("partition", i) or example.partition,
            qos=text("qos", i),
            state="PENDING",
            reason="Priority",
            dependency="",
            priority=1,
            cores=int(part.cores[i]),
            nodes=1,
            walltime=int(part.walltime[i]),
            submit=state.now + 1 + int(part.submit[i]) - since,
            gres="",
            wanted_nodes="",
            excluded_nodes="",
            features="",
            resources="",
        )
        for i in range(len(part))
    ]


def _first_starts(
    state: ClusterState, new: Sequence[LiveJob], drawn: dict[int, int]
) -> dict[int, int]:
    """Return when the first task of each job starts in one replay, in seconds from now."""

    def lasts(job: LiveJob) -> int:
        return drawn.get(job.id, job.walltime)

    moment = moment_of_nodes(state, (*state.waiting, *new), runtime=lasts, left=lasts)
    schedule = simulate(moment.workload, moment.machine, AS_THEY_STAND)
    first: dict[int, int] = {}
    for number, start in zip(schedule.workload.id.tolist(), schedule.start.tolist(), strict=True):
        job = moment.waiting[number - 1] if len(moment.waiting) >= number else None
        if job is not None and job.id > 0:
            first[job.id] = min(first.get(job.id, start), start)
    return {job: max(start - state.now, 0) for job, start in first.items()}


def why_it_waits(state: ClusterState, job: LiveJob) -> str:
    """Return in one sentence what a job waits for: whom, which nodes, which limit."""
    if job.held:
        return f"it is held ({job.reason})"
    if not job.ready:
        return f"it is not due yet ({job.reason}{f': {job.dependency}' if job.dependency else ''})"
    if job.reason.startswith(_LIMITS):
        return f"a limit keeps it waiting: {job.reason}"
    names = set(job.partition.split(","))
    ahead_of_it = takewhile(lambda other: other.id != job.id, state.waiting)
    before = [
        other for other in ahead_of_it if other.ready and set(other.partition.split(",")) & names
    ]
    free = _free_cores(state, names)
    wanted = sum(other.cores * other.tasks for other in before)
    stand = "stands" if len(before) == 1 else "stand"
    ahead = f"{so_many(len(before), 'job')} for {so_many(wanted, 'core')} {stand} before it; "
    here = [other for other in state.running if set(other.partition.split(",")) & names]
    soonest = min(here, key=walltime_left, default=None)
    ends = (
        f"; job {soonest.id} of {soonest.user} must end within {span(walltime_left(soonest))}"
        if soonest is not None
        else ""
    )
    nodes = f" on {job.nodes} nodes" if job.nodes > 1 else ""
    return (
        f"{ahead if before else ''}it needs {so_many(job.cores, 'core')}{nodes} of partition "
        f"{job.partition}, where {free:,} are free{ends}"
    )


def _free_cores(state: ClusterState, partitions: set[str]) -> int:
    machine = state.machine
    gone = away(machine, state.now)
    nodes = {
        node for part in machine.partitions if part.name in partitions for node in part.nodes
    } - gone
    sizes = dict(zip(machine.node_names, machine.places.cores.tolist(), strict=True))
    held = sum(job.cores for job in state.running if set(job.partition.split(",")) & partitions)
    return max(sum(int(sizes[node]) for node in nodes) - held, 0)


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

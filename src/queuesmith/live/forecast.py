"""When each waiting job will start, and why it waits."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.engine.simulate import simulate
from queuesmith.live.advice import AS_THEY_STAND
from queuesmith.live.changes import movable, with_the_others
from queuesmith.live.commands import PATIENCE, SlurmError, run
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import away, moment_of_nodes, walltime_left
from queuesmith.live.newcomers import PastArrivals
from queuesmith.live.ordering import order_to_come
from queuesmith.live.outcomes import MARK
from queuesmith.live.picture import span
from queuesmith.live.state import ClusterState
from queuesmith.live.steered import Steered
from queuesmith.policy.slurm import PRIORITIES, Slurm
from queuesmith.prediction.past import PastRuntimes
from queuesmith.workload import Workload
from queuesmith.workload.files import read

#: What sacct is asked for to learn from.
COLUMNS = (
    "JobID,JobIDRaw,User,Account,Partition,QOS,Submit,Start,End,Elapsed,Timelimit,State,NNodes,"
    "AllocCPUS,ReqCPUS"
)
#: Slurm's own schedulers on an order that is imposed through the site's part of the priority.
AS_IMPOSED = Slurm(
    {"PriorityType": "priority/multifactor", "PriorityWeightTRES": ""}
    | {name: "0" for name in PRIORITIES if name.startswith("PriorityWeight")}
)
#: How often the time is doubled within which new jobs are looked for, and from how many on not.
DOUBLINGS, MOST_NEW = 3, 20_000
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
    arrivals: bool = False,
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
        Whether new jobs come as they came at some time of the history. They stand behind those that
        wait now, or where the policy wants them that steers.
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
    future = _Future(state, history if arrivals else None, steered, past)
    starts: defaultdict[int, list[int]] = defaultdict(list)
    count = replays if past.known else 1
    for number in range(count):
        for job, start in future.starts(chance).items():
            starts[job].append(start)
        tick((number + 1) / count)
    return [
        Expectation(
            job,
            int(np.median(starts[job.id])),
            int(np.quantile(starts[job.id], MARK)),
            None if job.start is None else max(job.start - state.now, 0),
            why_it_waits(state, job) if explained is None or job.id in explained else "",
        )
        for job in state.waiting
        if job.id in starts
    ]


class _Future:
    """What may come of a moment, drawn again and again."""

    def __init__(
        self,
        state: ClusterState,
        history: Workload | None,
        steered: Steered | None,
        past: PastRuntimes,
    ) -> None:
        self._state, self._past, self._steered = state, past, steered
        self._today = tuple(job for job in state.waiting if job.ready)
        known = history is not None and len(history) and self._today
        self._coming = PastArrivals(state, history) if history is not None and known else None
        self._wanted = None if steered is None else order_to_come(state, steered.policy)

    def starts(self, chance: np.random.Generator) -> dict[int, int]:
        """Return when the first task of each job starts in one replay, in seconds from now."""
        lasts = self._runtimes(chance)
        starts = self._replayed((), lasts)
        if self._coming is None or not starts:
            return starts
        turn, own = self._coming.turn(chance), np.random.default_rng(chance.integers(2**63))
        cycle = 0.0 if self._steered is None else self._steered.every
        horizon = max(*starts.values(), 1)
        # Who comes after the last job has started does not matter, but who comes delays it.
        for _ in range(DOUBLINGS):
            horizon *= 2
            new = self._coming.after(turn, horizon, cycle)
            for job in new:
                if job.id not in lasts:
                    lasts[job.id] = self._past.draw(own, job.user, job.walltime)
            starts = self._replayed(new, lasts)
            if max(starts.values()) <= horizon or len(new) > MOST_NEW:
                break
        return starts

    def _runtimes(self, chance: np.random.Generator) -> dict[int, int]:
        """Return a runtime for each job, what is left of it for those that run."""
        found = {}
        for job in self._state.jobs:
            beyond = job.elapsed if job.running else 0
            if job.running and beyond >= job.walltime:
                found[job.id] = 1
            else:
                runtime = self._past.draw(chance, job.user, job.walltime, beyond=beyond)
                found[job.id] = runtime - beyond
        return found

    def _replayed(self, new: Sequence[LiveJob], lasts: Mapping[int, int]) -> dict[int, int]:
        def seconds(job: LiveJob) -> int:
            return lasts[job.id]

        order = self._order(new)
        moment = moment_of_nodes(self._state, order, runtime=seconds, left=seconds)
        jobs = moment.workload
        if self._steered is None:
            schedule = simulate(jobs, moment.machine, AS_THEY_STAND)
        else:
            place = {job.id: number for number, job in enumerate(order)}
            site = [len(order) - place[job.id] if job else 0 for job in moment.waiting]
            imposed = jobs.replaced(extra={**jobs.extra, "site_factor": np.array(site, np.int64)})
            schedule = simulate(imposed, moment.machine, AS_IMPOSED)
        numbers = jobs.id.tolist()
        of_number = dict(zip(numbers, moment.waiting, strict=True))
        first: dict[int, int] = {}
        for number, start in zip(
            schedule.workload.id.tolist(), schedule.start.tolist(), strict=True
        ):
            job = of_number[number]
            if job is not None and job.id > 0:
                first[job.id] = min(first.get(job.id, start), start)
        return {job: max(start - self._state.now, 0) for job, start in first.items()}

    def _order(self, new: Sequence[LiveJob]) -> Sequence[LiveJob]:
        """Return the jobs as they will stand."""
        today = (*self._today, *new)
        if self._steered is None or self._wanted is None:
            return today
        wanted = self._wanted(new)
        set_by_us = {job.array: {job.made_of.site} for job in today if job.made_of is not None}
        return with_the_others(today, movable(wanted, self._steered.allowed, set_by_us), wanted)


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

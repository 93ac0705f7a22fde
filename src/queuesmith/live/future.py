"""What may come of the present moment: who starts when, if jobs run and come in such a way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from queuesmith.engine.simulate import simulate
from queuesmith.live.advice import AS_THEY_STAND
from queuesmith.live.changes import movable, with_the_others
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import moment_of_nodes
from queuesmith.live.newcomers import MOST_NEW, PastArrivals
from queuesmith.live.ordering import order_to_come
from queuesmith.live.state import ClusterState
from queuesmith.live.steered import Steered
from queuesmith.policy.slurm import Slurm
from queuesmith.policy.slurm_settings import PRIORITIES
from queuesmith.prediction.past import PastRuntimes
from queuesmith.workload import Workload

#: Slurm's own schedulers on an order that is imposed through the site's part of the priority.
AS_IMPOSED = Slurm(
    {"PriorityType": "priority/multifactor", "PriorityWeightTRES": ""}
    | {name: "0" for name in PRIORITIES if name.startswith("PriorityWeight")}
)
#: How often the time is doubled within which new jobs are looked for.
DOUBLINGS = 4


class Future:
    """What may come of a moment, drawn again and again.

    Parameters
    ----------
    state
        The cluster.
    history
        Jobs that have ended, for new ones to come as these came; None: nobody comes.
    steered
        By what the queue is steered; None where it is left to Slurm.
    past
        What jobs have run for.
    """

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

    def starts(self, chance: np.random.Generator) -> tuple[dict[int, int], dict[int, int]]:
        """Return when the first task of each job starts, in seconds from now.

        Once where nobody new comes, and once where others come.
        """
        lasts = self._runtimes(chance)
        alone = starts = self._replayed((), lasts)
        if self._coming is None or not alone:
            return alone, alone
        course, own = self._coming.course(chance), np.random.default_rng(chance.integers(2**63))
        cycle = 0.0 if self._steered is None else self._steered.every
        horizon = max(*starts.values(), 1)
        # Who comes after the last job has started does not matter, but who comes delays it.
        for _ in range(DOUBLINGS):
            horizon *= 2
            new = self._coming.after(course, horizon, cycle)
            for job in new:
                if job.id not in lasts:
                    lasts[job.id] = self._past.draw(own, job.user, job.walltime)
            starts = self._replayed(new, lasts)
            if max(starts.values()) <= horizon or len(new) >= MOST_NEW:
                break
        return alone, starts

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
        of_number = dict(zip(jobs.id.tolist(), moment.waiting, strict=True))
        first: dict[int, int] = {}
        starts = zip(schedule.workload.id.tolist(), schedule.start.tolist(), strict=True)
        for number, start in starts:
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

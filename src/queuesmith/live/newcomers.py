"""Jobs that may come next: as they came at some time of what is known of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from queuesmith.live.jobs import LiveJob, Priority
from queuesmith.live.state import ClusterState
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

DAY = 86_400
#: From so many days on jobs come as they came at this time of another day.
WEEK = 7
#: More new jobs than these are not looked at.
MOST_NEW = 20_000


@dataclass(frozen=True)
class _Arrival:
    """What somebody asked for."""

    user: str
    account: str
    partition: str
    qos: str
    cores: int
    walltime: int


#: The jobs that come within so many seconds, each with its wait until then.
Course = Callable[[int], Iterator[tuple[int, _Arrival]]]


class PastArrivals:
    """When jobs came and what they asked for, up to now.

    A history that reaches into the present is completed by the jobs that wait and run; another one
    counts for itself.

    Parameters
    ----------
    state
        The cluster; at least one job waits.
    history
        Jobs that have ended.
    """

    def __init__(self, state: ClusterState, history: Workload) -> None:
        self._now, self._example = state.now, state.waiting[0]
        came = (history.epoch or 0) + history.submit
        first, last = int(came[0]), int(came[-1])
        found = list(zip(came.tolist(), _of_history(history), strict=True))
        if last <= state.now <= last + max(last - first, DAY):
            ended = set(history.id.tolist())
            new = (job for job in state.jobs if job.id not in ended and first <= job.submit)
            found += [(job.submit, _of_job(job)) for job in new for _ in range(job.tasks)]
            last = state.now
        found.sort(key=lambda each: each[0])
        self._at: Ints = np.array([at for at, _ in found], np.int64)
        self._arrivals = [arrival for _, arrival in found]
        self._first, self._span = first, last - first + 1

    def course(self, chance: np.random.Generator) -> Course:
        """Return how jobs may go on to come: what is known of a week, or drawn from less."""
        days = self._span // DAY
        if days < WEEK:
            return partial(self._drawn, int(chance.integers(2**63)))
        return partial(self._repeated, self._span - DAY * int(chance.integers(1, days + 1)))

    def after(self, course: Course, seconds: int, cycle: float = 0.0) -> list[LiveJob]:
        """Return the jobs that come within so many seconds from now, or the first of very many.

        Parameters
        ----------
        course
            How they come, as `course` drew it.
        seconds
            How far ahead.
        cycle
            After how many seconds a steerer looks again: until then it has not seen a new job.
        """
        return [
            self._job(number, self._now + 1 + _seen(wait, cycle), arrival)
            for number, (wait, arrival) in enumerate(islice(course(seconds), MOST_NEW))
        ]

    def _repeated(self, turn: int, seconds: int) -> Iterator[tuple[int, _Arrival]]:
        """Yield jobs as they came from some time on.

        What was known last is followed by what was known first, as often as need be (the circular
        bootstrap of Politis and Romano, 1992).
        """
        waits = (self._at - self._first - turn) % self._span
        order = np.argsort(waits, kind="stable").tolist()
        for lap in range(0, seconds, self._span):
            for i in order:
                if lap + int(waits[i]) >= seconds:
                    return
                yield lap + int(waits[i]), self._arrivals[i]

    def _drawn(self, seed: int, seconds: int) -> Iterator[tuple[int, _Arrival]]:
        """Yield jobs at gaps as those before, until it ends.

        So little is known that it is uncertain how often which gap and job come: each has a
        weight of its own (the Bayesian bootstrap of Rubin, 1981). And what has gone on for some
        time goes on as long again in half of all cases, for twice as long in a third (Gott, 1993):
        it may have been a rush.
        """
        chance, count = np.random.default_rng(seed), len(self._at)
        end = min(seconds, self._span * (1 / (1 - chance.random()) - 1))
        reach = [np.cumsum(chance.dirichlet(np.ones(count))) for _ in range(2)]
        gaps = np.diff(self._at, append=self._first + self._span)
        wait = 0
        while True:
            drawn = [np.searchsorted(each, chance.random(count)) for each in reach]
            which, whose = (np.minimum(each, count - 1).tolist() for each in drawn)
            for gap, job in zip(gaps[which].tolist(), whose, strict=True):
                wait += gap
                if wait >= end:
                    return
                yield wait, self._arrivals[job]

    def _job(self, number: int, submit: int, asked: _Arrival) -> LiveJob:
        return replace(
            self._example,
            id=-1 - number,
            array=-1 - number,
            tasks=1,
            user=asked.user,
            account=asked.account,
            partition=asked.partition or self._example.partition,
            qos=asked.qos,
            state="PENDING",
            reason="Priority",
            reservation="",
            dependency="",
            priority=1,
            nice=0,
            cores=asked.cores,
            nodes=1,
            walltime=asked.walltime,
            submit=submit,
            gres="",
            wanted_nodes="",
            excluded_nodes="",
            features="",
            resources="",
            made_of=Priority(1, 0, 1),
        )


def _seen(wait: int, cycle: float) -> int:
    """Return when the next cycle is that finds a job which comes after so many seconds."""
    return wait if cycle <= 0 else int(np.ceil(np.ceil(wait / cycle) * cycle))


def _of_history(history: Workload) -> list[_Arrival]:
    def texts(column: str) -> list[str]:
        if column not in history.extra:
            return [""] * len(history)
        return [history.label(column, code) for code in history.extra[column].tolist()]

    return [
        _Arrival(history.label("user", user), account, partition, qos, cores, walltime)
        for user, account, partition, qos, cores, walltime in zip(
            history.user.tolist(),
            *(texts(column) for column in ("account", "partition", "qos")),
            history.cores.tolist(),
            history.walltime.tolist(),
            strict=True,
        )
    ]


def _of_job(job: LiveJob) -> _Arrival:
    return _Arrival(job.user, job.account, job.partition, job.qos, job.cores, job.walltime)

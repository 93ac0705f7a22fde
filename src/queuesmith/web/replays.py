"""The replays behind the page: kept by what was asked, stopped where nobody waits for them."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from queuesmith.base.errors import CancelledError, PolicyError, QueuesmithError
from queuesmith.cluster import NodeCluster
from queuesmith.cluster.fitting import fitting
from queuesmith.engine.simulate import Replay
from queuesmith.policy import AnyPolicy
from queuesmith.schedule import Schedule, history
from queuesmith.web.logs import LogShelf
from queuesmith.web.machines import AnyCluster, machine_of
from queuesmith.web.policies import PolicyShelf
from queuesmith.web.state import Column, Filters

#: How many jobs all schedules that are kept may have together; 8 bytes each, and some more.
MOST_JOBS_KEPT = 10_000_000
#: How many tabs are remembered.
MOST_TABS = 1_000


@dataclass(frozen=True)
class Question:
    """All that decides a replay of the page: it is kept under this name."""

    log: str
    filters: Filters
    column: Column


@dataclass
class _Work:
    """A replay that waits or runs, and the tabs that want it."""

    future: Future[Schedule]
    wanted_by: set[str] = field(default_factory=set)
    replay: Replay | None = None
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.replay is not None:
            self.replay.cancel()


def _outcome(work: _Work) -> Schedule | QueuesmithError:
    try:
        return work.future.result()
    except QueuesmithError as error:
        return error


class SupersededError(QueuesmithError):
    """A newer question of the same tab came before the answer."""


class ReplayDesk:
    """Answers what a page asks; several tabs may ask at once.

    A tab that asks anew no longer wants what it asked before: a replay that no tab wants is
    stopped. What is known is kept, and is the same for all tabs.

    Parameters
    ----------
    logs, policies
        Where names and texts of the address are looked up.
    machine
        The machine that was named when the page was started; None for the log's own.
    """

    def __init__(self, logs: LogShelf, policies: PolicyShelf, machine: AnyCluster | None) -> None:
        self.logs, self.policies, self.machine = logs, policies, machine
        self._known: OrderedDict[Question, Schedule] = OrderedDict()
        self._under_way: dict[Question, _Work] = {}
        self._newest: dict[str, int] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="replay")

    def schedules(
        self, tab: str, questions: Sequence[Question]
    ) -> list[Schedule | QueuesmithError]:
        """Return the schedules that are asked for, each or what is wrong with it.

        SupersededError where the tab asked anew meanwhile, CancelledError where it was stopped.
        """
        works, turn = self._ask(tab, questions)
        found = [work if isinstance(work, Schedule) else _outcome(work) for work in works]
        if self._newest.get(tab) != turn:
            raise SupersededError("the tab asked for something else meanwhile.")
        for each in found:
            if isinstance(each, CancelledError):
                raise each
        return found

    def _ask(self, tab: str, questions: Sequence[Question]) -> tuple[list[Schedule | _Work], int]:
        with self._lock:
            found: list[Schedule | _Work] = []
            for question in questions:
                if question in self._known:
                    self._known.move_to_end(question)
                    found.append(self._known[question])
                    continue
                work = self._under_way.get(question)
                if work is None or work.cancelled:
                    work = _Work(Future())
                    self._under_way[question] = work
                    self._threads.submit(self._do, question, work)
                work.wanted_by.add(tab)
                found.append(work)
            self._forget(tab, set(questions))
            turn = self._newest[tab] = self._newest.pop(tab, 0) + 1
            while len(self._newest) > MOST_TABS:
                del self._newest[next(iter(self._newest))]
            return found, turn

    def _forget(self, tab: str, wanted: set[Question]) -> None:
        for question, work in self._under_way.items():
            if question not in wanted and tab in work.wanted_by:
                work.wanted_by.discard(tab)
                if not work.wanted_by:
                    work.cancel()

    def cancel(self, tab: str) -> None:
        """Stop what a tab waits for, unless another tab waits for the same."""
        with self._lock:
            self._forget(tab, set())

    def progress(self, tab: str) -> float | None:
        """Return how far the replays are that a tab waits for, 0 to 1; None where there is none."""
        with self._lock:
            own = [work for work in self._under_way.values() if tab in work.wanted_by]
        shares = [0.0 if work.replay is None else work.replay.progress for work in own]
        return sum(shares) / len(shares) if shares else None

    def _do(self, question: Question, work: _Work) -> None:
        try:
            schedule = self._replayed(question, work)
        except BaseException as error:
            with self._lock:
                self._drop(question, work)
            work.future.set_exception(error)
            return
        with self._lock:
            self._drop(question, work)
            self._known[question] = schedule
            while sum(map(len, self._known.values())) > MOST_JOBS_KEPT and len(self._known) > 1:
                self._known.popitem(last=False)
        work.future.set_result(schedule)

    def _drop(self, question: Question, work: _Work) -> None:
        if self._under_way.get(question) is work:
            del self._under_way[question]

    def _replayed(self, question: Question, work: _Work) -> Schedule:
        if work.cancelled:
            raise CancelledError("the replay was stopped before it began.")
        policy, column = self.policy(question.column), question.column
        jobs = self.logs.jobs(question.log, question.filters)
        if column.load != 1.0:
            jobs = jobs.with_load_factor(column.load)
        # Packed anew each time, for it would remember the ranks of every position of a slider.
        replay = Replay(jobs, machine_of(column, jobs, self.machine), policy)
        with self._lock:
            work.replay = replay
            if work.cancelled:
                replay.cancel()
        return replace(replay.run(), policy=str(column))

    def policy(self, column: Column) -> AnyPolicy:
        """Return the policy of a column."""
        if not column.policy:
            raise PolicyError("a column has no policy. Write one, for example fcfs+easy.")
        return self.policies.policy(column.policy)

    def real(self, log: str, filters: Filters) -> Schedule | None:
        """Return what really happened, on the machine as it is; None where no log tells."""
        jobs = self.logs.jobs(log, filters)
        if jobs.real_start is None:
            return None
        machine = machine_of(Column(""), jobs, self.machine)
        if isinstance(machine, NodeCluster):
            return history(fitting(jobs, machine), machine)
        return history(jobs.fitting(machine.cores), machine)

    def close(self) -> None:
        """Stop everything that runs."""
        with self._lock:
            for work in self._under_way.values():
                work.cancel()
        self._threads.shutdown(cancel_futures=True)

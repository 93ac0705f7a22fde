"""How far bags are: each task's attempts, as workers recorded them."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from queuesmith.running.bag_files import Bag
from queuesmith.running.dispatch import Demand
from queuesmith.running.task_work import Ended, TaskEnd

#: A shell says so where a command does not exist or cannot be run: trying again helps nobody.
NOT_FOUND, NOT_RUNNABLE = 127, 126
#: A task whose worker went away is begun again so many times.
MOST_LOST = 10


class State(StrEnum):
    """Where a task stands."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(slots=True)
class Task:
    """One task: where it stands, and what became of its attempts."""

    command: str
    state: State = State.WAITING
    attempts: int = 0
    failures: int = 0
    lost: int = 0
    code: int | None = None
    start: float | None = None
    end: float | None = None
    why: str | None = None


@dataclass
class BagProgress:
    """A bag, and where each of its tasks stands.

    Parameters
    ----------
    bag
        What is run.
    submit
        When it comes, in seconds since 1970.
    place
        Its place in the order of coming.
    """

    bag: Bag
    submit: float
    place: int
    tasks: list[Task] = field(init=False)
    waiting: deque[int] = field(init=False)
    running: int = 0
    completed: int = 0
    failed: int = 0
    seconds: float = 0.0  # of all tasks that completed
    first_start: float | None = None  # of any attempt, also one that failed

    def __post_init__(self) -> None:
        self.tasks = [Task(command) for command in self.bag.tasks]
        self.waiting = deque(range(len(self.tasks)))

    # -- what happens --------------------------------------------------------------------------

    def begin(self, number: int, at: float) -> None:
        """Note that a task runs, from a second on."""
        task = self.tasks[number]
        if task.state is State.WAITING:
            self.waiting.remove(number)
            self.running += 1
        else:  # an attempt before it went away
            self._note_start(task.start)
        task.state = State.RUNNING
        task.attempts += 1
        task.start, task.end = at, None

    def settle(self, number: int, end: TaskEnd) -> None:
        """Note how an attempt ended: the task is over, or is tried again."""
        task = self.tasks[number]
        if task.state in (State.COMPLETED, State.FAILED):
            return
        task.code = end.code
        task.start, task.end = end.start, end.end
        self._note_start(end.start)
        if end.ended is Ended.DONE:
            self._close(number, State.COMPLETED)
            self.completed += 1
            self.seconds += (end.end or 0.0) - (end.start or 0.0)
            return
        task.failures += 1
        task.why = _reason(task, end, self.bag)
        hopeless = end.code in (NOT_FOUND, NOT_RUNNABLE)
        if hopeless or task.failures > self.bag.retries:
            self._fail(number)
        else:
            self._again(number)

    def lose(self, number: int) -> None:
        """Note that an attempt went away with its worker."""
        task = self.tasks[number]
        self._note_start(task.start)
        task.lost += 1
        if task.lost > MOST_LOST:
            task.why = f"its worker went away {task.lost} times"
            self._fail(number)
        else:
            self._again(number)

    def put_back(self, number: int) -> None:
        """Let a task wait that could not be begun; the attempt does not count."""
        self.tasks[number].attempts -= 1
        self.tasks[number].start = None
        self._again(number)

    def _note_start(self, at: float | None) -> None:
        if at is not None:
            self.first_start = at if self.first_start is None else min(at, self.first_start)

    def _again(self, number: int) -> None:
        self._leave(number)
        self.tasks[number].state = State.WAITING
        self.waiting.appendleft(number)

    def _fail(self, number: int) -> None:
        self._close(number, State.FAILED)
        self.failed += 1

    def _close(self, number: int, state: State) -> None:
        self._leave(number)
        self.tasks[number].state = state

    def _leave(self, number: int) -> None:
        if self.tasks[number].state is State.RUNNING:
            self.running -= 1
        elif self.tasks[number].state is State.WAITING:
            self.waiting.remove(number)

    # -- looking -------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether every task has completed or failed."""
        return not self.waiting and not self.running

    @property
    def mean_runtime(self) -> float | None:
        """The mean length of the tasks that completed; None before the first."""
        return self.seconds / self.completed if self.completed else None

    def demand(self, runtime: float) -> Demand:
        """Return what the bag wants, with the length of its tasks as expected."""
        return Demand(
            self.place,
            len(self.tasks) * self.bag.cores,
            self.submit,
            max(runtime, 1e-3),
            self.bag.cores,
            self.bag.limit,
            len(self.waiting),
            self.running,
        )

    def counts(self) -> dict[str, Any]:
        """Return how many tasks stand where."""
        return {
            "bag": self.bag.name,
            "class": self.bag.kind,
            "tasks": len(self.tasks),
            "completed": self.completed,
            "failed": self.failed,
            "running": self.running,
            "waiting": len(self.waiting),
        }

    def row(self, begun: float) -> dict[str, Any]:
        """Return what tables and JSON tell of the bag; times are seconds since the run began."""
        starts = [task.start for task in self.tasks if task.start is not None]
        starts += [] if self.first_start is None else [self.first_start]
        ends = [task.end for task in self.tasks if task.end is not None]
        failed = next((task for task in self.tasks if task.state is State.FAILED), None)
        return {
            **self.counts(),
            "submit": self.submit - begun,
            "first_start": min(starts) - begun if starts else None,
            "end": max(ends) - begun if self.over and ends else None,
            "response": max(ends) - self.submit if self.over and ends else None,
            "attempts": sum(task.attempts for task in self.tasks),
            "first_failure": None if failed is None else failed.why,
        }


def expected_runtimes(bags: Iterable[BagProgress]) -> dict[int, float]:
    """Return how long a task of each bag is expected to take, by the place of the bag.

    What the file says; else the mean of the tasks that completed; else the mean of the other bags,
    so that the bag ranks in the middle; else one second.
    """
    known: dict[int, float] = {}
    unknown = []
    for bag in bags:
        runtime = bag.bag.runtime or bag.mean_runtime
        if runtime is None:
            unknown.append(bag.place)
        else:
            known[bag.place] = runtime
    middle = statistics.fmean(known.values()) if known else 1.0
    return known | dict.fromkeys(unknown, middle)


def _reason(task: Task, end: TaskEnd, bag: Bag) -> str:
    if end.ended is Ended.TIMED_OUT:
        return f"'{task.command[:80]}' was killed after its time-out of {bag.timeout:g} s"
    if end.code == NOT_FOUND:
        return f"'{task.command[:80]}' names a command that does not exist (exit code 127)"
    if end.code is not None and end.code < 0:
        return f"'{task.command[:80]}' was killed by signal {-end.code}"
    if end.code is None:
        return f"'{task.command[:80]}' could not be started, and its file .err says why"
    return f"'{task.command[:80]}' returned {end.code}"

"""Where many pieces of work are computed: this machine's cores, a Dask cluster, or Slurm.

An engine takes a function and its arguments and gives back a future, as ``concurrent.futures``
does. It never decides what a result is, so that the answer is the same on all of them. Work whose
worker went away is handed out again by whoever asked for it: ``is_lost`` tells such an end from
an error of the work itself.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from multiprocessing.connection import wait as wait_for
from typing import Any, Self, TypeVar

from queuesmith.base.checks import of_kind, whole_number

Result = TypeVar("Result")

#: Is set in a worker of this machine once nobody waits for it any more.
abandoned = threading.Event()


class Engine(ABC):
    """Workers that compute; use it as a context manager, so that none outlives it."""

    name: str
    #: Whether more workers may come.
    grows = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many pieces of work are computed at once; that may change."""

    def ready(self) -> None:
        """Wait until workers are there, so that what is timed afterwards does not wait for them."""
        return

    @abstractmethod
    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a piece of work to a worker that is free, or to the next that will be."""

    def is_lost(self, error: BaseException) -> bool:
        """Tell whether work ended because its worker did, so that it may be done again."""
        return isinstance(error, BrokenExecutor | CancelledError)

    def tend(self) -> None:
        """Replace workers that ended, where that does not happen by itself; called now and then."""
        return

    @abstractmethod
    def close(self) -> None:
        """Let the workers go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def checked_engine(engine: Engine) -> Engine:
    """Return an engine, or say how to get one."""
    way_out = "Give for example LocalEngine(2), of queuesmith.study.engines."
    # mypy does not let an abstract class stand for a kind.
    return of_kind("the engine", engine, Engine, way_out)  # type: ignore[type-abstract]


class LocalEngine(Engine):
    """Processes on this machine, each of which can end without the others.

    Parameters
    ----------
    workers
        How many; by default one for each core.
    """

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        count = os.cpu_count() or 1
        if workers is not None:
            count = whole_number("workers", workers, 1, "Give 1 or more.")
        self._processes = [_process() for _ in range(count)]
        self._busy: list[Future[Any] | None] = [None] * count

    @property
    def workers(self) -> int:
        """How many processes there are."""
        return len(self._processes)

    def ready(self) -> None:
        """Wait until all processes have begun."""
        for future in [process.submit(os.getpid) for process in self._processes]:
            with contextlib.suppress(BrokenExecutor):  # killed already; the next task gets another
                future.result()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a piece of work to a process that is free."""
        idle = (i for i, future in enumerate(self._busy) if future is None or future.done())
        place = next(idle, None)
        if place is None:
            raise RuntimeError("more work was submitted than there are workers")
        try:
            future = self._processes[place].submit(work, *arguments)
        except BrokenExecutor:
            self._processes[place].shutdown(wait=False)
            self._processes[place] = _process()
            future = self._processes[place].submit(work, *arguments)
        self._busy[place] = future
        return future

    def close(self) -> None:
        """Let the processes end after what they are doing now."""
        for process in self._processes:
            process.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.shutdown()


def _process() -> ProcessPoolExecutor:
    # A new interpreter: threads and compiled code do not outlive a fork.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker)


def _begin_worker() -> None:
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    """Note that the coordinator was killed: what is under way is written down, then we end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        abandoned.set()
        with _under_way:
            _under_way.wait_for(lambda: not _threads)
            os._exit(1)


_threads: set[int] = set()
_under_way = threading.Condition()


def under_watch(work: Callable[[], Result]) -> Result:
    """Do something in a worker that is not cut short where the coordinator is killed."""
    me = threading.get_ident()
    with _under_way:
        _threads.add(me)
    try:
        return work()
    finally:
        with _under_way:
            _threads.discard(me)
            _under_way.notify_all()

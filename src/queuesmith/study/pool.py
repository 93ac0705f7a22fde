"""The one pool of threads: kernels run without Python's lock, so threads are enough.

Nothing is pickled, the log is shared and not copied, and on an error or Ctrl-C no thread goes on
computing what nobody waits for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Self, TypeVar

from queuesmith.base.checks import whole_number
from queuesmith.engine.simulate import Replay
from queuesmith.schedule import Schedule

#: How often a watcher is called while work is under way, in seconds.
REPORT_EVERY = 0.1

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pool:
    """Does the same work for many items at once; results come in the order of the items.

    Parameters
    ----------
    workers
        How many items are worked on at the same time; by default one for each core.
    cancel
        Lets work that is under way end soon; called where anything fails, and at the end.
    """

    def __init__(
        self, workers: int | None = None, *, cancel: Callable[[], None] = lambda: None
    ) -> None:
        if workers is not None:
            whole_number("workers", workers, 1, "Give for example 2.")
        self.workers = workers or os.cpu_count() or 1
        self._cancel = cancel
        self._threads = ThreadPoolExecutor(max_workers=self.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancel()
        self._threads.shutdown(cancel_futures=True)

    def each(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        watch: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return what comes of each item.

        Parameters
        ----------
        work, items
            What is done, and with what.
        watch
            Is called every tenth of a second with how many items are done.
        """
        under_way = [self._threads.submit(work, item) for item in items]
        pending = set(under_way)
        try:
            while pending:
                done, pending = wait(pending, REPORT_EVERY, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if watch is not None:
                    watch(len(under_way) - len(pending))
        except BaseException:
            self._cancel()
            for future in pending:
                future.cancel()
            raise
        return [future.result() for future in under_way]


class ReplayPool(Pool):
    """A pool whose replays end with it."""

    def __init__(self, workers: int | None = None) -> None:
        self._running: set[Replay] = set()
        super().__init__(workers, cancel=self._cancel_replays)

    def run(self, replay: Replay) -> Schedule:
        """Run a replay to its end, unless the pool ends before."""
        self._running.add(replay)
        try:
            return replay.run()
        finally:
            self._running.discard(replay)

    def _cancel_replays(self) -> None:
        for replay in tuple(self._running):
            replay.cancel()

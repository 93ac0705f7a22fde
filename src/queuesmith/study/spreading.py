"""The same work for many items on an engine: results in the order of the items, none lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from queuesmith.base.errors import QueuesmithError
from queuesmith.study.engines import Engine, checked_engine

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How often an engine is looked after, in seconds, and how often one item may lose its worker.
TEND_EVERY, MOST_LOST = 0.5, 5


class LostWorkError(QueuesmithError):
    """A piece of work took its worker with it too often."""


def spread(
    engine: Engine,
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    watch: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Return what comes of each item; what goes away with its worker is done again.

    Parameters
    ----------
    engine
        Where it is computed.
    work, items
        What is done, and with what; both travel to other processes.
    watch
        Is called with the place of an item and what came of it, as soon as that is there.
    """
    checked_engine(engine).ready()
    waiting = deque(range(len(items)))
    lost = [0] * len(items)
    out: dict[Future[Any], int] = {}
    results: dict[int, Result] = {}
    while waiting or out:
        while waiting and len(out) < engine.workers:
            place = waiting.popleft()
            out[engine.submit(work, items[place])] = place
        if not out:
            time.sleep(TEND_EVERY)
        done, _ = wait(out, TEND_EVERY, return_when=FIRST_COMPLETED)
        for future in done:
            place = out.pop(future)
            error = future.exception()
            if error is None:
                results[place] = future.result()
                if watch is not None:
                    watch(place, results[place])
            elif engine.is_lost(error) and lost[place] < MOST_LOST:
                lost[place] += 1
                waiting.appendleft(place)
            elif engine.is_lost(error):
                raise LostWorkError(
                    f"a piece of work lost its worker {MOST_LOST + 1} times. Look at the memory "
                    "and the logs of the workers, then repeat this command."
                ) from error
            else:
                raise error
        engine.tend()
    return [results[place] for place in range(len(items))]

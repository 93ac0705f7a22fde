"""The best answer and the best bound so far, which all parts of an exact method share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import QueuesmithError
from queuesmith.solving.status import TOLERANCE

Answer = TypeVar("Answer")
#: Is called with the seconds spent, the best value and the bound, whenever one of them changes.
Report = Callable[[float, float, float], None]


@dataclass
class Incumbent(Generic[Answer]):
    """The best answer, what is proven, and the time; any thread may look and offer.

    An answer is replaced, never changed, so whoever holds one may read it without the lock. Give
    `offer` a copy of what a kernel still writes to. ``halt`` is a flag that kernels watch: it
    becomes 1 once the best answer is proven to be the best, or when `stop` is called.

    Parameters
    ----------
    best, value
        The first answer, and its value; lower is better.
    seconds
        How long the whole may take, from now on.
    bound
        What the value of no answer is below, as far as that is proven.
    tolerance
        Values closer than this, relatively, are equal.
    report
        Is called with the seconds spent, the best value and the bound when they change.
    clock, began
        What the seconds are counted by, and what it showed at the beginning.
    """

    best: Answer
    value: float
    seconds: float
    bound: float = 0.0
    tolerance: float = TOLERANCE
    report: Report | None = None
    clock: Callable[[], float] = time.perf_counter
    began: float = field(default_factory=time.perf_counter)
    facts: dict[str, Any] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)
    halt: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def spent(self) -> float:
        """The seconds that have passed."""
        return self.clock() - self.began

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.seconds - self.spent

    @property
    def closed(self) -> bool:
        """Whether the best answer is proven to be the best."""
        with self.lock:
            return self.value <= self.bound * (1 + self.tolerance)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do, or no time to do it."""
        return bool(self.halt[0]) or self.left <= 0

    def snapshot(self) -> tuple[Answer, float]:
        """Return the best answer and its value, as they belong together."""
        with self.lock:
            return self.best, self.value

    def offer(self, answer: Answer, value: float) -> bool:
        """Take an answer if it is better; tell whether it was."""
        with self.lock:
            if not value < self.value:
                return False
            self.best, self.value = answer, value
            self._tell()
            return True

    def prove(self, bound: float) -> bool:
        """Take a bound if it is higher; it never exceeds the best value. Tell whether it was."""
        with self.lock:
            higher = min(bound, self.value)
            if not higher > self.bound:
                return False
            self.bound = higher
            self._tell()
            return True

    def stop(self) -> None:
        """Let all parts end."""
        self.halt[0] = 1

    def _tell(self) -> None:
        if self.closed:
            self.halt[0] = 1
        if self.report is not None:
            self.report(self.spent, self.value, min(self.bound, self.value))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Note how long a part takes; a solver that fails ends its part, not the whole."""
        began = time.perf_counter()
        try:
            yield
        except QueuesmithError:
            raise
        except Exception as error:
            self.facts[f"{part}_failed"] = f"{type(error).__name__}: {error}"
        self.took[part] = time.perf_counter() - began

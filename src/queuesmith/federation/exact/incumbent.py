"""What the parts of OAS share: the best placement and bound so far, and the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from queuesmith.federation.exact.configuration_bound import ConfigurationBound
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import Plan
from queuesmith.federation.model.federation import Ints
from queuesmith.federation.model.placement import Placement

#: Told the seconds spent, the best makespan and the bound, whenever one of them changes.
Progress = Callable[[float, int, int], None]


def _flag() -> Ints:
    return np.zeros(1, np.int64)


@dataclass
class Work:
    """The best placement and bound so far, the time, and what took how long.

    ``halt`` becomes 1 when time is up, or when the best placement is proven to be the best.
    """

    best: Placement
    seconds: float
    seed: int = 0
    workers: int = 2
    progress: Progress | None = None
    began: float = field(default_factory=time.perf_counter)
    bound: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    halt: Ints = field(default_factory=_flag)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def left(self) -> float:
        """The seconds left."""
        return self.seconds - (time.perf_counter() - self.began)

    @property
    def closed(self) -> bool:
        """Whether the best placement is proven to be the best."""
        return self.best.makespan <= self.bound

    def offer(self, placement: Placement) -> None:
        """Take a placement if it is shorter."""
        with self.lock:
            if placement.makespan < self.best.makespan:
                self.best = placement
                self._tell()

    def prove(self, bound: int) -> None:
        """Take a bound if it is higher."""
        with self.lock:
            if bound > self.bound:
                self.bound = bound
                self._tell()

    def _tell(self) -> None:
        if self.closed:
            self.halt[0] = 1
        if self.progress is not None:
            spent = time.perf_counter() - self.began
            self.progress(spent, self.best.makespan, min(self.bound, self.best.makespan))


@dataclass
class Model:
    """Modes, and the best plan with them.

    Parameters
    ----------
    packed
        The modes.
    proves
        Whether what is proven of these modes holds for all placements.
    bound
        The configuration LP, where it was solved.
    plan
        The shortest plan so far.
    """

    packed: Packed
    proves: bool
    bound: ConfigurationBound | None = None
    plan: Plan | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, work: Work, plan: Plan | None) -> None:
        """Keep a plan if it is the shortest with these modes, and offer it."""
        with self.lock:
            if plan is None or (self.plan is not None and plan.span >= self.plan.span):
                return
            self.plan = plan
        work.offer(self.packed.modes.placement(plan.mode, plan.start, "oas"))

"""One search of OAS: the modes it may use, the shortest plan with them, and what all share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from queuesmith.federation.exact.configuration_bound import ConfigurationBound
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import ModePlan
from queuesmith.schedule import Schedule
from queuesmith.solving.incumbent import Incumbent

#: Makes the best schedule so far: its nodes are assigned once, when all is over.
MakeSchedule: TypeAlias = Callable[[], Schedule]


@dataclass
class ModeSearch:
    """Modes, and the best plan with them.

    Parameters
    ----------
    packed
        The modes.
    incumbent
        The best makespan and bound of all searches, and the time.
    proves
        Whether what is proven of these modes holds for all placements.
    seed
        What chance follows from.
    workers
        How many threads may work at once.
    bound
        The configuration LP, where it was solved.
    plan
        The shortest plan so far.
    """

    packed: Packed
    incumbent: Incumbent[MakeSchedule]
    proves: bool
    seed: int
    workers: int
    bound: ConfigurationBound | None = None
    plan: ModePlan | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take(self, plan: ModePlan | None) -> None:
        """Keep a plan if it is the shortest with these modes, and offer it."""
        with self.lock:
            if plan is None or (self.plan is not None and plan.span >= self.plan.span):
                return
            self.plan = plan
        make = partial(self.packed.modes.schedule, plan.mode, plan.start, "oas")
        self.incumbent.offer(make, plan.span)

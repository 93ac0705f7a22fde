"""A heuristic of low complexity for large queues: nodes have prices, and jobs have patience.

The prices are those of the bound (see `quick_bound.price_bound`): what a second on a node of each
power is worth to this queue. A job that takes fast nodes and is ruled by one slow node wastes what
they cost. So a job takes the free nodes on which its bill is least, and waits where that is more
than ``patience`` times the least it can ever be. Towards the end, a job also waits for faster nodes
where only these let it end by the makespan that is aimed at.

One such schedule takes milliseconds, so that a few orders of the queue, patiences and aims are
tried, a fixed number of them: unless time is up before, the same seed gives the same answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from queuesmith.base.checks import seeded
from queuesmith.compiled import load
from queuesmith.federation.heuristics.heuristics import queue_order, run_order
from queuesmith.federation.model.clusters import Floats
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placing import as_schedule
from queuesmith.federation.model.quick_bound import PriceBound, price_bound, simple_bound
from queuesmith.federation.replay.kernels.heuristic import run_heuristic
from queuesmith.federation.replay.kernels.site import (
    CHEAPEST,
    FASTEST,
    LINK_AWARE,
    ONE_CLUSTER,
    Manner,
)
from queuesmith.federation.replay.packing import nobody_running, pack_jobs, pack_layout
from queuesmith.schedule import Schedule

#: Orders of the queue: the greatest tasks**width * base_time**length first.
SHAPES = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (1.0, 0.2), (0.5, 1.0))
PATIENCES = (1.001, 1.01, 1.03, 1.06, 1.1, 1.2, 1.3, math.inf)
#: Rules of allocation that are tried beside the cheapest nodes.
OTHER_RULES = (FASTEST, ONE_CLUSTER, LINK_AWARE)
AIMS = 10
NUDGES = 40
#: The standard deviations of the logarithms of the order's noise.
NOISE = (0.02, 0.05, 0.1, 0.3)


@dataclass(frozen=True)
class Attempt:
    """One way to schedule the queue."""

    key: Floats
    rule: int = CHEAPEST
    patience: float = math.inf
    aim: float = math.inf


def place_by_prices(
    federation: Federation,
    jobs: FederationJobs,
    *,
    saturation: float = 1.0,
    seconds: float = 10.0,
    steps: int | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Schedule:
    """Place a large queue quickly and well.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    saturation
        How many times its bandwidth each link may be loaded.
    seconds
        After this time no further attempt begins.
    steps
        How many attempts there are at most, and then no clock: the same result each time.
    seed
        What the nudges follow from.
    progress
        Is called with the share done, 0 to 1.
    """
    load(run_heuristic)
    began = time.perf_counter()
    prices = price_bound(federation, jobs)
    search = _PriceSearch(federation, jobs, saturation, prices)
    bound = simple_bound(federation, jobs, prices)
    total = len(SHAPES) * (len(PATIENCES) + len(OTHER_RULES)) + AIMS + NUDGES
    for done, attempt in enumerate(search.attempts(bound, seeded(seed)), 1):
        search.run(attempt)
        if progress is not None:
            progress(min(done / total, 1.0))
        over = time.perf_counter() - began > seconds if steps is None else done >= steps
        if search.makespan <= bound or over:
            break
    best = search.best
    return as_schedule(
        federation,
        jobs,
        best.start,
        best.end,
        best.nodes,
        "prices",
        saturation=saturation,
        lower_bound=bound,
        seconds=time.perf_counter() - began,
        facts={"attempts": search.count},
    )


class _PriceSearch:
    """The best schedule so far, and how it came about."""

    def __init__(
        self, federation: Federation, jobs: FederationJobs, saturation: float, prices: PriceBound
    ) -> None:
        self.federation, self.jobs, self.saturation = federation, jobs, saturation
        self.layout = pack_layout(federation, prices.node_price)
        self.columns = pack_jobs(jobs, prices.job_bill)
        self.best = nobody_running(federation, jobs)
        self.best_attempt = Attempt(np.zeros(len(jobs)))
        self.makespan = np.iinfo(np.int64).max
        self.count = 0

    def attempts(self, bound: int, rng: np.random.Generator) -> Iterator[Attempt]:
        """Yield what to try; later attempts start from the best so far."""
        for width, length in SHAPES:
            key = -(self.jobs.tasks.astype(np.float64) ** width) * self.jobs.base_time**length
            for patience in PATIENCES:
                yield Attempt(key, patience=patience)
            for rule in OTHER_RULES:
                yield Attempt(key, rule)
        for share in np.linspace(0, 1, AIMS, endpoint=False):
            yield replace(self.best_attempt, aim=bound + share * (self.makespan - bound))
        for nudge in range(NUDGES):
            spread = NOISE[nudge % len(NOISE)]
            noise = np.exp(rng.normal(0.0, spread, len(self.jobs)))
            aim = bound + rng.uniform(0, 1) * (self.makespan - bound)
            yield replace(self.best_attempt, key=self.best_attempt.key * noise, aim=aim)

    def run(self, attempt: Attempt) -> None:
        """Schedule the queue in one way; keep it if it is the best."""
        manner = Manner(
            rule=attempt.rule,
            fit=1,
            limit=float(self.saturation),
            window=len(self.jobs),
            deadline=float(attempt.aim),
            patience=float(attempt.patience),
        )
        order = queue_order(attempt.key)
        running = run_order(
            self.federation, self.jobs, order, manner, layout=self.layout, columns=self.columns
        )
        self.count += 1
        makespan = int(running.end.max())
        if makespan < self.makespan:
            self.best, self.best_attempt, self.makespan = running, attempt, makespan

"""A replay under the self-tuning planner, with advance reservations."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load, written
from queuesmith.compiled.fingerprint import fingerprint
from queuesmith.engine.decisions import SelfTuningDecisions
from queuesmith.engine.kernels.constants import BOOKED, DECISIONS, NEVER
from queuesmith.engine.kernels.self_tuning_replay import (
    PLAN_MEASURES,
    PLAN_VALUE_TYPE,
    Booking,
    SelfTuningReplay,
    answer_request,
    run_self_tuning,
)
from queuesmith.engine.kernels.strategy_queue import StrategyQueue
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.strategy_queue import StrategyLines
from queuesmith.engine.written_loops import compiled_loop
from queuesmith.policy.policy import Policy
from queuesmith.policy.self_tuning import DECIDERS, PLAN_METRICS, SelfTuning
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.reservations import Request, RequestAnswer, check_requests

#: What values a plan: each metric has its own.
worth: Any = None


class SelfTuningRun:
    """The state of such a replay, and how it is run."""

    entry: Any = staticmethod(run_self_tuning)
    lines = StrategyLines

    def __init__(
        self, packed: Packed, policy: SelfTuning, requests: Sequence[Request] = ()
    ) -> None:
        self._packed, self._policy = packed, policy
        self._cores = packed.cluster.cores
        self._requests = check_requests(requests, self._cores)
        self.answers: tuple[RequestAnswer, ...] = ()
        strategies = [Policy(order, "plan") for order in policy.candidates]
        self._pool = self.lines(packed, strategies, bookings=len(self._requests))
        load(self.entry)
        if self._requests:
            load(answer_request)  # so that the first answer's time is the answer's
        self._plan_value = compile_plan_value(policy.objective)
        self._tuning = _new_tuning(policy, self._pool.pool, len(self._requests))

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._pool.replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        for number, request in enumerate(self._requests):
            self._run_until(request.submit)
            self.answers += (self._answered(number, request),)
        self._run_until(NEVER)
        return self._pool.replay.start  # type: ignore[no-any-return]

    def _run_until(self, instant: int) -> None:
        self.entry(self._tuning, self._pool.scorer, self._plan_value, self._cores, instant)
        self._pool.check()

    def _answered(self, number: int, request: Request) -> RequestAnswer:
        began = time.perf_counter()
        duration = request.end - request.begin
        room = answer_request(self._tuning, request.submit, request.begin, duration, request.cores)
        seconds = time.perf_counter() - began
        if room > request.begin:
            return RequestAnswer(request, False, int(room), seconds)
        booking = self._tuning.booking
        booking.begin[number], booking.end[number] = request.begin, request.end
        booking.cores[number] = request.cores
        booking.active[self.counters[BOOKED]] = number
        self.counters[BOOKED] += 1
        return RequestAnswer(request, True, None, seconds)

    @property
    def decisions(self) -> SelfTuningDecisions:
        """What was decided at each step."""
        tuning, count = self._tuning, int(self.counters[DECISIONS])
        sign = -1.0 if self._policy.objective.better == "higher" else 1.0
        columns = (tuning.time, tuning.choice, tuning.waiting, sign * tuning.value[:count])
        return SelfTuningDecisions(
            self._policy, *(frozen(column[:count].copy()) for column in columns)
        )


def _new_tuning(policy: SelfTuning, pool: StrategyQueue, bookings: int) -> SelfTuningReplay:
    jobs = len(pool.replay.jobs.submit)
    steps = jobs if policy.steps == "submissions" else 2 * jobs
    preferred = 0 if policy.preferred is None else policy.candidates.index(policy.preferred)
    settings = [list(DECIDERS).index(policy.decider), preferred, policy.steps == "all"]
    empty = functools.partial(np.empty, dtype=np.int64)
    return SelfTuningReplay(
        pool,
        Booking(
            begin=empty(bookings),
            end=empty(bookings),
            cores=empty(bookings),
            active=empty(bookings),
            holding=np.zeros(bookings, np.bool_),
        ),
        settings=frozen(np.array(settings, np.int64)),
        margin=frozen(np.array([policy.margin])),
        measures=np.empty(PLAN_MEASURES),
        value=np.empty((steps, len(policy.candidates))),
        time=empty(steps),
        choice=empty(steps),
        waiting=empty(steps),
    )


def compile_plan_value(objective: Objective) -> Callable[..., Any]:
    """Compile the function that values a plan by its measures; the lower, the better."""
    places = {name: place for place, name in enumerate(PLAN_METRICS)}
    source = objective.source(lambda term: f"measures[{places[term.name]}]")
    return _compiled(f"-({source})" if objective.better == "higher" else source)


@functools.lru_cache(maxsize=64)
def _compiled(source: str) -> Callable[..., Any]:
    text = f"def worth(measures): return float({source})"
    worth = written(text, {"math": math}, __name__)["worth"]
    return compiled_loop(plan_value, PLAN_VALUE_TYPE, {"worth": worth}, {}, "", fingerprint(worth))


def plan_value(measures):  # type: ignore[no-untyped-def]
    """Return what a plan of these measures is worth; compiled for each metric."""
    return worth(measures)

"""The waiting jobs of a policy that chooses among strategies, laid out for the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from queuesmith.base.remembering import done_once
from queuesmith.compiled import entry, load, written
from queuesmith.engine.asked import asked_by, own_columns
from queuesmith.engine.kernels.constants import ACTIVE, BAD_JOB, BAD_TIME, NEVER
from queuesmith.engine.kernels.plan import new_plan
from queuesmith.engine.kernels.replay import SCORER_TYPE, Replay, most_running, new_replay
from queuesmith.engine.kernels.strategy_queue import new_strategy_queue, score_nobody
from queuesmith.engine.order_replay import BACKFILL_CODES
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.scoring import Scorer, compile_scorer, not_a_number
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy


class StrategyLines:
    """A pool of waiting jobs, and the scorer of those orders that change with time.

    The first line tells whether any waiting job fits, so there is always one that keeps nothing
    free.
    """

    def __init__(self, packed: Packed, strategies: Sequence[Policy], *, bookings: int = 0) -> None:
        fixed, changing = _lines(tuple(strategies))
        self._packed = packed
        self._changing = [line.order for line in changing]
        numbers = {line: number for number, line in enumerate(fixed)}
        numbers |= {line: -1 - k for k, line in enumerate(changing)}
        own = own_columns(packed.log, self._changing)
        self.scorer = _combined_scorer(tuple((o.function, o.name) for o in self._changing), own)
        cores = packed.cluster.cores
        planned = any(strategy.backfill == "plan" for strategy in strategies)
        replay = new_replay(
            packed.jobs,
            cores,
            packed.usage(self._changing),
            scored=bool(self._changing),
            planned=planned,
            bookings=bookings,
            asked=asked_by(packed.log, self._changing),
        )
        most = len(packed.jobs.submit) + bookings if planned else 0
        rows = [
            [numbers[_line(s)], BACKFILL_CODES[s.backfill], s.depth or NEVER] for s in strategies
        ]
        ranks, keep, jobs_by_rank = packed.lines([(line.order, line.keep) for line in fixed])
        self.pool = new_strategy_queue(
            replay,
            new_plan(most, most_running(packed.jobs, cores, bookings), cores),
            ranks,
            keep,
            jobs_by_rank,
            frozen(np.array(rows, np.int64)),
            _parameter_table(self._changing),
        )

    @property
    def replay(self) -> Replay:
        """The state of the replay."""
        return self.pool.replay

    def check(self) -> None:
        """Raise where an order had no number for a job."""
        counters = self.replay.counters
        bad = int(counters[BAD_JOB])
        if bad >= 0:
            order = self._changing[int(counters[ACTIVE])]
            raise not_a_number(order, self._packed.jobs, bad, int(counters[BAD_TIME]))


def _line(strategy: Policy) -> Policy:
    """Return what strategies of one line have in common."""
    return replace(strategy, backfill="none", depth=None)


def fixed_lines(strategies: Sequence[Policy]) -> list[Policy]:
    """Return the lines in which jobs keep their places, in the order of their numbers."""
    return _lines(tuple(strategies))[0]


@functools.lru_cache(maxsize=64)
def _lines(strategies: tuple[Policy, ...]) -> tuple[list[Policy], list[Policy]]:
    """Return the lines in which jobs keep their places, and those whose order changes."""
    lines = list(dict.fromkeys(map(_line, strategies)))
    fixed = [line for line in lines if line.order.fixed]
    plain = [line for line in fixed if line.keep is None] or [Policy(ORDERS["fcfs"])]
    keeping = [line for line in fixed if line.keep is not None]
    return [*plain, *keeping], [line for line in lines if not line.order.fixed]


def _parameter_table(orders: Sequence[Order]) -> Any:
    """Return a row an order: its number where there are several, then its parameters."""
    rows = [list(order.parameters.values()) for order in orders]
    if len(orders) > 1:
        rows = [[k, *values] for k, values in enumerate(rows)]
    table = np.zeros((len(rows), max(map(len, rows), default=0)))
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return frozen(table)


@done_once
def _combined_scorer(
    functions: tuple[tuple[Callable[..., Any], str], ...], own: tuple[str, ...]
) -> Scorer:
    """Return one scorer for all orders; of several, the first parameter tells which is meant.

    It serves all values of the orders' parameters, so that learning them compiles nothing anew.
    """
    if not functions:
        load(score_nobody)
        return score_nobody  # type: ignore[no-any-return]
    orders = [Order(function, name) for function, name in functions]
    if len(orders) == 1:
        return compile_scorer(orders[0], own)
    names = {f"score_{k}": compile_scorer(o, own) for k, o in enumerate(orders)}
    arguments = "queue, usage, waiting, now, cores, free, parameters"
    lines = [f"def score_queue({arguments}):"]
    for k in range(len(orders)):
        call = f"score_{k}({arguments}[1:])"
        lines.append(f"    if parameters[0] == {k}: return {call}")
    text = "\n".join([*lines, "    return -1"])
    loop = written(text, names, __name__)["score_queue"]
    scorer: Scorer = entry(SCORER_TYPE, kept=False)(loop)
    load(scorer)
    return scorer

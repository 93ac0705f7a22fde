"""The waiting jobs of a policy that chooses among strategies, laid out for the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from queuesmith.engine import kernels
from queuesmith.engine.ordered import BACKFILL_CODES
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.scoring import Scorer, compile_scorer, not_a_number
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import Policy


class StrategyPool:
    """A pool of waiting jobs, and the scorer of those orders that change with time.

    The first line tells whether any waiting job fits, so there is always one.
    """

    def __init__(self, packed: Packed, strategies: Sequence[Policy], *, bookings: int = 0) -> None:
        orders = _distinct([strategy.order for strategy in strategies])
        fixed = [order for order in orders if order.fixed] or [ORDERS["fcfs"]]
        self._packed = packed
        self._changing = [order for order in orders if not order.fixed]
        lines = {_key(order): line for line, order in enumerate(fixed)}
        lines |= {_key(order): -1 - k for k, order in enumerate(self._changing)}
        self.scorer = _combined_scorer(tuple((o.function, o.name) for o in self._changing))
        replay = kernels.new_replay(
            packed.jobs,
            packed.cluster.cores,
            packed.usage(self._changing),
            scored=bool(self._changing),
            planned=any(strategy.backfill == "plan" for strategy in strategies),
            bookings=bookings,
        )
        rows = [[lines[_key(s.order)], BACKFILL_CODES[s.backfill]] for s in strategies]
        self.pool = kernels.new_pool(
            replay,
            frozen(np.stack([packed.rank(order) for order in fixed])),
            frozen(np.array(rows, np.int64)),
            _parameter_table(self._changing),
        )

    @property
    def replay(self) -> kernels.Replay:
        """The state of the replay."""
        return self.pool.replay

    def check(self) -> None:
        """Raise where an order had no number for a job."""
        counters = self.replay.counters
        bad = int(counters[kernels.BAD_JOB])
        if bad >= 0:
            order = self._changing[int(counters[kernels.ACTIVE])]
            raise not_a_number(order, self._packed.jobs, bad, int(counters[kernels.BAD_TIME]))


def _key(order: Order) -> tuple[Any, ...]:
    return (order.function, order.name, *order.parameters.items())


def _distinct(orders: Sequence[Order]) -> list[Order]:
    return list({_key(order): order for order in orders}.values())


def _parameter_table(orders: Sequence[Order]) -> Any:
    """Return a row an order: its number, then its parameters."""
    longest = max((len(order.parameters) for order in orders), default=0)
    table = np.zeros((len(orders), 1 + longest))
    for k, order in enumerate(orders):
        values = list(order.parameters.values())
        table[k, : 1 + len(values)] = [k, *values]
    return frozen(table)


@functools.lru_cache(maxsize=64)
def _combined_scorer(functions: tuple[tuple[Callable[..., Any], str], ...]) -> Scorer:
    """Return one scorer for several orders; the first parameter tells which is meant.

    It serves all values of the orders' parameters, so that learning them compiles nothing anew.
    """
    if not functions:
        return kernels.score_nobody  # type: ignore[no-any-return]
    orders = [Order(function, name) for function, name in functions]
    namespace: dict[str, Any] = {f"score_{k}": compile_scorer(o) for k, o in enumerate(orders)}
    arguments = "jobs, usage, waiting, scores, now, cores, free, parameters"
    lines = [f"def score_queue({arguments}):"]
    for k in range(len(orders)):
        call = f"score_{k}({arguments}[1:])"
        lines.append(f"    if parameters[0] == {k}: return {call}")
    exec("\n".join([*lines, "    return -1"]), namespace)
    scorer: Scorer = kernels.njit(kernels.SCORER_TYPE, nogil=True, _nrt=False)(
        namespace["score_queue"]
    )
    return scorer

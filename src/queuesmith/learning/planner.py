"""dynP itself as what is learned: which orders it plans under, by which metric, how it decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count
from queuesmith.base.errors import PolicyError
from queuesmith.learning.method import Best, Learning, Method
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.order import Order
from queuesmith.policy.policy import Policy, parse_order
from queuesmith.policy.reading import as_policy
from queuesmith.policy.self_tuning import DECIDERS, PLAN_METRICS, STEPS, SelfTuning


@dataclass(frozen=True)
class Planner(Method):
    """A better ``dynp(...)``: it is changed in one thing at a time, as long as that helps.

    Each generation judges every planner that differs from the best in one thing: the metric of
    plans, the decider, the preferred order, when it tunes itself, one order more or one less. The
    best of them goes on. Nothing is left to chance, so seeds make no difference.

    Parameters
    ----------
    policy
        The planner that the search begins with.
    orders
        The orders that it may plan under, beside those it has.
    generations
        How many changes are made at most.
    """

    name: ClassVar[str] = "dynp"

    policy: str = "dynp"
    orders: tuple[str, ...] = ("fcfs", "sjf", "ljf", "saf", "wide")
    generations: int = 8

    def __post_init__(self) -> None:
        count("the number of generations", self.generations, 1, "Give for example 8.")
        self.start()
        self._orders()

    def start(self) -> SelfTuning:
        """Return the planner that the search begins with."""
        policy = as_policy(self.policy)
        if not isinstance(policy, SelfTuning):
            raise PolicyError(
                f"method 'dynp' improves a planner, but '{self.policy}' is none. Give for example "
                "--policy 'dynp(fcfs,sjf,ljf; metric=sldwa)'."
            )
        return policy

    def _orders(self) -> list[Order]:
        return [parse_order(text) for text in self.orders]

    @property
    def rounds(self) -> int:
        """The first planner, then each change."""
        return 1 + self.generations

    @property
    def evaluations(self) -> int:
        """At most: fewer where no change helps any more."""
        start = self.start()
        present = set(map(str, start.candidates))
        further = tuple(each for each in self._orders() if str(each) not in present)
        most = start.replaced(candidates=(*start.candidates, *further))
        return 1 + self.generations * len(list(self._changed(most)))

    @property
    def offered(self) -> tuple[AnyPolicy, ...]:
        """The planner as it is written: it is judged, too."""
        return (self.start(),)

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Change one thing after the other; return the best planner judged."""
        best, known = Best(), {str(self.start())}
        judged = yield [self.start()]
        best.note([self.start()], judged)
        for _ in range(self.generations):
            now = best.policy
            assert isinstance(now, SelfTuning)
            others = [each for each in self._changed(now) if str(each) not in known]
            if not others:
                break
            known |= set(map(str, others))
            if not best.note(others, (yield others)):
                break
        return best.policy

    def _changed(self, planner: SelfTuning) -> Iterator[SelfTuning]:
        """Yield all planners that differ in one thing."""
        for metric in PLAN_METRICS:
            if metric != planner.metric:
                yield planner.replaced(metric=metric)
        yield from _deciding_otherwise(planner)
        for steps in STEPS:
            if steps != planner.steps:
                yield planner.replaced(steps=steps)
        for candidate in planner.candidates if len(planner.candidates) > 1 else ():
            left = tuple(each for each in planner.candidates if each is not candidate)
            preferred = None if planner.preferred is candidate else planner.preferred
            yield planner.replaced(candidates=left, preferred=preferred)
        present = set(map(str, planner.candidates))
        for order in self._orders():
            if str(order) not in present:
                yield planner.replaced(candidates=(*planner.candidates, order))


def _deciding_otherwise(planner: SelfTuning) -> Iterator[SelfTuning]:
    """Yield planners with another decider, or that prefer another order."""
    for decider in DECIDERS:
        if decider == "preferred":
            for candidate in planner.candidates:
                if (planner.decider, planner.preferred) != (decider, candidate):
                    yield planner.replaced(decider=decider, preferred=candidate)
        elif decider != planner.decider:
            yield planner.replaced(decider=decider, preferred=None)

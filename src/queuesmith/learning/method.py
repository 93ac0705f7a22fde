"""What all methods of learning have in common: a conversation of policies and judgements.

A learner is a Python generator. It yields the policies that it wants judged, is sent judgements
(smaller is better) in the same order, and in the end returns the policy that it has learned.
Whatever it draws comes from the one random generator it is given, so the conversation can be held
again: given the same judgements, it asks the same questions. That is how a run is resumed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning.encoding import Encoding
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.policy import Policy
from queuesmith.policy.rulebase import always
from queuesmith.study.judgement import Judgement, Standing

#: Policies that decide by themselves, which rules cannot choose.
WHOLE_POLICIES = ("dynp", "slurm", "committed", "optimal")

#: Yields policies, is sent their judgements, returns the policy learned.
Learning = Generator[Sequence[AnyPolicy], Sequence[Judgement], AnyPolicy]


@dataclass(frozen=True)
class Method(ABC):
    """A way of learning, with all its parameters."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How often it asks: its generations, and the first population."""

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """How many policies it wants judged in all."""

    @property
    def offered(self) -> tuple[AnyPolicy, ...]:
        """Fixed strategies that it can choose among, where it does."""
        return ()

    def played(self, strategy: AnyPolicy) -> AnyPolicy:
        """Return a fixed strategy as what is learned would play it: with the same starts, and with
        nothing else to compile.
        """
        return strategy

    @abstractmethod
    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Begin to learn.

        Parameters
        ----------
        generator
            Where chance comes from.
        ranked
            Fixed strategies, the best first, for those who begin with what is known.
        """

    def settings(self) -> dict[str, Any]:
        """Return all parameters, ready for JSON."""
        return {"method": self.name, **asdict(self)}


class InGenerations(Method):
    """A method that wants as many policies judged in each of its generations."""

    offspring: int
    generations: int

    @property
    def rounds(self) -> int:
        """Each generation."""
        return self.generations

    @property
    def evaluations(self) -> int:
        """Lambda in each generation."""
        return self.offspring * self.generations


class RuleBases(Method):
    """What ways of learning rule bases have in common."""

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """What rules look at."""

    def played(self, strategy: AnyPolicy) -> AnyPolicy:
        """Return a rule base that always plays a strategy, where it is offered."""
        offered = tuple(each for each in self.offered if isinstance(each, Policy))
        if isinstance(strategy, Policy) and strategy in offered:
            return always(strategy, offered, self.features)
        return strategy


class WholeRuleBases(RuleBases):
    """What those have in common whose vectors are whole rule bases."""

    rules: int
    strategies: tuple[str, ...]

    @cached_property
    def encoding(self) -> Encoding:
        """How vectors stand for rule bases; 270 numbers by default."""
        return Encoding(self.rules, self.features, len(self.strategies))

    @cached_property
    def offered(self) -> tuple[Policy, ...]:
        """The strategies."""
        return tuple(map(as_strategy, self.strategies))


def as_strategy(text: str) -> Policy:
    """Read a strategy that is offered to rules: an order, with a backfill if wanted."""
    called = text.strip().partition("(")[0]
    if called in WHOLE_POLICIES:
        raise PolicyError(
            f"'{text}' is offered to rules, but {called} is a whole policy, and rules choose among "
            "orders with a backfill. Write for example sjf+plan."
        )
    return Policy.parse(text)


class Best:
    """The best of what was judged so far; of equals the first."""

    def __init__(self) -> None:
        self.judgement = Judgement(Standing.GIVEN_UP, float("inf"))
        self._policy: AnyPolicy | None = None

    def note(self, policies: Sequence[AnyPolicy], judged: Sequence[Judgement]) -> bool:
        """Look at judged policies; tell whether one of them is better than all before."""
        place = min(range(len(judged)), key=judged.__getitem__)
        better = judged[place] < self.judgement
        if better or self._policy is None:
            self.judgement, self._policy = judged[place], policies[place]
        return better

    @property
    def is_admitted(self) -> bool:
        """Whether one was judged that keeps all limits."""
        return self.judgement.standing is Standing.ADMITTED

    @property
    def policy(self) -> AnyPolicy:
        """The best policy."""
        if self._policy is None:
            raise UsageError("nothing was judged yet, so there is no best. Judge a policy first.")
        return self._policy

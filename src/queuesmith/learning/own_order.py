"""The parameters of a policy, such as an order of one's own or Slurm itself, found by CMA-ES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from queuesmith.base.checks import count, positive
from queuesmith.base.errors import PolicyError
from queuesmith.learning.cma_library import CmaSearch, Vector
from queuesmith.learning.method import Best, InGenerations, Learning
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.policy import Policy
from queuesmith.policy.reading import as_policy
from queuesmith.study.judgement import comparable


@dataclass(frozen=True)
class OwnOrder(InGenerations):
    """A policy with better parameters, such as ``my.py:patient_wide+easy``.

    What may change are the parameters that an order or a backfill declares, its keywords with
    numbers as defaults; or the numbers that ``slurm(PriorityWeightAge=1000, ...)`` names. The
    search begins with the values that the policy has, and spreads in shares of them; where one is
    0, as if it were 1.

    Parameters
    ----------
    policy
        The policy as one writes it.
    offspring, generations
        How many policies a generation has, and how many generations there are.
    step
        How far the first generation spreads, as a share of each value.
    """

    name: ClassVar[str] = "order"

    policy: str
    offspring: int = 12
    generations: int = 20
    step: float = 0.5

    def __post_init__(self) -> None:
        count("the number of offspring", self.offspring, 2, "Give for example 12.")
        count("the number of generations", self.generations, 1, "Give for example 20.")
        positive("the step", self.step, "Give for example 0.5.")
        self.start()

    def start(self) -> AnyPolicy:
        """Return the policy that the search begins with."""
        policy = as_policy(self.policy)
        if not policy.tunable:
            raise PolicyError(
                f"policy '{self.policy}' declares no parameters, so nothing in it can be tuned. "
                "Give an order whose function has keywords with numbers as defaults, or "
                "slurm(...) with the weights to tune, such as PriorityWeightAge=1000."
            )
        return policy

    @property
    def offered(self) -> tuple[AnyPolicy, ...]:
        """The policy as it is written: it is judged, too."""
        return (self.start(),)

    @property
    def rounds(self) -> int:
        """The policy as it is written, then each generation."""
        return 1 + self.generations

    @property
    def evaluations(self) -> int:
        """That policy, and so many in each generation."""
        return 1 + super().evaluations

    def learn(self, generator: np.random.Generator, ranked: Sequence[Policy]) -> Learning:
        """Search from the policy as it is written; return the best policy judged, that one too."""
        first = self.start()
        values = np.array(list(first.tunable.values()))
        unit = np.where(values == 0, 1.0, np.abs(values))
        search = CmaSearch(values / unit, self.step, self.offspring, generator)
        best = Best()
        best.note([first], (yield [first]))
        for _ in range(self.generations):
            vectors = search.ask()
            policies = [_having(first, vector * unit) for vector in vectors]
            judged = yield policies
            best.note(policies, judged)
            search.tell(vectors, comparable(judged))
        return best.policy


def _having(policy: AnyPolicy, values: Vector) -> AnyPolicy:
    return policy.tuned({n: float(v) for n, v in zip(policy.tunable, values, strict=True)})

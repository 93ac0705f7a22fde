"""What a policy is worth to a learner: a standing, and a value beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Standing(IntEnum):
    """How a policy stands, the best first."""

    ADMITTED = 0  # it keeps all limits; its value is its loss
    BEYOND_LIMITS = 1  # it does not; its value is how far it is beyond them
    GIVEN_UP = 2  # its replay was given up, so it has no value


@dataclass(frozen=True, order=True, slots=True)
class Judgement:
    """A judged policy; smaller is better: whoever is admitted comes before all who are not.

    Parameters
    ----------
    standing
        Whether it is admitted.
    value
        Of an admitted policy its loss; of one beyond the limits how far it is beyond them.
    """

    standing: Standing
    value: float

    @property
    def admitted(self) -> bool:
        """Whether the policy may be used."""
        return self.standing is Standing.ADMITTED

    @property
    def loss(self) -> float | None:
        """The loss of an admitted policy; None for all others."""
        return self.value if self.admitted else None

    def to_json(self) -> list[float]:
        """Return the judgement, ready for JSON."""
        return [int(self.standing), self.value]

    @classmethod
    def from_json(cls, content: Sequence[float]) -> Judgement:
        """Return the judgement of ``to_json``."""
        standing, value = content
        return cls(Standing(int(standing)), float(value))


#: The judgement of a policy whose replay was given up.
GIVEN_UP = Judgement(Standing.GIVEN_UP, 0.0)


def admitted(losses: Iterable[float]) -> list[Judgement]:
    """Return judgements of policies that are all admitted."""
    return [Judgement(Standing.ADMITTED, float(loss)) for loss in losses]


def comparable(judgements: Sequence[Judgement]) -> Floats:
    """Return numbers in the order of judgements, for methods that need numbers of one size.

    Those that are not admitted lie behind the worst that is by once to twice the range of the
    admitted, the further they fail; those given up count as the worst of the others.
    """
    standing = np.array([each.standing for each in judgements])
    value = np.array([each.value for each in judgements], dtype=np.float64)
    losses = value[standing == Standing.ADMITTED]
    worst, best = (losses.max(), losses.min()) if len(losses) else (0.0, 0.0)
    beyond = np.where(standing == Standing.BEYOND_LIMITS, value, 0.0)
    behind = worst + ((worst - best) or 1.0) * (1.0 + beyond / (1.0 + beyond))
    numbers = np.where(standing == Standing.BEYOND_LIMITS, behind, value)
    known = numbers[standing != Standing.GIVEN_UP]
    most = known.max() if len(known) else 0.0
    return np.where(standing == Standing.GIVEN_UP, most, numbers)

"""A setting of the three knobs, and what it favours, in words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import number
from queuesmith.base.registry import known
from queuesmith.knobs.options import ALPHA, BETA, GAMMA
from queuesmith.policy import Policy
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import parse_settings

NAMES = ("alpha", "beta", "gamma")
#: Exponents beyond this tell nothing more: only their ratios matter.
LARGEST_EXPONENT = 1e6
#: What a positive and a negative exponent puts first.
_FAVOURED = {
    "alpha": ("large jobs", "small jobs"),
    "beta": ("jobs that have waited long", "jobs that have just come"),
    "gamma": ("long jobs", "short jobs"),
}
#: An exponent below this part of the largest one only decides between jobs nearly alike.
_SLIGHT = 0.15


@dataclass(frozen=True, order=True)
class Knobs:
    """The exponents of size, wait and runtime in equation 1.

    >>> Knobs(1, 0, -0.5).favours()
    'large jobs first; short jobs before long ones, half as strongly; the wait does not count'
    """

    alpha: float = ALPHA
    beta: float = BETA
    gamma: float = GAMMA

    def __post_init__(self) -> None:
        for name in NAMES:
            value = number(
                f"the knob {name}",
                getattr(self, name),
                -LARGEST_EXPONENT,
                LARGEST_EXPONENT,
                "Give for example 1.",
            )
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return ",".join(f"{name}={getattr(self, name):g}" for name in NAMES)

    @classmethod
    def parse(cls, text: str) -> Knobs:
        """Read ``alpha=1,beta=0.5``; knobs left out are 0. Three plain numbers are read, too."""
        parts = [part.strip() for part in text.split(",")]
        try:
            return cls(*map(float, parts)) if len(parts) == 3 else cls(**_named(text))
        except ValueError:
            return cls(**_named(text))

    @property
    def values(self) -> tuple[float, float, float]:
        """Alpha, beta and gamma."""
        return self.alpha, self.beta, self.gamma

    def array(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Return the knobs as the kernels take them: one row."""
        return np.array([self.values])

    def policy(self, backfill: str = "list") -> Policy:
        """Return the policy of the engine that ranks rigid jobs by these knobs."""
        exponents = dict(zip(NAMES, self.values, strict=True))
        return Policy(ORDERS["power"].having(**exponents), backfill)

    def favours(self, idle: Collection[str] = ()) -> str:
        """Say in words what these knobs will favour, but for those that do nothing."""
        names = [name for name in NAMES if name not in idle]
        if not names:
            return "nothing"
        by_strength = sorted(names, key=lambda name: -abs(getattr(self, name)))
        strongest = abs(getattr(self, by_strength[0]))
        if strongest == 0:
            return "nothing: jobs are taken in the order of their arrival"
        said = [self._says(name, strongest, i) for i, name in enumerate(by_strength)]
        return "; ".join(said)

    def _says(self, name: str, strongest: float, place: int) -> str:
        value = getattr(self, name)
        if value == 0:
            return f"the {_MEASURE[name]} does not count"
        first, last = _FAVOURED[name] if value > 0 else _FAVOURED[name][::-1]
        if place == 0:
            return f"{first} first"
        short = last.replace("jobs that have", "those that have").replace(" jobs", " ones")
        return f"{first} before {short}, {_strength(abs(value) / strongest)}"


_MEASURE = {"alpha": "size", "beta": "wait", "gamma": "runtime"}


def _strength(ratio: float) -> str:
    if ratio > 0.95:
        return "as strongly"
    if ratio < _SLIGHT:
        return "slightly"
    names = {0.25: "a quarter as strongly", 0.5: "half as strongly", 0.75: "somewhat less strongly"}
    return names[min(names, key=lambda near: abs(near - ratio))]


def _named(text: str) -> dict[str, float]:
    values = parse_settings(text)
    for name in values:
        known("knob", name, NAMES)
    return {name: values.get(name, 0.0) for name in NAMES}

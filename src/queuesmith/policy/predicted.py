"""Policies that plan with predicted runtimes instead of what users ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known
from queuesmith.policy.any_policy import WRITTEN, AnyPolicy
from queuesmith.policy.order import Order
from queuesmith.policy.policy import Policy
from queuesmith.policy.writing import check_once, split_outside

KIND = "predicted"
#: How a runtime is foretold, never above the request.
PREDICTORS = {
    "last2": "the mean of the user's last two runtimes; the request of a user's first job",
    "linear": "a linear quantile learner of request, cores and the user's earlier runtimes",
    "blend": "the geometric mean of last2, linear and the user's last two of the same request",
    "request": "what the user asks for",
    "known": "the true runtime, which nobody knows: what predictions could give at best",
}
CORRECTIONS = {
    "request": "a job that outlives its prediction is expected to run for its request",
    "steps": "it is expected to run 1, 5, 15, 30 minutes, 1, 2, 5, ... 100 hours longer",
}
BACKFILLS = {
    "shortest": "of those who may overtake, the shortest prediction comes first",
    "queue": "they come in the order of the queue",
}
_WRITTEN = re.compile(rf"(?P<policy>.+?)\+\s*{KIND}\s*(\((?P<inside>[^()]*)\))?")


@dataclass(frozen=True)
class Predicted(AnyPolicy):
    """EASY backfilling with predicted runtimes; a prediction never ends a job.

    Parameters
    ----------
    order
        Who is first; an order of the job alone.
    predictor, correction, backfill
        One of ``PREDICTORS``, ``CORRECTIONS`` and ``BACKFILLS``.
    quantile, step
        Of the learner: which quantile of the runtime it foretells, and how fast it learns.

    Examples
    --------
    >>> str(parse_predicted("fcfs+easy+predicted(last2; correction=steps)"))
    'fcfs+easy+predicted(last2; correction=steps)'
    """

    order: Order
    predictor: str = "last2"
    correction: str = "request"
    backfill: str = "shortest"
    quantile: float = 0.5
    step: float = 0.1

    def __post_init__(self) -> None:
        known("predictor", self.predictor, PREDICTORS, error=PolicyError)
        known("correction of predictions called", self.correction, CORRECTIONS, error=PolicyError)
        known("backfill of predictions called", self.backfill, BACKFILLS, error=PolicyError)
        if not self.order.fixed:
            raise PolicyError(
                f"'{self}' predicts under the order '{self.order.name}', whose queue changes with "
                "time. Choose an order of the job alone, such as fcfs, sjf or saf."
            )
        for name, value in (("quantile", self.quantile), ("step", self.step)):
            if not 0 < value < 1:
                raise PolicyError(
                    f"predicted(...) has {name}={value:g}, but it must be between 0 and 1. "
                    f"Write for example {name}=0.5."
                )

    def __str__(self) -> str:
        settings = [self.predictor]
        for name, usual in _USUAL.items():
            value = getattr(self, name)
            if value != usual:
                settings.append(f"{name}={value if isinstance(value, str) else f'{value:g}'}")
        return f"{self.order}+easy+{KIND}({'; '.join(settings)})"

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds: the policy as it is written."""
        return {"kind": WRITTEN, "policy": str(self)}


_USUAL = {
    name: Predicted.__dataclass_fields__[name].default
    for name in ("correction", "backfill", "quantile", "step")
}


def parse_predicted(text: str) -> Predicted | None:
    """Read ``order+easy+predicted(...)``; None where a text is no such."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return None
    policy = Policy.parse(match["policy"])
    if policy.backfill != "easy" or policy.keep is not None:
        raise PolicyError(
            f"'{text}' cannot be read: predictions serve EASY backfilling and nothing else. Write "
            f"for example {policy.order}+easy+{KIND}(last2)."
        )
    settings = dict(_settings(match["inside"] or "", text))
    return Predicted(policy.order, **settings)


def _settings(inside: str, whole: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for number, part in enumerate(p.strip() for p in split_outside(inside, ";") if p.strip()):
        name, equals, value = (each.strip() for each in part.partition("="))
        check_once(name, dict(found), whole)
        if number == 0 and not equals:
            found.append(("predictor", name))
        elif name in ("correction", "backfill"):
            found.append((name, value))
        elif name in ("quantile", "step") and _is_number(value):
            found.append((name, float(value)))
        else:
            raise PolicyError(
                f"setting '{part}' in '{whole}' cannot be read: there are correction, backfill, "
                f"quantile and step. Write for example fcfs+easy+{KIND}(last2; correction=steps)."
            )
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""A scheduler that chooses one job at a time and commits itself: RLScheduler's rules.

D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, "RLScheduler: an automated HPC batch job scheduler
using reinforcement learning", SC 2020. Its tables can be met only under its own rules, which differ
from those of the engine's backfills.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.order import Order
from queuesmith.policy.policy import find_order, parse_order
from queuesmith.policy.writing import check_once, split_outside

KIND = "committed"

#: Who may start while the chosen job waits for its cores.
MEANWHILE = {
    "none": "nobody starts before the chosen job",
    "early": (
        "jobs that end strictly before the chosen job is expected to start may start, in order of "
        "submission"
    ),
}
_EXAMPLE = "Write for example committed(sjf; backfill=early)."


@dataclass(frozen=True)
class Committed(AnyPolicy):
    """Choose the first job of an order, and nothing else before it has started.

    Parameters
    ----------
    order
        Which job is chosen.
    backfill
        Who may start while it waits: one of ``MEANWHILE``.

    Examples
    --------
    >>> from queuesmith.policy import as_policy
    >>> str(as_policy("committed( sjf ;backfill = early)"))
    'committed(sjf; backfill=early)'
    """

    order: Order
    backfill: str = "none"

    def __post_init__(self) -> None:
        known("backfill of committed", self.backfill, MEANWHILE, error=PolicyError)

    def __str__(self) -> str:
        backfill = "" if self.backfill == "none" else f"; backfill={self.backfill}"
        return f"{KIND}({self.order}{backfill})"

    @classmethod
    def parse(cls, inside: str) -> Committed:
        """Read what stands between the parentheses of ``committed(...)``."""
        order, *settings = (part.strip() for part in split_outside(inside, ";"))
        if not order:
            raise PolicyError(f"'{KIND}({inside})' names no order to choose by. {_EXAMPLE}")
        values: dict[str, str] = {}
        for setting in filter(None, settings):
            name, equals, value = (part.strip() for part in setting.partition("="))
            if name != "backfill" or not equals:
                raise PolicyError(
                    f"setting '{setting}' of {KIND} cannot be read: its only setting is backfill. "
                    f"{_EXAMPLE}"
                )
            check_once(name, values, f"{KIND}({inside})")
            values[name] = value
        return cls(parse_order(order), **values)

    def having(self, **parameters: float) -> Committed:
        """Return the policy with other values of its order's parameters."""
        return self.replaced(order=self.order.having(**parameters))

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "kind": KIND,
            "order": self.order.name,
            "parameters": dict(self.order.parameters),
            "backfill": self.backfill,
        }


def committed_from(content: Mapping[str, Any]) -> Committed:
    """Read such a policy from what its JSON file holds."""
    order, parameters = content.get("order"), content.get("parameters", {})
    backfill = content.get("backfill", "none")
    texts = isinstance(order, str) and isinstance(backfill, str)
    extra = set(content) - {"kind", "order", "parameters", "backfill"}
    if extra or not texts or not isinstance(parameters, dict):
        raise PolicyError(
            f"a policy of the kind '{KIND}' has 'order', a text, and may have 'parameters', an "
            "object, and 'backfill', a text. Correct the file."
        )
    return Committed(find_order(str(order)).having(**parameters), backfill)

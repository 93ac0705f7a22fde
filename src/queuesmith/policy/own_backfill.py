"""Backfills of one's own: a function that says who may overtake the first job of the queue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from queuesmith.base.errors import PolicyError
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.order import USAGE_FIELDS, Order, load_function
from queuesmith.policy.policy import Policy, find_order, parse_settings

KIND = "own_backfill"
#: What a backfill function may ask for, in this order, before its parameters.
HANDED = ("job", "head", "now", "machine")
_WRITTEN = re.compile(
    r"(?P<order>.+)\+\s*(?P<backfill>[^+()]+\.py:\w+)\s*(\((?P<set>[^()]*)\))?", re.DOTALL
)


@dataclass(frozen=True)
class Backfill(PolicyFunction):
    """Who may overtake: a function of a job that fits and of the first job, which does not.

    Parameters
    ----------
    function
        Takes ``job``, ``job, head``, ``job, head, now`` or ``job, head, now, machine``, then
        parameters with numbers as defaults; returns whether the job may start now.
    name
        What one writes to choose it; by default the function's name.
    parameters
        Values of the function's parameters, where they differ from the defaults.

    Examples
    --------
    >>> def easy(job, head, now):
    ...     return now + job.walltime <= head.reserved or job.cores <= head.spare
    >>> str(OwnBackfill(Order(lambda job: -job.walltime, "short"), Backfill(easy)))
    'short+easy'
    """

    kind: ClassVar[str] = "backfill"
    handed: ClassVar[tuple[str, ...]] = HANDED

    def __post_init__(self) -> None:
        super().__post_init__()
        seen = sorted(self.reads & USAGE_FIELDS)
        if seen:
            raise PolicyError(
                f"backfill '{self.name}' looks at {seen[0]}, which only orders know. Put it into "
                "the order, or look at something else."
            )


@dataclass(frozen=True)
class OwnBackfill(AnyPolicy):
    """An order, and a backfill that is a function of the user's.

    Jobs start in the order of the queue until one does not fit. From then on the first in the queue
    that fits, and that the function lets overtake, starts; then all is looked at anew, until the
    function lets nobody pass.

    Parameters
    ----------
    order
        Who is first.
    backfill
        Who may overtake.
    """

    order: Order
    backfill: Backfill

    def __str__(self) -> str:
        return f"{self.order}+{self.backfill}"

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "kind": KIND,
            "order": self.order.name,
            "parameters": dict(self.order.parameters),
            "backfill": self.backfill.name,
            "backfill_parameters": dict(self.backfill.parameters),
        }

    @property
    def tunable(self) -> Mapping[str, float]:
        """The parameters of the order and of the backfill."""
        self._check_apart(self.order.parameters)
        return {**self.order.parameters, **self.backfill.parameters}

    def having(self, **parameters: float) -> Self:
        """Return the policy with other values of the order's or the backfill's parameters."""
        self._check_apart(parameters)
        own = {name: x for name, x in parameters.items() if name in self.backfill.parameters}
        others = {name: x for name, x in parameters.items() if name not in own}
        return self.replaced(
            order=self.order.having(**others), backfill=self.backfill.having(**own)
        )

    def _check_apart(self, names: Iterable[str]) -> None:
        """Raise where one of these names is a parameter of the order and of the backfill."""
        for name in names:
            if name in self.order.parameters and name in self.backfill.parameters:
                raise PolicyError(
                    f"the order and the backfill of '{self}' both have a parameter '{name}', so "
                    "that it does not say whose is meant. Rename one of them."
                )


def parse_own_backfill(text: str) -> OwnBackfill | None:
    """Read ``order+file.py:function(parameter=value,...)``; None where a text is no such."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return None
    policy = Policy.parse(match["order"])
    if policy.backfill != "none" or policy.keep is not None:
        raise PolicyError(
            f"'{text}' has more than one backfill, but a policy has one. Write for example "
            f"{policy.order}+{match['backfill']}."
        )
    backfill = load_backfill(match["backfill"])
    return OwnBackfill(policy.order, backfill.having(**parse_settings(match["set"] or "")))


def load_backfill(reference: str) -> Backfill:
    """Load a backfill from a Python file: ``path/to/my.py:patient_head``."""
    return Backfill(load_function(reference, "policy"), reference)


def own_backfill_from(content: Mapping[str, Any]) -> OwnBackfill:
    """Read such a policy from what its JSON file holds."""
    texts = [content.get("order"), content.get("backfill")]
    settings = [content.get("parameters", {}), content.get("backfill_parameters", {})]
    known = {"kind", "order", "parameters", "backfill", "backfill_parameters"}
    right = all(isinstance(text, str) for text in texts)
    if set(content) - known or not right or not all(isinstance(each, dict) for each in settings):
        raise PolicyError(
            f"a policy of the kind '{KIND}' has texts as 'order' and 'backfill', and objects as "
            "'parameters' and 'backfill_parameters'. Correct the file."
        )
    order, backfill = find_order(str(texts[0])), load_backfill(str(texts[1]))
    return OwnBackfill(order.having(**settings[0]), backfill.having(**settings[1]))

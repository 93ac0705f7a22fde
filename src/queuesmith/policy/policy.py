"""A policy: an order, a backfill, perhaps cores kept free, as one writes it or keeps it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known, no_such
from queuesmith.policy.any_policy import AnyPolicy, opened_policy_file
from queuesmith.policy.backfill import BACKFILLS
from queuesmith.policy.keep import Keep
from queuesmith.policy.order import Order, load_order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.writing import check_once

_WRITTEN = re.compile(
    r"(?P<order>.+\.py:\w+|[^()+]+?)\s*(\((?P<set>[^()]*)\))?"
    r"\s*(\+\s*(?P<backfill>(?!keep\b)[\w-]+)\s*(\((?P<options>[^()]*)\))?)?"
    r"\s*(\+\s*keep\s*\((?P<keep>[^()]*)\))?"
)
#: The backfills that can keep cores free: those that plan nothing beyond the first job.
KEEPING = ("none", "list", "easy")
#: The backfills that plan many jobs, and can be told how many at most.
DEEP = ("conservative", "plan")


@dataclass(frozen=True)
class Policy(AnyPolicy):
    """How a waiting queue becomes starts: an order, who may overtake, what is kept free.

    >>> str(Policy.parse("power(alpha=2)+easy"))
    'power(alpha=2)+easy'
    >>> str(Policy.parse("group+easy+keep(share=0.3)"))
    'group+easy+keep(share=0.3)'
    >>> Policy.parse("fcfs+conservative(depth=1000)").depth
    1000
    """

    order: Order
    backfill: str = "none"
    keep: Keep | None = None
    depth: int | None = None  # how many waiting jobs are planned at most; None for all

    def __post_init__(self) -> None:
        if not isinstance(self.order, Order):
            raise PolicyError(
                f"the order of a policy is {self.order!r}, but it must be an Order. Write "
                'Order(function), or the whole policy as text: Policy.parse("fcfs+easy").'
            )
        known("backfill", self.backfill, BACKFILLS, error=PolicyError)
        if self.keep is not None and self.backfill not in KEEPING:
            raise PolicyError(
                f"'{self}' keeps cores free under the backfill '{self.backfill}', which cannot. "
                f"Choose from: {', '.join(KEEPING)}."
            )
        if self.keep is not None and not self.order.fixed:
            raise PolicyError(
                f"'{self}' keeps cores free under the order '{self.order.name}', whose queue "
                "changes with time. Choose an order of the job alone, such as fcfs, sjf or group."
            )

        self._check_depth()

    def _check_depth(self) -> None:
        if self.depth is None:
            return
        if self.backfill not in DEEP:
            raise PolicyError(
                f"the backfill '{self.backfill}' takes no depth, for it plans no more than one "
                f"job. Give a depth to: {', '.join(DEEP)}."
            )
        number = isinstance(self.depth, int | float) and not isinstance(self.depth, bool)
        if not number or not (self.depth >= 1 and self.depth % 1 == 0):
            given = f"{self.depth:g}" if number else repr(self.depth)
            raise PolicyError(
                f"{self.backfill} has depth={given}, but it must be a whole number, 1 or more: how "
                f"many waiting jobs are planned. Write for example {self.backfill}(depth=1000)."
            )
        object.__setattr__(self, "depth", int(self.depth))

    def __str__(self) -> str:
        depth = "" if self.depth is None else f"(depth={self.depth})"
        backfill = "" if self.backfill == "none" else f"+{self.backfill}{depth}"
        return f"{self.order}{backfill}" + (f"+{self.keep}" if self.keep else "")

    @classmethod
    def parse(cls, text: str, parameters: Mapping[str, float] | None = None) -> Policy:
        """Read a policy as one writes it.

        Parameters
        ----------
        text
            ``order``, ``order+backfill``, ``order(parameter=value,...)+backfill``,
            ``file.py:function+backfill``, each with ``+keep(share=...)`` behind it if wanted,
            ``order+conservative(depth=...)``, or the name of a ``.json`` file.
        parameters
            Values for parameters of the order, on top of those in the text.
        """
        text = text.strip()
        if text.endswith(".json"):
            policy = cls.load(text)
        else:
            match = _WRITTEN.fullmatch(text)
            if match is None:
                raise PolicyError(
                    f"policy '{text}' cannot be read. Write order+backfill, for example "
                    "fcfs+easy or power(alpha=2)+easy."
                )
            order = find_order(match["order"]).having(**_read_settings(match["set"] or "", text))
            kept = match["keep"]
            keep = None if kept is None else Keep.having(_read_settings(kept, text, "share=0.3"))
            backfill = match["backfill"] or "none"
            policy = cls(order, backfill, keep, _read_depth(match["options"], backfill, text))
        return policy.having(**parameters) if parameters else policy

    @property
    def tunable(self) -> Mapping[str, float]:
        """The parameters of the order."""
        return self.order.parameters

    def having(self, **parameters: float) -> Policy:
        """Return the policy with other values of its order's parameters."""
        return self.replaced(order=self.order.having(**parameters))

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        content: dict[str, Any] = {
            "order": self.order.name,
            "parameters": dict(self.order.parameters),
            "backfill": self.backfill,
        }
        if self.depth is not None:
            content["depth"] = self.depth
        return content | ({"keep": self.keep.to_dict()} if self.keep else {})

    @classmethod
    def load(cls, path: str | Path, *, trust: bool = False) -> Policy:
        """Read a policy from its JSON file; ``trust`` as for ``load_policy``."""
        with opened_policy_file(path, trust=trust) as (content, groups):
            return cls.from_dict(content, path).for_groups(groups)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], path: str | Path) -> Policy:
        """Read a policy from what its JSON file holds; the path is for messages."""
        known = {"order", "parameters", "backfill", "depth", "keep"}
        if "order" not in content or set(content) - known:
            raise PolicyError(
                f"policy file '{path}' does not describe a policy: it must be an object with "
                f"'order' and, if wanted, 'parameters', 'backfill', 'depth' and 'keep'. Correct it."
            )
        parameters = content.get("parameters", {})
        backfill = content.get("backfill", "none")
        keep = content.get("keep")
        texts = isinstance(content["order"], str) and isinstance(backfill, str)
        if not isinstance(parameters, dict) or not isinstance(keep, dict | None) or not texts:
            raise PolicyError(
                f"policy file '{path}' must have texts as 'order' and 'backfill' and objects as "
                "'parameters' and 'keep'. Correct it."
            )
        order = find_order(content["order"])
        kept = Keep.having(keep) if keep else None
        return cls(order.having(**parameters), backfill, kept, content.get("depth"))


def parse_order(text: str) -> Order:
    """Read an order as one writes it: ``sjf`` or ``power(alpha=2)``."""
    policy = Policy.parse(text)
    if policy.backfill != "none" or policy.keep:
        raise PolicyError(
            f"'{text}' is more than an order, where an order alone should stand. "
            f"Write {policy.order}."
        )
    return policy.order


def find_order(name: str) -> Order:
    """Return a built-in order by name, or one from a file written ``file.py:function``."""
    if ":" in name:
        return load_order(name)
    if name not in ORDERS:
        raise PolicyError(no_such("order", name, ORDERS, "give FILE.py:FUNCTION"))
    return ORDERS[name]


def _read_depth(options: str | None, backfill: str, whole: str) -> Any:
    """Read what stands in the parentheses of a backfill."""
    if options is None:
        return None
    settings = _read_settings(options, whole, "depth=1000")
    if set(settings) != {"depth"}:
        raise PolicyError(
            f"'{backfill}({options})' in '{whole}' cannot be read: in the parentheses of a "
            "backfill stands its depth, and nothing else. "
            "Write for example conservative(depth=1000)."
        )
    return settings["depth"]


def parse_settings(settings: str) -> dict[str, float]:
    """Read ``name=number,name=number``."""
    return _read_settings(settings, settings)


def _read_settings(settings: str, whole: str, example: str = "alpha=1.5") -> dict[str, float]:
    values: dict[str, float] = {}
    for setting in filter(None, (part.strip() for part in settings.split(","))):
        name, equals, number = (part.strip() for part in setting.partition("="))
        check_once(name, values, whole)
        try:
            values[name] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise PolicyError(
                f"setting '{setting}' in '{whole}' cannot be read: a setting is name=number. "
                f"Write for example {example}."
            )
    return values

"""Which policies the page may try: any that is written, but no file that nobody named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from queuesmith.base.errors import PolicyError
from queuesmith.policy import AnyPolicy, Policy, as_policy
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.policy import parse_settings
from queuesmith.web.runs import LEARNED, RunShelf

#: What would make a text read or run a file: an order in a file of Python, a policy file.
_FILES = re.compile(r":|\.json\b|\.py\b")
_SLURM_CONF = re.compile(r"slurm\s*\(\s*(?P<first>[^;)]*)")
_OWN = re.compile(r"(?P<order>.+?\.py:\w+)(?P<rest>.*)", re.DOTALL)


class PolicyShelf:
    """The policies of a page: whatever can be written without a file, and what was named.

    Parameters
    ----------
    named
        The policies that were named when the page was started, by how they were written. Only
        these may have run files of Python.
    runs
        Where learned policies are found by the name of their run.
    """

    def __init__(
        self, named: Mapping[str, AnyPolicy] | None = None, runs: RunShelf | None = None
    ) -> None:
        self.named = dict(named or {})
        self._runs = runs
        self.own_orders: dict[str, Order] = {
            policy.order.name: policy.order
            for policy in self.named.values()
            if isinstance(policy, Policy) and ":" in policy.order.name
        }

    @property
    def orders(self) -> Mapping[str, Order]:
        """The orders to choose from."""
        return {**ORDERS, **self.own_orders}

    def policy(self, text: str) -> AnyPolicy:
        """Return the policy that a text of the address means."""
        if text in self.named:
            return self.named[text]
        if text.startswith(LEARNED) and self._runs is not None:
            return self._runs.policy(text)
        own = _OWN.fullmatch(text)
        if own and own["order"] in self.own_orders and not _FILES.search(own["rest"]):
            return self._of_own_order(self.own_orders[own["order"]], own["rest"])
        if _FILES.search(text) or _names_a_conf(text):
            raise PolicyError(
                f"'{text[:80]}' names a file, but the page opens only files that were named when "
                "it was started. Start it anew with --policies."
            )
        return as_policy(text)

    @staticmethod
    def _of_own_order(order: Order, rest: str) -> Policy:
        """Return a policy of an order that was loaded at the start: no file is run again."""
        stand_in = as_policy(f"fcfs{re.sub(r'^[(][^()]*[)]', '', rest)}")
        assert isinstance(stand_in, Policy)
        inside = re.match(r"[(](?P<set>[^()]*)[)]", rest)
        values = parse_settings(inside["set"]) if inside else {}
        return replace(stand_in, order=order.having(**values))


def _names_a_conf(text: str) -> bool:
    """Tell whether a text is ``slurm(FILE; ...)``."""
    match = _SLURM_CONF.match(text.strip())
    return bool(match and match["first"].strip() and "=" not in match["first"])


def names_of(policies: Sequence[AnyPolicy], texts: Sequence[str]) -> dict[str, AnyPolicy]:
    """Return policies by how they were written, for those that a text alone does not restore."""
    return {
        text.strip(): policy
        for text, policy in zip(texts, policies, strict=True)
        if _FILES.search(text) or _names_a_conf(text)
    }

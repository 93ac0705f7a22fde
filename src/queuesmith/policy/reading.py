"""Any policy from how it is written, or from its file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from queuesmith.base.checks import several
from queuesmith.base.errors import PolicyError, QueuesmithError
from queuesmith.policy import committed, own_backfill, rulebase, self_tuning, slurm
from queuesmith.policy.any_policy import WRITTEN, AnyPolicy, opened_policy_file
from queuesmith.policy.committed import Committed
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.own_backfill import parse_own_backfill
from queuesmith.policy.policy import Policy
from queuesmith.policy.predicted import parse_predicted
from queuesmith.policy.self_tuning import SelfTuning
from queuesmith.policy.slurm import Slurm
from queuesmith.policy.writing import split_outside

#: Other packages, and parts of this one that stand above, offer policies under this entry point:
#: a name, and a function from the text within the parentheses to a policy.
OFFERS = "queuesmith.policies"

_CALLED = re.compile(r"(?P<name>\w+)\s*\((?P<inside>.*)\)", re.DOTALL)


def as_policies(policies: Iterable[AnyPolicy | str]) -> tuple[AnyPolicy, ...]:
    """Return several policies, each as ``as_policy`` has it."""
    way_out = "Give for example ['fcfs+easy', 'sjf+easy']."
    return tuple(as_policy(policy) for policy in several("policies", policies, way_out))


def as_policy(
    policy: AnyPolicy | Order | Callable[..., Any] | str, *, trust: bool = False
) -> AnyPolicy:
    """Return a policy as it is, make one of an order, or read one as it is written.

    A plain function is an order, and an order alone means no backfill:
    ``Policy(Order(function), "easy")`` has one.

    ``order``, ``order+backfill``, ``order(parameter=value,...)+backfill``,
    ``file.py:function+backfill``, each with ``+keep(share=...)`` if wanted,
    ``order+file.py:function(parameter=value,...)`` for a backfill of one's own,
    ``order+conservative(depth=...)``, ``order+plan(depth=...)``, ``order+easy+predicted(last2)``,
    ``dynp(order,...; metric=...; decider=...)``, ``slurm(slurm.conf; bf_interval=60)``,
    ``committed(order; backfill=early)``, or the name of a ``.json`` file, for which ``trust`` is
    as for ``load_policy``.
    """
    if isinstance(policy, AnyPolicy):
        return policy
    if isinstance(policy, Order) or inspect.isfunction(policy):
        return Policy(policy if isinstance(policy, Order) else Order(policy))
    if not isinstance(policy, str):
        raise PolicyError(
            f"a policy is a text such as 'fcfs+easy', a Policy, or a function of a job, but here "
            f"it is {policy!r}. Give one of these."
        )
    text = policy.strip()
    if text.endswith(".json"):
        return load_policy(text, trust=trust)
    if text == self_tuning.KIND:
        return SelfTuning.parse("")
    match = _CALLED.fullmatch(text)
    if match and match["name"] == self_tuning.KIND:
        return SelfTuning.parse(match["inside"])
    if text == slurm.KIND or (match and match["name"] == slurm.KIND):
        return Slurm.parse(match["inside"] if match else "")
    if match and match["name"] == committed.KIND:
        return Committed.parse(match["inside"])
    if re.match(rf"{self_tuning.KIND}\s*\(", text):
        raise PolicyError(
            f"policy '{text}' cannot be read: what {self_tuning.KIND} is made of ends with a "
            f"parenthesis, and nothing follows it. Write for example {self_tuning.KIND}(fcfs,sjf)."
        )
    name, inside = (match["name"], match["inside"]) if match else (text, "")
    if name.isidentifier() and name not in ORDERS:
        for offer in entry_points(group=OFFERS, name=name):
            offered: AnyPolicy = offer.load()(inside)
            return offered
    return parse_predicted(text) or parse_own_backfill(text) or Policy.parse(text)


def parse_policies(text: str, *, trust: bool = False) -> list[AnyPolicy]:
    """Read a comma-separated list of policies; commas within parentheses do not separate."""
    parts = (part for part in split_outside(text, ",") if part.strip())
    return [as_policy(part, trust=trust) for part in parts]


def _written_from(content: Mapping[str, Any]) -> AnyPolicy:
    text = content.get("policy")
    named = isinstance(text, str) and text.strip().endswith(".json")
    if set(content) != {"kind", "policy"} or not isinstance(text, str) or named:
        raise PolicyError(
            f"a policy of the kind '{WRITTEN}' has 'policy', a text as --policy takes it, and "
            "nothing else. Correct the file."
        )
    return as_policy(text)


def load_policy(path: str | Path, *, trust: bool = False) -> AnyPolicy:
    """Read a policy of any kind from its JSON file.

    Parameters
    ----------
    path
        The file.
    trust
        Trust the files of Python that it names, from now on until their content changes. Without
        that an error tells which they are, unless they are trusted already.
    """
    with opened_policy_file(path, trust=trust) as (content, groups):
        kind = content.get("kind")
        if kind is None:
            return Policy.from_dict(content, path).for_groups(groups)
        if not isinstance(kind, str) or kind not in _KINDS:
            raise PolicyError(
                f"policy file '{path}' is of the kind '{str(kind)[:40]}', which is not known. "
                f"Choose from: {', '.join(_KINDS)}; or leave 'kind' out for order and backfill."
            )
        try:
            return _KINDS[kind](content).for_groups(groups)
        except QueuesmithError as error:
            raise PolicyError(f"policy file '{path}': {error}") from error


_KINDS: dict[str, Callable[[Mapping[str, Any]], AnyPolicy]] = {
    rulebase.KIND: rulebase.rule_base_from,
    rulebase.PAIR_KIND: rulebase.rule_base_from,
    self_tuning.KIND: self_tuning.self_tuning_from,
    committed.KIND: committed.committed_from,
    own_backfill.KIND: own_backfill.own_backfill_from,
    WRITTEN: _written_from,
}

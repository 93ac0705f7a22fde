"""Rule bases: policies that look at the machine's state and choose a strategy for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from queuesmith.base.errors import PolicyError
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.policy.features import SEVEN, find_features
from queuesmith.policy.policy import Policy
from queuesmith.policy.rules import FuzzyRules, Rules, check_rules, rules_from
from queuesmith.policy.strategies import FOUR_ORDERS, GREEDY, THIRTEEN, THREE_ALGORITHMS

KIND, PAIR_KIND = "rule base", "pair of rule bases"
#: In seconds: longer than any log.
LONGEST_WINDOW = 2**53


class RuleBased(AnyPolicy):
    """A policy that chooses one of several strategies by rules, at each scheduling instant."""

    name: str
    features: tuple[str, ...]
    window: int

    @property
    @abstractmethod
    def strategies(self) -> tuple[Policy, ...]:
        """The strategies among which it chooses."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Rules, ...]:
        """Its rules: one set of them, or two that decide together."""

    @abstractmethod
    def choose(self, state: Sequence[float]) -> int:
        """Return which strategy is chosen for a state, given as the values of its features."""

    def __str__(self) -> str:
        return self.name

    def _check(self) -> None:
        find_features(self.features)
        if len(set(self.features)) != len(self.features) or not self.features:
            raise PolicyError(
                f"rule base '{self.name}' names the features {', '.join(self.features) or '(none)'}"
                ", but it must name at least one and each once. Correct the list."
            )
        for strategy in self.strategies:
            if strategy.backfill == "conservative":
                raise PolicyError(
                    f"rule base '{self.name}' offers '{strategy}', but reservations that are kept "
                    f"from pass to pass do not go with strategies that change. Write "
                    f"{strategy.order}+plan, which plans afresh at each pass."
                )
        if self.window < 0:
            raise PolicyError(
                f"the window of rule base '{self.name}' is {self.window} seconds, but it must be "
                "at least 0. Give 0 to look at all jobs that ended."
            )
        if self.window > LONGEST_WINDOW:
            raise PolicyError(
                f"the window of rule base '{self.name}' is {self.window} seconds, but it must be "
                f"at most {LONGEST_WINDOW:,}. Give 0 to look at all jobs that ended."
            )


@dataclass(frozen=True, eq=False)
class RuleBase(RuleBased):
    """One set of rules that chooses a whole strategy.

    Parameters
    ----------
    rules
        Fuzzy or rigid rules over the features; their choices are the strategies.
    features
        Names of the features that the rules look at, in the order of their columns.
    offered
        The strategies, in the order of the rules' choices; by default the paper's thirteen.
    window
        Over how many past seconds the slowdown of ended jobs is averaged; 0 for all.
    name
        What tables and plots call it.
    """

    rules: Rules
    features: tuple[str, ...] = SEVEN
    offered: tuple[Policy, ...] = THIRTEEN
    window: int = 0
    name: str = "rules"

    def __post_init__(self) -> None:
        self._check()
        check_rules(self.rules, len(self.offered), self.features)

    @property
    def strategies(self) -> tuple[Policy, ...]:
        """The strategies among which it chooses."""
        return self.offered

    @property
    def parts(self) -> tuple[Rules, ...]:
        """Its one set of rules."""
        return (self.rules,)

    def choose(self, state: Sequence[float]) -> int:
        """Return which strategy is chosen for a state."""
        return self.rules.choose(state)

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "kind": KIND,
            "name": self.name,
            "features": list(self.features),
            "window": self.window,
            "strategies": [str(strategy) for strategy in self.offered],
            "rules": self.rules.to_dict(),
        }


def always(
    strategy: Policy, offered: tuple[Policy, ...], features: tuple[str, ...] = SEVEN
) -> RuleBase:
    """Return a rule base that plays one of its strategies in every state."""
    states = (1, len(features))
    weight = np.zeros((1, len(offered)))
    weight[0, offered.index(strategy)] = 1
    rules = FuzzyRules(np.zeros(states), np.ones(states), weight)
    return RuleBase(rules, features, offered, name=str(strategy))


@dataclass(frozen=True, eq=False)
class RuleBasePair(RuleBased):
    """Two sets of rules over the same features: one chooses the order, one the algorithm.

    Parameters
    ----------
    order_rules, algorithm_rules
        Rules whose choices are the orders, and rules whose choices are the algorithms.
    features, window, name
        As for :class:`RuleBase`.
    orders
        Orders as they are written.
    algorithms
        Backfills, or ``greedy``: that is a whole strategy and needs no order.
    """

    order_rules: Rules
    algorithm_rules: Rules
    features: tuple[str, ...] = SEVEN
    orders: tuple[str, ...] = FOUR_ORDERS
    algorithms: tuple[str, ...] = (*THREE_ALGORITHMS, GREEDY)
    window: int = 0
    name: str = "rules"
    _strategies: tuple[Policy, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        written = [
            algorithm if algorithm == GREEDY else f"{order}+{algorithm}"
            for order in self.orders
            for algorithm in self.algorithms
        ]
        object.__setattr__(self, "_strategies", tuple(Policy.parse(text) for text in written))
        self._check()
        check_rules(self.order_rules, len(self.orders), self.features)
        check_rules(self.algorithm_rules, len(self.algorithms), self.features)

    @property
    def strategies(self) -> tuple[Policy, ...]:
        """All pairs of an order and an algorithm, the algorithm changing fastest."""
        return self._strategies

    @property
    def parts(self) -> tuple[Rules, ...]:
        """The rules for the order, then those for the algorithm."""
        return (self.order_rules, self.algorithm_rules)

    def choose(self, state: Sequence[float]) -> int:
        """Return which strategy is chosen for a state."""
        algorithm = self.algorithm_rules.choose(state)
        return self.order_rules.choose(state) * len(self.algorithms) + algorithm

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {
            "kind": PAIR_KIND,
            "name": self.name,
            "features": list(self.features),
            "window": self.window,
            "orders": list(self.orders),
            "algorithms": list(self.algorithms),
            "order_rules": self.order_rules.to_dict(),
            "algorithm_rules": self.algorithm_rules.to_dict(),
        }


def rule_base_from(content: Mapping[str, Any]) -> RuleBased:
    """Read a rule base from what its JSON file holds."""
    pair = content["kind"] == PAIR_KIND
    lists = {"features", "orders", "algorithms"} if pair else {"features", "strategies"}
    rules = {"order_rules", "algorithm_rules"} if pair else {"rules"}
    _check_keys(content, lists | rules | {"kind"}, {"name", "window"})
    for key in lists:
        if not isinstance(content[key], list) or not all(isinstance(x, str) for x in content[key]):
            raise PolicyError(
                f"'{key}' of the rule base must be a list of texts, but it is "
                f"{content[key]!r:.60}. Correct the file."
            )
    features = tuple(content["features"])
    name = str(content.get("name", "rules"))
    window = content.get("window", 0)
    if not isinstance(window, int) or isinstance(window, bool):
        raise PolicyError(
            f"'window' of the rule base is {window!r}, but it must be a whole number of seconds. "
            "Give 0 to look at all jobs that ended."
        )
    if pair:
        orders, algorithms = tuple(content["orders"]), tuple(content["algorithms"])
        return RuleBasePair(
            rules_from(content["order_rules"], len(orders), features),
            rules_from(content["algorithm_rules"], len(algorithms), features),
            features,
            orders,
            algorithms,
            window,
            name,
        )
    strategies = tuple(Policy.parse(text) for text in content["strategies"])
    return RuleBase(
        rules_from(content["rules"], len(strategies), features), features, strategies, window, name
    )


def _check_keys(content: Mapping[str, Any], needed: set[str], optional: set[str]) -> None:
    missing, unknown = needed - set(content), set(content) - needed - optional
    if missing or unknown:
        wrong = f"has no '{min(missing)}'" if missing else f"has an unknown '{min(unknown)}'"
        raise PolicyError(
            f"the rule base {wrong}: it must have {', '.join(sorted(needed))}, and may have "
            f"{', '.join(sorted(optional))}. Correct the file."
        )

"""The methods of learning by name, in a dictionary that one can read."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.learning.cma_search import Cma
from queuesmith.learning.coevolution import Coevolution
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.head_start import HeadStart
from queuesmith.learning.method import Method
from queuesmith.learning.own_order import OwnOrder
from queuesmith.learning.planner import Planner
from queuesmith.learning.priority import Priority
from queuesmith.learning.probability import Probability
from queuesmith.learning.race import Race
from queuesmith.policy.reading import as_policy
from queuesmith.policy.self_tuning import SelfTuning

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (Race, Probability, Pittsburgh, Coevolution, Cma, Priority, HeadStart, Planner)
}

#: What `tune` takes where nothing is said; chosen on generated logs (`papers/method_choice.py`).
DEFAULT_METHOD = Race.name

#: The evolution of Franke, Lepping and Schwiegelshohn, unchanged: from chance, every number of a
#: child mutated. They do not tell the first strengths of mutation.
PAPER_EVOLUTION = {
    "parents": 3,
    "offspring": 21,
    "generations": 40,
    "rules": 10,
    "step": 0.1,
    "weight_step": 0.4,
    "changed": 1.0,
    "changed_last": None,
    "seeded": 0,
    "fallback": False,
    "restart_after": None,
}
#: What the paper calls its methods: a name of ours, and the settings that make it the paper's.
PAPER_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "probability": ("prob", {}),
    "pitts": ("pittsburgh", PAPER_EVOLUTION),
    "cca": ("coevolution", {**PAPER_EVOLUTION, "pairing": "random"}),
}


def make_method(name: str, **parameters: Any) -> Method:
    """Return a method with some of its parameters set, the others as they are by default.

    By the paper's name, such as ``pitts``, it is the paper's method unchanged.
    """
    wanted = known("method", name.strip().lower(), [*METHODS, *PAPER_METHODS])
    ours, paper = PAPER_METHODS.get(wanted, (wanted, {}))
    return configured(METHODS[ours], **{**paper, **parameters})


def method_of_policy(policy: str, **parameters: Any) -> Method:
    """Return the method that makes a policy better: dynP's own, or its parameters by CMA-ES."""
    kind = Planner if isinstance(as_policy(policy), SelfTuning) else OwnOrder
    return configured(kind, policy=policy, **parameters)


def configured(kind: type[Method], **parameters: Any) -> Method:
    """Return a method of a kind with some of its parameters set; none may be unknown to it."""
    names = [field.name for field in fields(kind)]
    for parameter, value in parameters.items():
        known(f"parameter of method '{kind.name}' called", parameter, names)
        if isinstance(getattr(kind, parameter, None), tuple):
            _check_texts(f"{parameter} of method '{kind.name}'", value)
    return kind(**parameters)


def _check_texts(name: str, value: Any) -> None:
    if not isinstance(value, tuple | list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"{name} is {value!r}, but it must be a list of texts. Correct it.")

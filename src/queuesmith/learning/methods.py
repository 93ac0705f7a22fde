"""The methods of learning by name, in a dictionary that one can read."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from queuesmith.base.registry import known
from queuesmith.learning.cma_search import Cma
from queuesmith.learning.coevolution import Coevolution
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.method import Method
from queuesmith.learning.priority import Priority
from queuesmith.learning.probability import Probability

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Probability, Pittsburgh, Coevolution, Cma, Priority)
}

#: What the paper calls them.
ALIASES = {"probability": "prob", "pitts": "pittsburgh", "cca": "coevolution"}


def find_method(name: str) -> type[Method]:
    """Return a method by its name, or by the paper's."""
    wanted = known("method", name.strip().lower(), [*METHODS, *ALIASES])
    return METHODS[ALIASES.get(wanted, wanted)]


def make_method(name: str, **parameters: Any) -> Method:
    """Return a method with some of its parameters set, the others as they are by default."""
    return configured(find_method(name), **parameters)


def configured(kind: type[Method], **parameters: Any) -> Method:
    """Return a method of a kind with some of its parameters set; none may be unknown to it."""
    names = [field.name for field in fields(kind)]
    for parameter in parameters:
        known(f"parameter of method '{kind.name}' called", parameter, names)
    return kind(**parameters)

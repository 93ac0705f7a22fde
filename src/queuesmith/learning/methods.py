"""The methods of learning by name, in a dictionary that one can read."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

from queuesmith.base.errors import UsageError
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
    wanted = name.strip().lower()
    wanted = ALIASES.get(wanted, wanted)
    if wanted not in METHODS:
        near = difflib.get_close_matches(wanted, [*METHODS, *ALIASES], 1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise UsageError(f"there is no method '{name}'. {hint}Choose from: {', '.join(METHODS)}.")
    return METHODS[wanted]


def make_method(name: str, **parameters: Any) -> Method:
    """Return a method with some of its parameters set, the others as they are by default."""
    kind = find_method(name)
    known = [field.name for field in fields(kind)]
    for parameter in parameters:
        if parameter not in known:
            raise UsageError(
                f"method '{kind.name}' has no parameter '{parameter}'. "
                f"Choose from: {', '.join(known)}."
            )
    return kind(**parameters)

"""Objectives: what a schedule should be good at, such as ``10*awrt[1] + 4*awrt[2]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import MetricError
from queuesmith.schedule.expression import (
    FUNCTIONS,
    OPERATORS,
    Step,
    Values,
    read_expression,
    written,
)
from queuesmith.schedule.measures import DEFAULT_BOUND, checked_bound
from queuesmith.schedule.metrics import (
    METRICS,
    Better,
    Metric,
    Term,
    evaluate_all,
)

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule


class Objective:
    """What a schedule should be good at, as an expression over metrics.

    Parameters
    ----------
    expression
        Numbers, metrics, ``+ - * / **``, parentheses, and the functions min, max, sqrt, log, abs.
    bound
        The bound of the bounded slowdown in seconds, for the metrics that use it.

    Examples
    --------
    >>> Objective("10*awrt[1]+4 * awrt[2]")
    Objective('10 * awrt[1] + 4 * awrt[2]')
    """

    __slots__ = ("_program", "_text", "bound")

    def __init__(self, expression: str, *, bound: float = DEFAULT_BOUND) -> None:
        self._program = read_expression(expression)
        self._text = written(self._program)
        self.bound = checked_bound(bound)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        bound = "" if self.bound == DEFAULT_BOUND else f", bound={self.bound:g}"
        return f"Objective({self._text!r}{bound})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Objective):
            return NotImplemented
        return (self._text, self.bound) == (other._text, other.bound)

    def __hash__(self) -> int:
        return hash((self._text, self.bound))

    @property
    def terms(self) -> tuple[Term, ...]:
        """The metrics with their indices, each once, in the order of their first appearance."""
        found = (step.what for step in self._program if isinstance(step.what, Term))
        return tuple(dict.fromkeys(found))

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics as they are written, such as ``awrt[1]``, each once."""
        return tuple(str(term) for term in self.terms)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The entries of the registry that are used, each once."""
        return tuple(METRICS[name] for name in dict.fromkeys(term.name for term in self.terms))

    @property
    def better(self) -> Better:
        """Whether lower or higher is better.

        A metric on its own knows; any other expression is to be made small.
        """
        alone = len(self._program) == 1 and len(self.terms) == 1
        return self.metrics[0].better if alone else "lower"

    def __call__(self, schedule: Schedule) -> float:
        """Return the value of a schedule; each metric is computed once."""
        values = evaluate_all(schedule, self.terms, bound=self.bound)
        return self.combined(values, f"schedule '{schedule.policy}'")

    def combined(self, values: Mapping[Term, float], whose: str = "these values") -> float:
        """Return the value of the expression for known values of its metrics."""
        arrays = {term: np.asarray(value, dtype=np.float64) for term, value in values.items()}
        stack: list[Values] = []
        for step in self._program:
            arguments = _pop(stack, step.takes)
            result = _apply(step, arguments, arrays)
            if not np.isfinite(result):
                raise MetricError(
                    f"objective '{self}' has no value for {whose}: "
                    f"{_complaint(step, arguments)}. Change the expression."
                )
            stack.append(result)
        return float(stack[0])

    def source(self, metric: Callable[[Term], str]) -> str:
        """Return the expression as Python source for compiling, each metric written as wished."""
        stack: list[str] = []
        for step in self._program:
            arguments = stack[len(stack) - step.takes :]
            del stack[len(stack) - step.takes :]
            if isinstance(step.what, Term):
                stack.append(metric(step.what))
            elif isinstance(step.what, float):
                stack.append(repr(step.what))
            elif step.what == "negate":
                stack.append(f"(-{arguments[0]})")
            elif step.what in ("min", "max") and step.takes == 1:
                stack.append(arguments[0])
            elif step.what in OPERATORS:
                stack.append(f"({arguments[0]} {step.what} {arguments[1]})")
            else:
                name = f"math.{step.what}" if step.what in ("sqrt", "log") else step.what
                stack.append(f"{name}({', '.join(arguments)})")
        return stack[0]

    def combined_each(self, values: Mapping[Term, Values]) -> Values:
        """Return the expression for many values of its metrics at once, nan where it has none."""
        stack: list[Values] = []
        for step in self._program:
            result = _apply(step, _pop(stack, step.takes), values)
            stack.append(np.where(np.isfinite(result), result, np.nan))
        return stack[0]


def _pop(stack: list[Values], count: int) -> list[Values]:
    arguments = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return arguments


def _apply(step: Step, arguments: list[Values], values: Mapping[Term, Values]) -> Values:
    if isinstance(step.what, Term):
        return values[step.what]
    if isinstance(step.what, float):
        return np.asarray(step.what)
    function = OPERATORS.get(step.what) or FUNCTIONS[step.what][2]
    with np.errstate(all="ignore"):
        return function(*arguments)


def _complaint(step: Step, arguments: list[Values]) -> str:
    shown = [f"{float(argument):g}" for argument in arguments]
    if step.what == "/" and arguments[1] == 0:
        return f"it divides {shown[0]} by zero"
    if step.what in OPERATORS:
        return f"{f' {step.what} '.join(shown)} is not a number that can be held"
    if isinstance(step.what, Term):
        return f"{step.what} is not a finite number"
    return f"{step.what}({', '.join(shown)}) is not a number"

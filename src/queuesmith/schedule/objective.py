"""Objectives: expressions over metrics, such as ``10*awrt[1] + 4*awrt[2]``.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/") signed)*
    signed  = ("-" | "+") signed | power
    power   = atom ("**" signed)?
    atom    = number | metric | metric "[" index "]" | function "(" sum ("," sum)* ")" | "(" sum ")"

The text is translated into a list of steps for a stack machine; nothing in it is ever executed
as Python.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import MetricError
from queuesmith.schedule.measures import DEFAULT_BOUND, Index, checked_bound
from queuesmith.schedule.metrics import (
    METRICS,
    Better,
    Metric,
    Term,
    evaluate_all,
    find,
)
from queuesmith.schedule.schedule import Schedule

LONGEST_TEXT = 10_000
DEEPEST_NESTING = 50

Values = NDArray[np.float64]


class Step(NamedTuple):
    """One step of the stack machine: put a value there, or replace the last ones by a result."""

    what: float | Term | str
    takes: int = 0


#: How many arguments each function takes at least and at most, and what it is.
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Values]]] = {
    "min": (1, LONGEST_TEXT, lambda *values: functools.reduce(np.minimum, values)),
    "max": (1, LONGEST_TEXT, lambda *values: functools.reduce(np.maximum, values)),
    "sqrt": (1, 1, np.sqrt),
    "log": (1, 1, np.log),
    "abs": (1, 1, np.abs),
}
_OPERATORS: dict[str, Callable[..., Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "negate": np.negative,
}


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

    __slots__ = ("_program", "_text", "_written", "bound")

    def __init__(self, expression: str, *, bound: float = DEFAULT_BOUND) -> None:
        parser = _Parser(expression)
        self._program = parser.program
        self._text = parser.normalised
        self._written = expression
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

    def source(self, written: Callable[[Term], str]) -> str:
        """Return the expression as Python source for compiling, each metric written as told."""
        stack: list[str] = []
        for step in self._program:
            arguments = stack[len(stack) - step.takes :]
            del stack[len(stack) - step.takes :]
            if isinstance(step.what, Term):
                stack.append(written(step.what))
            elif isinstance(step.what, float):
                stack.append(repr(step.what))
            elif step.what == "negate":
                stack.append(f"(-{arguments[0]})")
            elif step.what in ("min", "max") and step.takes == 1:
                stack.append(arguments[0])
            elif step.what in _OPERATORS:
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
    function = _OPERATORS.get(step.what) or FUNCTIONS[step.what][2]
    with np.errstate(all="ignore"):
        return function(*arguments)


def _complaint(step: Step, arguments: list[Values]) -> str:
    shown = [f"{float(argument):g}" for argument in arguments]
    if step.what == "/" and arguments[1] == 0:
        return f"it divides {shown[0]} by zero"
    if step.what in _OPERATORS:
        return f"{f' {step.what} '.join(shown)} is not a number that can be held"
    if isinstance(step.what, Term):
        return f"{step.what} is not a finite number"
    return f"{step.what}({', '.join(shown)}) is not a number"


# -- reading -----------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<quoted>"[^"\n]*"|'[^'\n]*')
      | (?P<sign>\*\*|[-+*/()\[\],])
    )""",
    re.VERBOSE | re.ASCII,
)


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class _Parser:
    """Recursive descent over the tokens; leaves the program of the stack machine behind."""

    def __init__(self, expression: str) -> None:
        self.expression = _checked_text(expression)
        self.tokens = self._tokens()
        self.at = 0
        self.depth = 0
        self.program: list[Step] = []
        self.written: list[str] = []
        self._sum()
        if self._peek().kind != "end":
            raise self._wrong("an operator such as + or *")
        self.normalised = "".join(self.written)

    # -- tokens

    def _tokens(self) -> list[_Token]:
        text, tokens, at = self.expression, [], 0
        end = len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                place = at + len(text[at:]) - len(text[at:].lstrip())
                raise MetricError(
                    f"the objective {_quoted(text)} has {text[place]!r} at position {place + 1}, "
                    "which is no part of an expression. Write numbers, metrics, + - * / **, "
                    "parentheses."
                )
            kind = str(match.lastgroup)
            tokens.append(_Token(kind, match.group(kind), match.start(kind)))
            at = match.end()
        return [*tokens, _Token("end", "", end)]

    def _peek(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def _sees(self, *signs: str) -> bool:
        token = self._peek()
        return token.kind == "sign" and token.text in signs

    def _expect(self, sign: str) -> None:
        if not self._sees(sign):
            raise self._wrong(f"'{sign}'")
        self._next()

    def _wrong(self, wanted: str) -> MetricError:
        token = self._peek()
        found = f"'{token.text}'" if token.kind != "end" else "nothing more"
        return MetricError(
            f"the objective {_quoted(self.expression)} has {found} at position "
            f"{token.position + 1}, where {wanted} should stand. Write for example "
            "10*awrt[1] + 4*awrt[2]."
        )

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise MetricError(
                f"the objective {_quoted(self.expression)} is nested more than {DEEPEST_NESTING} "
                "levels deep. Write it with fewer parentheses."
            )

    # -- grammar

    def _sum(self) -> None:
        self._deeper()
        self._product()
        while self._sees("+", "-"):
            self._binary(self._product, " {} ")
        self.depth -= 1

    def _product(self) -> None:
        self._signed()
        while self._sees("*", "/"):
            self._binary(self._signed, " {} ")

    def _binary(self, operand: Callable[[], None], spacing: str) -> None:
        sign = self._next().text
        self.written.append(spacing.format(sign))
        operand()
        self.program.append(Step(sign, 2))

    def _signed(self) -> None:
        self._deeper()
        if self._sees("-"):
            self.written.append(self._next().text)
            self._signed()
            self.program.append(Step("negate", 1))
        elif self._sees("+"):
            self._next()
            self._signed()
        else:
            self._power()
        self.depth -= 1

    def _power(self) -> None:
        self._atom()
        if self._sees("**"):
            self._binary(self._signed, "{}")

    def _atom(self) -> None:
        token = self._peek()
        if token.kind == "number":
            self._number()
        elif token.kind == "name":
            self._name()
        elif self._sees("("):
            self._parenthesis()
        else:
            raise self._wrong("a number, a metric or '('")

    def _parenthesis(self) -> None:
        self._next()
        self.written.append("(")
        self._sum()
        self._expect(")")
        self.written.append(")")

    def _number(self) -> None:
        token = self._next()
        value = float(token.text)
        if value == float("inf"):
            raise MetricError(
                f"the objective {_quoted(self.expression)} has the number {_quoted(token.text)} "
                f"at position {token.position + 1}, which is too large. Give a smaller one."
            )
        self.program.append(Step(value))
        self.written.append(str(int(value)) if value.is_integer() and value < 1e15 else repr(value))

    def _name(self) -> None:
        token = self._next()
        if token.text in FUNCTIONS and self._sees("("):
            self._function(token)
            return
        if self._sees("("):
            raise MetricError(
                f"the objective {_quoted(self.expression)} calls '{token.text}' at position "
                f"{token.position + 1}, but the functions are {', '.join(FUNCTIONS)}. "
                "Write metrics without parentheses."
            )
        term = Term(token.text, self._index() if self._sees("[") else None)
        find(term)
        self.program.append(Step(term))
        self.written.append(str(term))

    def _function(self, token: _Token) -> None:
        self._next()
        self.written.append(f"{token.text}(")
        self._sum()
        count = 1
        while self._sees(","):
            self._next()
            self.written.append(", ")
            self._sum()
            count += 1
        self._expect(")")
        self.written.append(")")
        least, most, _ = FUNCTIONS[token.text]
        if not least <= count <= most:
            raise MetricError(
                f"{token.text} at position {token.position + 1} of the objective "
                f"{_quoted(self.expression)} has {count} arguments, but it takes {most}. "
                "Leave out the rest."
            )
        self.program.append(Step(token.text, count))

    def _index(self) -> Index:
        self._next()
        sign = -1 if self._sees("-") else 1
        if sign < 0:
            self._next()
        token = self._peek()
        index: Index
        if token.kind == "number" and token.text.isdigit() and len(token.text) < 19:
            index = sign * int(token.text)
        elif token.kind in ("name", "quoted") and sign > 0:
            index = token.text[1:-1] if token.kind == "quoted" else token.text
        else:
            raise self._wrong("a group's number or name, or a class's letter,")
        self._next()
        self._expect("]")
        return index


def _checked_text(expression: str) -> str:
    if not isinstance(expression, str):
        raise MetricError(
            f"the objective is a {type(expression).__name__}, but it must be text. "
            "Write for example 'mean_wait'."
        )
    if len(expression) > LONGEST_TEXT:
        raise MetricError(
            f"the objective is {len(expression):,} characters long, but at most {LONGEST_TEXT:,} "
            "are read. Shorten it."
        )
    if not expression.strip():
        raise MetricError("the objective is empty. Write for example 'mean_wait'.")
    return expression


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= 80 else f"'{text[:77]}...'"

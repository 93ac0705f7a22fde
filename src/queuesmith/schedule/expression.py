"""Expressions over metrics, read with Python's own parser; nothing in them is ever executed.

What Python parses is a tree. Only numbers, metrics, ``+ - * / **``, parentheses and the functions
of :data:`FUNCTIONS` may stand in it; it becomes a list of steps for a stack machine.
"""

from __future__ import annotations

import ast
import functools
import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import MetricError
from queuesmith.base.syntax import parse
from queuesmith.base.words import so_many
from queuesmith.schedule.measures import Index
from queuesmith.schedule.metrics import Term, find

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
OPERATORS: dict[str, Callable[..., Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "negate": np.negative,
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
#: How tightly each operator binds; a metric and a function bind tightest.
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "**": 4}
_TIGHTEST = 5


def read_expression(text: str) -> list[Step]:
    """Return the steps of an expression; an error with its place where it is none.

    >>> [step.what for step in read_expression("2 * 3")]
    [2.0, 3.0, '*']
    """
    return _Reader(_checked_text(text)).steps


def written(steps: list[Step]) -> str:
    """Return an expression as text, with the fewest parentheses."""
    stack: list[tuple[str, int]] = []
    for step in steps:
        arguments = stack[len(stack) - step.takes :]
        del stack[len(stack) - step.takes :]
        stack.append((_text_of(step, arguments), _BINDS.get(str(step.what), _TIGHTEST)))
    return stack[0][0]


def _text_of(step: Step, arguments: list[tuple[str, int]]) -> str:
    if isinstance(step.what, Term):
        return str(step.what)
    if isinstance(step.what, float):
        value = step.what
        return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)
    if step.what in FUNCTIONS:
        return f"{step.what}({', '.join(text for text, _ in arguments)})"
    binds = _BINDS[step.what]
    if step.what == "negate":
        return f"-{_inside(arguments[0], binds)}"
    # Of equals the left is taken first, but of powers the right.
    right_first = step.what == "**"
    left = _inside(arguments[0], binds + right_first)
    right = _inside(arguments[1], binds - 1 if right_first else binds + 1)
    return f"{left} {step.what} {right}"


def _inside(argument: tuple[str, int], least: int) -> str:
    text, binds = argument
    return text if binds >= least else f"({text})"


class _Reader:
    """Walks over the tree that Python makes of an expression, and leaves its steps behind."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Python would take a line break for the end of the expression.
        line = "".join(" " if character.isspace() else character for character in text)
        self.indent = len(line) - len(line.lstrip())
        self.line = line.strip()
        self.steps: list[Step] = []
        self._walk(self._tree())

    def _tree(self) -> ast.expr:
        try:
            tree = _parsed(self.line)
        except SyntaxError as error:
            if "digits" in error.msg:
                raise self._too_large() from None
            if "nested" in error.msg:
                raise self._too_deep() from None
            raise self._wrong(max((error.offset or 1) - 1, 0), error.msg) from None
        except (RecursionError, MemoryError):
            raise self._too_deep() from None
        behind = self._characters(tree.end_col_offset or 0)
        if self.line[behind:].strip(" )"):  # a comment
            raise self._wrong(behind, "an expression ends here")
        return tree

    def _walk(self, root: ast.expr) -> None:
        """Put operands before their operators; without recursion, since sums may be long."""
        todo: list[tuple[ast.expr | Step, int]] = [(root, 0)]
        while todo:
            node, depth = todo.pop()
            if isinstance(node, Step):
                self.steps.append(node)
                continue
            if depth > DEEPEST_NESTING:
                raise self._too_deep()
            step, operands = self._step(node)
            if step is not None:
                todo.append((step, depth))
            # The left side of a long sum is no deeper nesting.
            chained = isinstance(node, ast.BinOp)
            for place, operand in reversed(list(enumerate(operands))):
                todo.append((operand, depth if chained and not place else depth + 1))

    def _step(self, node: ast.expr) -> tuple[Step | None, list[ast.expr]]:
        match node:
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _SIGNS:
                return Step(_SIGNS[type(operator)], 2), [left, right]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Step("negate", 1), [operand]
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return None, [operand]
            case ast.Constant(value=float() | int() as value) if not isinstance(value, bool):
                return self._number(value), []
            case ast.Call():
                return self._call(node), node.args
            case ast.Name(id=name):
                return self._metric(Term(name)), []
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self._metric(Term(name, self._index(index))), []
        raise self._wrong(self._characters(node.col_offset), "only arithmetic is read")

    def _number(self, value: float) -> Step:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if number == math.inf:
            raise self._too_large()
        return Step(number)

    def _call(self, node: ast.Call) -> Step:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        place = self._place(node)
        if name not in FUNCTIONS or node.keywords:
            raise MetricError(
                f"the objective {_quoted(self.text)} calls '{name}' at position {place}, but the "
                f"functions are {', '.join(FUNCTIONS)}. Write metrics without parentheses."
            )
        least, most, _ = FUNCTIONS[name]
        if not least <= len(node.args) <= most:
            takes = str(most) if least == most else f"{least} or more"
            raise MetricError(
                f"{name} at position {place} of the objective {_quoted(self.text)} has "
                f"{so_many(len(node.args), 'argument')}, but it takes {takes}. Correct them."
            )
        return Step(name, len(node.args))

    def _metric(self, term: Term) -> Step:
        find(term)
        return Step(term)

    def _index(self, node: ast.expr) -> Index:
        match node:
            case ast.Constant(value=int() | str() as index) if not isinstance(index, bool):
                return index
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as index)):
                return -index
            case ast.Name(id=name):
                return name
        raise MetricError(
            f"the objective {_quoted(self.text)} has the index '{ast.unparse(node)}' at position "
            f"{self._place(node)}, where a group's number or name, or a class's letter, should "
            "stand. Write for example awrt[1] or awrt['high energy']."
        )

    # -- what is refused

    def _place(self, node: ast.expr) -> int:
        return self.indent + self._characters(node.col_offset) + 1

    def _characters(self, bytes_before: int) -> int:
        """Python's trees count bytes of UTF-8; people count characters."""
        return len(self.line.encode()[:bytes_before].decode(errors="ignore"))

    def _wrong(self, place: int, why: str) -> MetricError:
        rest = self.line[place:].strip()
        found = f"'{rest if len(rest) <= 20 else rest[:17] + '...'}'" if rest else "nothing more"
        return MetricError(
            f"the objective {_quoted(self.text)} cannot be read at position "
            f"{self.indent + place + 1}, where it has {found}: {why}. Write numbers, metrics, "
            "+ - * / ** and parentheses, for example 10*awrt[1] + 4*awrt[2]."
        )

    def _too_deep(self) -> MetricError:
        return MetricError(
            f"the objective {_quoted(self.text)} is nested more than {DEEPEST_NESTING} levels "
            "deep. Write it with fewer parentheses."
        )

    def _too_large(self) -> MetricError:
        return MetricError(
            f"the objective {_quoted(self.text)} has a number that is too large. "
            "Give a smaller one."
        )


def _parsed(line: str) -> ast.expr:
    # A backslash in a group's name stands for itself.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return parse(line.replace("\\", "\\\\"), "eval").body


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

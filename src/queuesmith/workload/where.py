"""Conditions on jobs, such as ``partition == 'gpu' and cores > 64``; nothing in them is executed.

Python's own parser makes a tree of the text. Only columns, numbers, texts, lists of these,
comparisons, ``+ - * / // %``, ``and``, ``or`` and ``not`` may stand in it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.base.syntax import parse
from queuesmith.workload.moments import second_of

if TYPE_CHECKING:
    from queuesmith.workload.workload import Workload

LONGEST_TEXT = 10_000
DEEPEST_NESTING = 50
EXAMPLE = "partition == 'gpu' and cores > 64"

_COMPARING: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COUNTING: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
#: The core columns that one may ask for by name; the others of the log follow.
CORE = ("id", "submit", "runtime", "walltime", "cores", "user", "group")
#: What is computed from them.
COMPUTED = ("wait", "work", "hour", "weekday")


@dataclass(frozen=True)
class _Values:
    """Numbers, one for each job or a single one; with the column's name, perhaps its texts."""

    numbers: Any
    column: str = ""


def jobs_where(workload: Workload, condition: str) -> NDArray[np.bool_]:
    """Return which jobs meet a condition.

    Parameters
    ----------
    workload
        The jobs.
    condition
        Such as ``partition == 'gpu' and cores > 64`` or ``user in ['ann', 'bob']``. Columns are
        those of the log, and ``wait``, ``work`` (core-seconds), ``hour`` (of the submission) and
        ``weekday`` (Monday is 0). ``submit`` may be compared with a date.

    Examples
    --------
    >>> from queuesmith import Workload
    >>> jobs = Workload([0, 5], [10, 10], [20, 20], [1, 8])
    >>> jobs_where(jobs, "cores > 4").tolist()
    [False, True]
    """
    reader = _Reader(workload, condition)
    found = reader.truth(reader.tree(), 0)
    return np.broadcast_to(found, (len(workload),)).copy()


def columns_of(workload: Workload) -> list[str]:
    """Return the columns that a condition may name."""
    there = [name for name in COMPUTED if name != "wait" or workload.real_start is not None]
    return [*CORE, *there, *workload.extra]


class _Reader:
    """Walks over the tree that Python makes of a condition."""

    def __init__(self, workload: Workload, text: str) -> None:
        self.workload = workload
        self.text = text

    def tree(self) -> ast.expr:
        if not isinstance(self.text, str) or not self.text.strip():
            raise UsageError(f"the condition on jobs is empty. Write for example {EXAMPLE}.")
        if len(self.text) > LONGEST_TEXT:
            raise UsageError(
                f"the condition on jobs has {len(self.text):,} characters, but at most "
                f"{LONGEST_TEXT:,} are read. Shorten it."
            )
        try:
            return parse(" ".join(self.text.split()), "eval").body
        except (SyntaxError, ValueError) as error:
            why = getattr(error, "msg", str(error))
            raise self._wrong(f"{why}") from None
        except (RecursionError, MemoryError):
            raise self._too_deep() from None

    # -- yes and no

    def truth(self, node: ast.expr, depth: int) -> Any:
        """Return for which jobs a part of the condition holds."""
        if depth > DEEPEST_NESTING:
            raise self._too_deep()
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return np.logical_and.reduce([self._each(part, depth) for part in parts])
            case ast.BoolOp(op=ast.Or(), values=parts):
                return np.logical_or.reduce([self._each(part, depth) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return ~self._each(part, depth)
            case ast.Compare():
                return self._comparison(node, depth)
        raise self._wrong(f"'{ast.unparse(node)}' is neither true nor false")

    def _each(self, node: ast.expr, depth: int) -> NDArray[np.bool_]:
        return np.broadcast_to(self.truth(node, depth + 1), (len(self.workload),))

    def _comparison(self, node: ast.Compare, depth: int) -> Any:
        sides = [node.left, *node.comparators]
        found = [
            self._compared(left, how, right, depth + 1)
            for left, how, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return np.logical_and.reduce(found)

    def _compared(self, left: ast.expr, how: ast.cmpop, right: ast.expr, depth: int) -> Any:
        if isinstance(how, ast.In | ast.NotIn):
            inside = self._among(left, right, depth)
            return inside if isinstance(how, ast.In) else ~inside
        if type(how) not in _COMPARING:
            raise self._wrong("columns are compared by == != < <= > >= and in")
        one, other = self._sides(left, right, depth)
        return np.asarray(_COMPARING[type(how)](one, other))

    def _among(self, left: ast.expr, right: ast.expr, depth: int) -> NDArray[np.bool_]:
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise self._wrong("after 'in' stands a list, such as ['ann', 'bob']")
        each = [np.equal(*self._sides(left, item, depth)) for item in right.elts]
        return np.asarray(np.logical_or.reduce(each))

    def _sides(self, left: ast.expr, right: ast.expr, depth: int) -> tuple[Any, Any]:
        """Return both sides as numbers; a text means what it means in the other's column."""
        texts = [_text(left), _text(right)]
        if texts[0] is not None and texts[1] is not None:
            raise self._wrong("a text is compared with a text; one side is a column")
        if texts[0] is not None:
            other = self._number(right, depth)
            return self._code(texts[0], other), other.numbers
        one = self._number(left, depth)
        if texts[1] is not None:
            return one.numbers, self._code(texts[1], one)
        return one.numbers, self._number(right, depth).numbers

    # -- numbers

    def _number(self, node: ast.expr, depth: int) -> _Values:
        if depth > DEEPEST_NESTING:
            raise self._too_deep()
        match node:
            case ast.Name(id=name):
                return self._column(name)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return _Values(float(value))
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return _Values(-self._number(part, depth + 1).numbers)
            case ast.BinOp(left=left, op=how, right=right) if type(how) in _COUNTING:
                one, other = self._number(left, depth + 1), self._number(right, depth + 1)
                with np.errstate(all="ignore"):
                    numbers = np.asarray(other.numbers, np.float64)
                    return _Values(_COUNTING[type(how)](one.numbers, numbers))
        raise self._wrong(f"'{ast.unparse(node)}' is no column and no number")

    def _column(self, name: str) -> _Values:
        jobs = self.workload
        known("column of the log called", name, columns_of(jobs))
        if name in CORE:
            return _Values(getattr(jobs, name), name)
        if name in jobs.extra:
            values = jobs.extra[name]
            return _Values(values, name)
        clock = jobs.submit + (jobs.epoch or 0)
        days = clock // 86_400 + (0 if jobs.epoch is None else 3)  # 1970 began on a Thursday
        if name == "wait":
            start = jobs.real_start
            return _Values(jobs.submit * 0 if start is None else start - jobs.submit, name)
        computed = {"work": jobs.work, "hour": clock // 3600 % 24, "weekday": days % 7}
        return _Values(computed[name], name)

    def _code(self, text: str, other: _Values) -> Any:
        """Return the number that a text stands for in the column it is compared with."""
        jobs = self.workload
        if other.column == "submit":
            return second_of(text, jobs.epoch, jobs.name)
        if other.column in jobs.extra and jobs.extra[other.column].dtype.kind in "UO":
            return text
        names = jobs.labels.get(other.column, ())
        if not names:
            raise self._wrong(f"'{other.column or 'a number'}' is a number, and '{text}' is not")
        return names.index(known(f"{other.column} in the log called", text, names))

    # -- what is refused

    def _wrong(self, why: str) -> UsageError:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        return UsageError(
            f'the condition on jobs "{shown}" cannot be read: {why}. Write for example "{EXAMPLE}".'
        )

    def _too_deep(self) -> UsageError:
        return UsageError(
            f"the condition on jobs is nested more than {DEEPEST_NESTING} levels deep. "
            "Write it with fewer parentheses."
        )


def _text(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text and isinstance(node, ast.Constant) else None

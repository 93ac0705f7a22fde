"""Answers from the table of a sweep: the best setting for an objective, within constraints.

    choose(result, "B", where=["RT within 2%"])

An objective is an expression over the costs (see ``schedule/objective.py``: nothing in it is ever
executed as Python). ``A`` to ``D`` are short for ``expansion_factor[A]`` and so on, ``RT`` for
``makespan``, the paper's workload response time. A constraint is ``EXPRESSION <= EXPRESSION`` (or
``>=``, ``<``, ``>``), or ``EXPRESSION within 2%``: at most so far above the best of all settings.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.base.checks import of_kind
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.knobs.bags import Floats, Mask
from queuesmith.knobs.setting import NAMES, Knobs
from queuesmith.knobs.sweep_result import SHORT, TERMS, SweepResult
from queuesmith.schedule.objective import Objective

#: A value is good enough within this share of the best, and sure in this share of all searches.
NEAR, SURE = 0.01, 0.95
_SHORT_NAME = re.compile(r"(?<![\w\[\]\"'])(?P<name>A|B|C|D|RT)(?![\w(\[\]\"'])")
_WITHIN = re.compile(r"(?P<what>.+?)\s+within\s+(?P<percent>\S+?)\s*%\s*", re.DOTALL)
_COMPARISON = re.compile(r"(?P<left>.+?)(?P<sign><=|>=|<|>)(?P<right>.+)", re.DOTALL)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Choice:
    """The setting that was asked for.

    Parameters
    ----------
    knobs
        The setting.
    objective, value
        What was to be made small, and how small it became.
    costs
        All costs of the setting, by short name; None for a class that has no jobs.
    allowed
        How many settings meet the constraints.
    equal
        How many of these have the same value.
    favours
        What the setting favours, in words, and which knobs make no difference.
    settled_after
        After how many settings, tried in any order at random, 19 of 20 searches have met one whose
        value is within 1 % of this one: when a search has settled.
    """

    knobs: Knobs
    objective: str
    value: float
    costs: dict[str, float | None]
    allowed: int
    equal: int
    favours: str
    settled_after: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "objective": self.objective,
            "value": self.value,
            **dict(zip(NAMES, self.knobs.values, strict=True)),
            **self.costs,
            "allowed": self.allowed,
            "equal": self.equal,
            "settled_after": self.settled_after,
            "favours": self.favours,
        }


def choose(result: SweepResult, objective: str, *, where: Sequence[str] = ()) -> Choice:
    """Return the setting with the least value of an objective among those that are allowed.

    Parameters
    ----------
    result
        The table of a sweep.
    objective
        An expression over the costs, to be made small: ``"B"``, ``"2*A + RT/1000"``.
    where
        Constraints that must all hold: ``"RT within 2%"``, ``"A <= 1.5"``.
    """
    values = evaluate(result, objective)
    allowed = np.ones(len(result), np.bool_)
    for constraint in where:
        allowed &= holds(result, constraint)
        if not allowed.any():
            raise UsageError(
                f"no setting of the sweep meets '{constraint}'"
                f"{' beside the constraints before it' if len(where) > 1 else ''}. Relax it."
            )
    asked = np.where(allowed, values, np.nan)
    index = result.least(asked)
    equal = int(np.count_nonzero(asked == asked[index]))
    near = asked <= values[index] + NEAR * abs(values[index])
    return Choice(
        result.knobs(index),
        objective,
        float(values[index]),
        costs_of(result, index),
        int(np.count_nonzero(allowed)),
        equal,
        result.favours(index, equal),
        settled_after(int(np.count_nonzero(near)), len(result)),
    )


def settled_after(good: int, settings: int, *, sure: float = SURE) -> int:
    """Return after how many settings drawn at random, none twice, a good one was surely met.

    Parameters
    ----------
    good, settings
        How many settings are good enough, and how many there are.
    sure
        In which share of all searches it was.

    >>> settled_after(1, 100), settled_after(50, 100), settled_after(100, 100)
    (95, 5, 1)
    """
    missed, drawn = 1.0, 0
    while missed > 1 - sure + 1e-12 and drawn < settings:
        missed *= max(settings - good - drawn, 0) / (settings - drawn)
        drawn += 1
    return drawn


def costs_of(result: SweepResult, index: int) -> dict[str, float | None]:
    """Return the costs of one setting by short name; None for a class that has no jobs."""
    row = result.costs[index].tolist()
    return {name: None if value != value else value for name, value in zip(SHORT, row, strict=True)}


def find_setting(result: SweepResult, knobs: Knobs) -> int:
    """Return where a setting stands in the table; an error where it was not swept."""
    distance = np.abs(result.settings - np.array(knobs.values)).max(axis=1)
    nearest = int(np.argmin(distance))
    if distance[nearest] > 1e-9:
        raise UsageError(
            f"the setting {knobs} is not in the sweep of '{result.log}'; the nearest is "
            f"{result.knobs(nearest)}. Choose that, or sweep a range that has yours."
        )
    return nearest


def evaluate(result: SweepResult, expression: str) -> Floats:
    """Return the value of an expression over the costs, one for each setting."""
    objective = as_objective(expression)
    for term in objective.terms:
        if term not in TERMS:
            raise MetricError(
                f"a sweep does not keep '{term}'. It keeps: {', '.join(map(str, TERMS))}, and "
                "calls them A, B, C, D and RT, mean_wait, expansion_factor."
            )
        if np.isnan(result.values[term][0]):
            present = [SHORT[i] for i in result.known if i < 4]
            raise MetricError(
                f"class {term.index} has no jobs in '{result.log}', so '{expression}' has no "
                f"value. Choose one that has: {', '.join(present)}."
            )
    return np.broadcast_to(objective.combined_each(result.values), len(result)).astype(np.float64)


def holds(result: SweepResult, constraint: str) -> Mask:
    """Return for each setting whether a constraint holds."""
    near = _WITHIN.fullmatch(constraint.strip())
    if near is not None:
        values = evaluate(result, near["what"])
        return np.asarray(values <= np.nanmin(values) * (1 + _percent(near["percent"]) / 100))
    parts = _COMPARISON.fullmatch(constraint.strip())
    if parts is None:
        raise UsageError(
            f"the constraint '{constraint}' cannot be read. Write for example 'RT within 2%' or "
            "'A <= 1.5'."
        )
    left, right = evaluate(result, parts["left"]), evaluate(result, parts["right"])
    return np.asarray(_SIGNS[parts["sign"]](left, right), dtype=np.bool_)


def as_objective(expression: str) -> Objective:
    """Read an expression in which A to D and RT may stand for their metrics."""

    def spelled_out(match: re.Match[str]) -> str:
        return "makespan" if match["name"] == "RT" else f"expansion_factor[{match['name']}]"

    of_kind("the objective", expression, str, "Write for example 'mean_wait'.")
    return Objective(_SHORT_NAME.sub(spelled_out, expression))


def _percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent < float("inf"):
        raise UsageError(
            f"'within {text}%' cannot be read: it takes a number from 0 up. Write 'RT within 2%'."
        )
    return percent

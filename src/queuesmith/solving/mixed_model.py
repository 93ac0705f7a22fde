"""Models with whole and other variables, gathered row by row, and solved by OR-Tools' HiGHS.

SciPy has HiGHS, too, but no way to hand it a solution to begin with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.solving.libraries import solver_library

Floats = NDArray[np.float64]

#: What solves; whoever has a clock loads it before that starts.
HIGHS = "ortools.math_opt.python.mathopt"


class MixedSolution(NamedTuple):
    """What HiGHS found: a value for each variable, whether they are best, and what is proven."""

    values: Floats
    optimal: bool
    bound: float | None  # that no solution is below; None where time was up before


@dataclass
class MixedModel:
    """Variables from 0 up, and linear constraints on them."""

    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[dict[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def new(self, *shape: int, whole: bool = True, upper: float = 1.0) -> NDArray[np.int64]:
        """Number so many new variables, and return their numbers in that shape."""
        first, count = len(self.upper), int(np.prod(shape))
        self.upper += [upper] * count
        self.whole += [whole] * count
        return np.arange(first, first + count).reshape(shape)

    def add(self, *terms: tuple[float, Any], low: float = -np.inf, high: float = np.inf) -> None:
        """Add a constraint; each term is a factor and one variable or several."""
        row: dict[int, float] = {}
        for factor, variables in terms:
            for variable in np.ravel(variables).tolist():
                row[variable] = row.get(variable, 0.0) + factor
        self.rows.append(row)
        self.low.append(low)
        self.high.append(high)

    def minimise(
        self, variable: int, *, start: Floats, seconds: float, nodes: int | None = None
    ) -> MixedSolution:
        """Make one variable as small as can be found.

        Parameters
        ----------
        variable
            Its number.
        start
            A value for each variable: a solution to begin with.
        seconds
            How long HiGHS may take.
        nodes
            How many nodes its tree may have instead.
        """
        mathopt = solver_library(HIGHS)
        model, variables = self._as_mathopt(mathopt)
        model.minimize(variables[variable])
        limit = {"time_limit": timedelta(seconds=seconds)} if nodes is None else {}
        hint = mathopt.SolutionHint(
            variable_values=dict(zip(variables, start.tolist(), strict=True))
        )
        found = mathopt.solve(
            model,
            mathopt.SolverType.HIGHS,
            params=mathopt.SolveParameters(node_limit=nodes, **limit),
            model_params=mathopt.ModelSolveParameters(solution_hints=[hint]),
        )
        values, bound = start, found.termination.objective_bounds.dual_bound
        if found.has_primal_feasible_solution():
            values = np.array(found.variable_values(variables))
        optimal = found.termination.reason == mathopt.TerminationReason.OPTIMAL
        return MixedSolution(values, optimal, bound if np.isfinite(bound) else None)

    def _as_mathopt(self, mathopt: Any) -> tuple[Any, list[Any]]:
        model = mathopt.Model()
        variables = [
            model.add_variable(lb=0.0, ub=upper, is_integer=whole)
            for upper, whole in zip(self.upper, self.whole, strict=True)
        ]
        for row, low, high in zip(self.rows, self.low, self.high, strict=True):
            constraint = model.add_linear_constraint(lb=low, ub=high)
            for number, factor in row.items():
                constraint.set_coefficient(variables[number], factor)
        return model, variables

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
#: Seconds that OR-Tools can count; nobody waits as long.
LONGEST = 1e9


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
        model = mathopt.Model.from_model_proto(self._proto(variable))
        variables = list(model.variables())
        limit = {}
        if nodes is None:
            limit["time_limit"] = timedelta(seconds=min(seconds, LONGEST))
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

    def _proto(self, variable: int) -> Any:
        """The model as MathOpt keeps it: ten times as fast as a call for each coefficient."""
        proto = solver_library("ortools.math_opt.model_pb2").ModelProto()
        proto.variables.ids.extend(range(len(self.upper)))
        proto.variables.lower_bounds.extend([0.0] * len(self.upper))
        proto.variables.upper_bounds.extend(self.upper)
        proto.variables.integers.extend(self.whole)
        proto.objective.linear_coefficients.ids.append(variable)
        proto.objective.linear_coefficients.values.append(1.0)
        proto.linear_constraints.ids.extend(range(len(self.rows)))
        proto.linear_constraints.lower_bounds.extend(self.low)
        proto.linear_constraints.upper_bounds.extend(self.high)
        matrix = proto.linear_constraint_matrix
        for number, row in enumerate(self.rows):
            matrix.row_ids.extend([number] * len(row))
            matrix.column_ids.extend(sorted(row))
            matrix.coefficients.extend(row[column] for column in sorted(row))
        return proto

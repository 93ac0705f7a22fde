"""The whole trade-off between makespan and flowtime.

One end of the front is the mapping of the least makespan, the other that of the least flowtime.
Between them, a cap on the makespan is raised step by step, and the least flowtime under it sought.
What no mapping reaches is drawn too: for each weight of the two criteria, priced linear assignments
prove a line that all mappings lie above.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import UsageError
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.both_criteria import bound_both, capped, value_both
from queuesmith.grid.exact.bounds import Bound, lower_bound
from queuesmith.grid.exact.search import Both, polish_both
from queuesmith.grid.exact.solve import solve_exact
from queuesmith.grid.mapping import Mapping

#: Changes tried to see how fast annealing is.
PROBE = 10_000


@dataclass(frozen=True)
class Line:
    """What is proven: ``flow * flowtime + span * makespan >= least`` for every mapping."""

    flow: float
    span: float
    least: float

    def flowtime_at(self, makespan: float) -> float:
        """Return what the flowtime is at least, at this makespan."""
        return (self.least - self.span * makespan) / self.flow


@dataclass(frozen=True, eq=False)
class Front:
    """Mappings none of which is better than another in both makespan and flowtime.

    Parameters
    ----------
    matrix
        The jobs and machines.
    points
        The mappings, by ascending makespan and thus descending flowtime.
    lines
        What is proven about all mappings.
    seconds
        How long it took.
    """

    matrix: EtcMatrix
    points: tuple[Mapping, ...]
    lines: tuple[Line, ...]
    seconds: float

    def least_flowtime(self, makespan: float) -> float:
        """Return what the flowtime of a mapping of this makespan is proven to be at least."""
        return max(line.flowtime_at(makespan) for line in self.lines)

    def data(self) -> dict[str, list[float]]:
        """Return what is drawn: both values of each point, and the flowtime proven there."""
        spans = [point.makespan for point in self.points]
        return {
            "makespan": spans,
            "flowtime": [point.flowtime for point in self.points],
            "flowtime_bound": [self.least_flowtime(span) for span in spans],
        }

    def rows(self) -> list[dict[str, float]]:
        """Return the front as a table: a row a point."""
        data = self.data()
        return [
            {key: values[place] for key, values in data.items()}
            for place in range(len(self.points))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the front, ready for JSON."""
        return {"instance": self.matrix.name, "seconds": self.seconds, **self.data()}

    def draw(self) -> Any:
        """Return the front as a Plotly figure."""
        import plotly.graph_objects as go

        data = self.data()
        figure = go.Figure()
        figure.add_scatter(
            x=data["makespan"],
            y=data["flowtime"],
            mode="lines+markers",
            name="found",
            line={"color": "#0072b2", "shape": "hv"},
        )
        figure.add_scatter(
            x=data["makespan"],
            y=data["flowtime_bound"],
            mode="lines",
            name="proven bound",
            line={"color": "#8a8f98", "dash": "dash"},
        )
        figure.update_layout(
            title=f"Makespan and flowtime of {self.matrix.name}",
            xaxis_title="makespan",
            yaxis_title="flowtime",
            template="plotly_white",
        )
        return figure


def trade_off(
    matrix: EtcMatrix,
    *,
    points: int = 12,
    seconds: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    progress: Callable[[float], None] | None = None,
) -> Front:
    """Return the front of makespan and flowtime.

    Parameters
    ----------
    matrix
        The jobs and machines.
    points
        How many mappings are sought, both ends included; fewer may remain.
    seconds
        How long it may take, about.
    seed
        What chance follows from.
    workers
        How many threads may work at once.
    progress
        Is told the share of the points that have been sought.
    """
    if points < 2:
        raise UsageError(f"points is {points}, but a front has two ends. Give at least 2.")
    if not seconds > 0:
        raise UsageError(f"seconds is {seconds:g}, but a search needs time. Give more than 0.")
    began = time.perf_counter()
    share = seconds / (points + 2)
    options: dict[str, Any] = {"seed": seed, "workers": workers}
    quick = solve_exact(matrix, "hierarchic", seconds=2 * share, **options)
    short = solve_exact(matrix, "flowtime", seconds=share, **options)
    bound = lower_bound(matrix, seconds=share)
    lines = _lines(matrix, bound, quick, short, points, share)
    machines = [quick.machine, short.machine]
    for place, cap in enumerate(_caps(quick.makespan, short.makespan, points)):
        if progress is not None:
            progress((place + 2) / points)
        machines.append(_under(bound, cap, machines, 0.6 * share, seed))
    mappings = [Mapping(matrix, machine, "front", "simultaneous") for machine in machines]
    return Front(matrix, _undominated(mappings), lines, time.perf_counter() - began)


def _caps(least: float, most: float, points: int) -> list[float]:
    """Space the caps evenly by ratio between the two ends, which are left out."""
    if not most > least:
        return []
    return [float(cap) for cap in np.geomspace(least, most, points)[1:-1]]


def _under(
    bound: Bound, cap: float, known: list[NDArray[np.int64]], seconds: float, seed: int
) -> NDArray[np.int64]:
    """Seek the least flowtime under a cap on the makespan, from the best mapping known."""
    aim = capped(bound.matrix, cap)
    start = min(known, key=lambda machine: value_both(bound.matrix, aim, machine))
    began = time.perf_counter()
    polish_both(bound, start, aim, steps=PROBE, seed=seed)
    steps = int(PROBE * seconds / max(time.perf_counter() - began, 1e-4))
    return polish_both(bound, start, aim, steps=max(steps, PROBE), seed=seed)


def _lines(
    matrix: EtcMatrix, bound: Bound, quick: Mapping, short: Mapping, points: int, share: float
) -> tuple[Line, ...]:
    """Prove a line for several weights of the makespan against the flowtime."""
    rise = max(quick.flowtime - short.flowtime, 0.0)
    run = max(short.makespan - quick.makespan, 1e-9 * short.makespan)
    flat = Line(1.0, 0.0, short.lower_bound or 0.0)
    lines = [flat]
    for weight in np.geomspace(0.1, 100, max(points // 2, 2)):
        aim = Both(1.0, float(weight * rise / run), 0.0)
        if aim.late > 0:
            least = bound_both(matrix, aim, bound, seconds=0.5 * share, rounds=12).value
            lines.append(Line(aim.flow, aim.late, least))
    return tuple(lines)


def _undominated(mappings: list[Mapping]) -> tuple[Mapping, ...]:
    """Keep the mappings that no other one equals or beats in both values, by makespan."""
    kept: list[Mapping] = []
    for mapping in sorted(mappings, key=lambda one: (one.makespan, one.flowtime)):
        if not kept or mapping.flowtime < kept[-1].flowtime:
            kept.append(mapping)
    return tuple(kept)

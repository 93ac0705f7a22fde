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
from html import escape
from typing import Any

import numpy as np

from queuesmith.base.checks import positive, progress_function, whole_number
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.compiled.pareto import undominated
from queuesmith.figures.palette import HISTORY_COLOUR, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.grid.etc.mapping import Machines, flowtime, machine_of, mapped
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.exact.both_criteria import bound_both, capped, value_both
from queuesmith.grid.exact.bounds import Bound, lower_bound
from queuesmith.grid.exact.pair_search import Both, polish_both
from queuesmith.grid.exact.solve import solve_exact
from queuesmith.schedule import Schedule

#: Changes tried to see how fast annealing is.
PROBE = 10_000


@dataclass(frozen=True)
class ProvenLine:
    """What is proven: ``flow * flowtime + span * makespan >= least`` for every mapping."""

    flow: float
    span: float
    least: float

    def flowtime_at(self, makespan: float) -> float:
        """Return what the flowtime is at least, at this makespan."""
        return (self.least - self.span * makespan) / self.flow


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff(Framed):
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
    points: tuple[Schedule, ...]
    lines: tuple[ProvenLine, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"<TradeOff of '{self.matrix.name}': {so_many(len(self.points), 'mapping')}>"

    def least_flowtime(self, makespan: float) -> float:
        """Return what the flowtime of a mapping of this makespan is proven to be at least."""
        return max(line.flowtime_at(makespan) for line in self.lines)

    def data(self) -> dict[str, list[float]]:
        """Return what is drawn: both values of each point, and the flowtime proven there."""
        machines = [machine_of(point) for point in self.points]
        spans = [self.matrix.makespan(machine) for machine in machines]
        return {
            "makespan": spans,
            "flowtime": [flowtime(self.matrix, machine) for machine in machines],
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
            line={"color": POLICY_COLOURS[0], "shape": "hv"},
        )
        figure.add_scatter(
            x=data["makespan"],
            y=data["flowtime_bound"],
            mode="lines",
            name="proven bound",
            line={"color": HISTORY_COLOUR, "dash": "dash"},
        )
        style(figure, height=480, x="makespan", y="flowtime")
        figure.update_layout(title=escape(f"Makespan and flowtime of {self.matrix.name}"))
        return figure


def trade_off(
    matrix: EtcMatrix,
    *,
    points: int = 12,
    seconds: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    progress: Callable[[float], None] | None = None,
) -> TradeOff:
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
        Is called with the share of the points that have been sought.
    """
    whole_number("points", points, 2, "A front has two ends; give for example 12.")
    positive("seconds", seconds, "Give for example 60.")
    progress_function(progress)
    began = time.perf_counter()
    share = seconds / (points + 2)
    options: dict[str, Any] = {"seed": seed, "workers": workers}
    quick = machine_of(solve_exact(matrix, "hierarchic", seconds=2 * share, **options))
    short = solve_exact(matrix, "flowtime", seconds=share, **options)
    bound = lower_bound(matrix, seconds=share)
    machines = [quick, machine_of(short)]
    lines = _lines(bound, machines[0], machines[1], points, share, short.lower_bound or 0.0)
    spans = [matrix.makespan(machine) for machine in machines]
    for place, cap in enumerate(_caps(spans[0], spans[1], points)):
        if progress is not None:
            progress((place + 2) / points)
        machines.append(_under(bound, cap, machines, 0.6 * share, seed))
    found = tuple(
        mapped(matrix, machine, "front", "simultaneous") for machine in _best(matrix, machines)
    )
    return TradeOff(matrix, found, lines, time.perf_counter() - began)


def _best(matrix: EtcMatrix, machines: list[Machines]) -> list[Machines]:
    """Keep the mappings that no other one equals or beats in both values, by makespan."""
    values = [(matrix.makespan(machine), flowtime(matrix, machine)) for machine in machines]
    return [machines[place] for place in sorted(undominated(values), key=values.__getitem__)]


def _caps(least: float, most: float, points: int) -> list[float]:
    """Space the caps evenly by ratio between the two ends, which are left out."""
    if not most > least:
        return []
    return [float(cap) for cap in np.geomspace(least, most, points)[1:-1]]


def _under(bound: Bound, cap: float, known: list[Machines], seconds: float, seed: int) -> Machines:
    """Seek the least flowtime under a cap on the makespan, from the best mapping known."""
    aim = capped(bound.matrix, cap)
    start = min(known, key=lambda machine: value_both(bound.matrix, aim, machine))
    began = time.perf_counter()
    polish_both(bound, start, aim, steps=PROBE, seed=seed)
    steps = int(PROBE * seconds / max(time.perf_counter() - began, 1e-4))
    return polish_both(bound, start, aim, steps=max(steps, PROBE), seed=seed)


def _lines(
    bound: Bound, quick: Machines, short: Machines, points: int, share: float, least: float
) -> tuple[ProvenLine, ...]:
    """Prove a line for several weights of the makespan against the flowtime."""
    matrix = bound.matrix
    rise = max(flowtime(matrix, quick) - flowtime(matrix, short), 0.0)
    span = matrix.makespan(short)
    run = max(span - matrix.makespan(quick), 1e-9 * span)
    lines = [ProvenLine(1.0, 0.0, least)]
    for weight in np.geomspace(0.1, 100, max(points // 2, 2)):
        aim = Both(1.0, float(weight * rise / run), 0.0)
        if aim.late > 0:
            proven = bound_both(matrix, aim, bound, seconds=0.5 * share, rounds=12, most=share)
            lines.append(ProvenLine(aim.flow, aim.late, proven.value))
    return tuple(lines)

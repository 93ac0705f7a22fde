"""Figures of a run: how many tasks of each bag ran when, and what each bag waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.figures.palette import FAINT, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.running.progress import BagProgress
from queuesmith.running.run_state import RunState

if TYPE_CHECKING:
    import plotly.graph_objects as go


def running_over_time(bag: BagProgress, begun: float) -> tuple[list[float], list[int]]:
    """Return the seconds at which the number of running tasks of a bag changes, and to what.

    Only the last attempt of each task counts.
    """
    changes: dict[float, int] = {}
    for task in bag.tasks:
        if task.start is not None and task.end is not None:
            changes[task.start] = changes.get(task.start, 0) + bag.bag.cores
            changes[task.end] = changes.get(task.end, 0) - bag.bag.cores
    seconds = sorted(changes)
    counts, count = [], 0
    for second in seconds:
        count += changes[second]
        counts.append(count)
    return [second - begun for second in seconds], counts


def draw_running(state: RunState) -> go.Figure:
    """Draw the cores that each bag has over time, bag upon bag."""
    import plotly.graph_objects as go

    figure = go.Figure()
    times = sorted(
        {second for bag in state.bags for second in running_over_time(bag, state.begun)[0]}
    )
    for bag in state.bags:
        seconds, counts = running_over_time(bag, state.begun)
        changes = dict(zip(seconds, counts, strict=True))
        now, values = 0, []
        for second in times:
            now = changes.get(second, now)
            values.append(now)
        figure.add_scatter(
            x=times,
            y=values,
            name=bag.bag.name,
            stackgroup="bags",
            line={
                "shape": "hv",
                "width": 0,
                "color": POLICY_COLOURS[bag.place % len(POLICY_COLOURS)],
            },
        )
    for turn in state.turns[1:]:
        figure.add_vline(x=turn.second, line={"color": FAINT, "dash": "dot"})
    style(figure, height=420, x="seconds since the run began", y="cores in use")
    return figure


def draw_bags(state: RunState) -> go.Figure:
    """Draw for each bag how long it waited for its first task, and how long it ran."""
    import plotly.graph_objects as go

    rows = [row for row in state.rows() if row["first_start"] is not None and row["end"]]
    names = [row["bag"] for row in rows]
    figure = go.Figure()
    for name, begin, end, colour in (
        ("waits", "submit", "first_start", FAINT),
        ("runs", "first_start", "end", POLICY_COLOURS[0]),
    ):
        figure.add_bar(
            y=names,
            x=[row[end] - row[begin] for row in rows],
            base=[row[begin] for row in rows],
            orientation="h",
            name=name,
            marker={"color": colour},
        )
    style(figure, height=140 + 24 * len(names), x="seconds since the run began")
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(autorange="reversed")
    return figure

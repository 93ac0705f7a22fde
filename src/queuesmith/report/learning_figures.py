"""How a policy was learned and who gains by it, as figures: numbers first, drawing after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.figures.palette import HISTORY_COLOUR, POLICY_COLOURS
from queuesmith.figures.style import style
from queuesmith.learning.result import Tuned
from queuesmith.learning.verdict import Verdict
from queuesmith.report.drawing import WIDE_RANGE
from queuesmith.report.figure_data import Floats
from queuesmith.report.wording import duration, metric_title, scale_of, time_scale
from queuesmith.schedule.measures import awrt_by_group

if TYPE_CHECKING:
    import plotly.graph_objects as go

BASELINE_COLOUR, FIXED_COLOUR, LEARNED_COLOUR = POLICY_COLOURS[:3]


@dataclass(frozen=True, eq=False)
class Convergence:
    """How the best policy got better: one entry for each round."""

    evaluations: Floats
    best: Floats
    mean: Floats


def convergence_data(tuned: Tuned) -> Convergence:
    """Return the course of a run."""
    rows = [(step.evaluations, step.best, step.mean) for step in tuned.history]
    # A mean of None, where a whole round was given up, becomes a gap in the line.
    return Convergence(*np.array(rows, dtype=np.float64).reshape(-1, 3).T)


@dataclass(frozen=True)
class GroupChange:
    """The average weighted response time of a group, before and after.

    Parameters
    ----------
    before, after
        Under FCFS with EASY, and under the learned policy, in seconds.
    """

    before: float
    after: float

    @property
    def better_percent(self) -> float:
        """By how many per cent it became shorter."""
        return 100 * (1 - self.after / self.before)


def group_changes(verdict: Verdict) -> dict[str, GroupChange]:
    """Return what the learned policy does to each group, by the group's name."""
    before, after = (awrt_by_group(s) for s in (verdict.baseline, verdict.learned))
    jobs = verdict.learned.workload
    named = "group" in jobs.labels
    changes = {}
    for group, earlier in before.items():
        later = after[group]
        if earlier and later is not None:
            label = jobs.label("group", group)
            changes[label if named else f"group {label}"] = GroupChange(earlier, later)
    return changes


def draw_convergence(tuned: Tuned) -> go.Figure:
    """Draw how the best and the mean of the policies went, and what they must beat."""
    import plotly.graph_objects as go

    data = convergence_data(tuned)
    known = {
        "FCFS with EASY": (tuned.learning.values["baseline"].value, BASELINE_COLOUR),
        f"best fixed: {tuned.best_fixed}": (
            tuned.learning.values["best_fixed"].value,
            FIXED_COLOUR,
        ),
    }
    scale = scale_of(tuned.objective, [value for value, _ in known.values()])
    figure = go.Figure()
    for name, values, look in (
        ("mean of the generation", data.mean, {"color": HISTORY_COLOUR, "dash": "dot"}),
        ("best so far", data.best, {"color": LEARNED_COLOUR, "dash": "solid", "shape": "hv"}),
    ):
        figure.add_scatter(
            x=data.evaluations,
            y=values / scale.factor,
            name=name,
            mode="lines",
            line={**look, "width": 2},
        )
    ends = [float(data.evaluations[0]), float(data.evaluations[-1])]
    for name, (value, colour) in known.items():
        figure.add_scatter(
            x=ends,
            y=[value / scale.factor] * 2,
            name=escape(name, quote=False),
            mode="lines",
            line={"color": colour, "dash": "dash", "width": 1.5},
        )
    unit = f" ({scale.unit})" if scale.unit else ""
    title = escape(metric_title(str(tuned.objective)) + unit, quote=False)
    style(figure, height=380, x="policies judged", y=title)
    figure.update_traces(hovertemplate="%{y:.5s} after %{x:,}")
    return figure


def draw_group_changes(verdicts: Mapping[str, Verdict]) -> go.Figure:
    """Draw the response time of each group before and after, a panel for each part of the log.

    Parameters
    ----------
    verdicts
        The verdict on each part, by what the part is called.
    """
    from plotly.subplots import make_subplots

    changes = {part: group_changes(verdict) for part, verdict in verdicts.items()}
    seconds = [
        value
        for panel in changes.values()
        for change in panel.values()
        for value in (change.before, change.after)
    ]
    scale = time_scale(max(seconds))
    figure = make_subplots(rows=1, cols=len(changes), shared_yaxes=True, horizontal_spacing=0.04)
    style(figure, height=400)
    looks = {
        "before": ("FCFS with EASY", BASELINE_COLOUR),
        "after": ("learned policy", LEARNED_COLOUR),
    }
    for column, (part, panel) in enumerate(changes.items(), start=1):
        figure.update_xaxes(title_text=escape(part, quote=False), row=1, col=column)
        for when, (name, colour) in looks.items():
            figure.add_bar(
                x=[escape(label, quote=False) for label in panel],
                y=[getattr(change, when) / scale.factor for change in panel.values()],
                name=name,
                marker_color=colour,
                customdata=[duration(getattr(change, when)) for change in panel.values()],
                hovertemplate="%{x}: %{customdata}",
                row=1,
                col=column,
            )
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_yaxes(title_text=f"AWRT ({scale.unit})", row=1, col=1)
    if max(seconds) > WIDE_RANGE * min(seconds):
        figure.update_yaxes(type="log", dtick=1)
    return figure

"""What the what-if page shows for a state: tables, sentences and figures of its replays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import html

from queuesmith.figures.palette import policy_colours
from queuesmith.report.caution import history_caution
from queuesmith.report.comparison import Comparison
from queuesmith.report.plain_figures import Figure, groups_figure, over_time_figure, waits_figure
from queuesmith.report.wording import is_time, metric_title, scale_of, table_time_scale
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.schedule import Schedule
from queuesmith.web.context import Context
from queuesmith.web.parts import (
    MISSING,
    inked,
    nothing,
    sentences,
    table,
)
from queuesmith.web.replays import Question
from queuesmith.web.side_by_side import SideBySide, facts_of, sentence_of_change
from queuesmith.web.state import PageState

#: Where the words below all bars need more pixels than this, they are turned.
ROOM = 480


@dataclass(frozen=True)
class Answer:
    """What the page shows for a state."""

    said: list[Any]
    figures: tuple[Figure, Figure, Figure]
    complaints: list[str]


def answered(state: PageState, context: Context, tab: str, scheme: str) -> Answer:
    """Replay what the columns ask for, and return tables, sentences and figures."""
    objective = Objective(state.objective)
    found = context.desk.schedules(tab, _questions(state))
    complaints = [str(each) for each in found if not isinstance(each, Schedule)]
    replays = [each for each in found if isinstance(each, Schedule)]
    comparison = _side_by_side(state, context, replays)
    if comparison is None:
        return Answer([], (nothing(), nothing(), nothing()), complaints)
    real = context.desk.real(state.log, state.filters)
    return Answer(
        [
            html.Div(_changes(replays, state.by), id="changes", role="status"),
            html.Div(_facts(comparison, objective), id="facts"),
            *sentences(_cautions(real, replays, state), "caution"),
        ],
        (
            inked(_with_room(groups_figure(comparison, state.by)), scheme),
            inked(waits_figure(comparison), scheme),
            inked(over_time_figure(comparison), scheme),
        ),
        complaints,
    )


def _questions(state: PageState) -> list[Question]:
    columns = dict.fromkeys(state.columns)  # one that two columns show is replayed once
    return [Question(state.log, state.filters, column) for column in columns]


def _side_by_side(
    state: PageState, context: Context, replays: Sequence[Schedule]
) -> SideBySide | None:
    real = context.desk.real(state.log, state.filters)
    shown = [*([] if real is None else [real]), *replays]
    names = tuple(str(column) for column in state.columns)
    return SideBySide(tuple(shown), ("mean_wait",), columns=names) if shown else None


def _with_room(figure: Figure) -> Figure:
    """Return a figure of bars with room for the words below; Plotly would draw twice to find it."""
    words = figure["data"][0]["x"]
    longest = max(map(len, words))
    turned = 8 * longest * len(words) > ROOM
    layout = figure["layout"]
    below = min(30 + 5 * longest, 160) if turned else layout["margin"]["b"]
    return {
        **figure,
        "layout": {
            **layout,
            "xaxis": {**layout["xaxis"], "tickangle": -40 if turned else 0, "automargin": False},
            "margin": {**layout["margin"], "b": below},
        },
    }


def _facts(comparison: SideBySide, objective: Objective) -> Any:
    facts = {each.policy: facts_of(each, objective) for each in comparison.schedules}
    waits = [w for f in facts.values() for w in (f.mean_wait, f.p95_wait, f.longest_wait)]
    values = [each.objective.value for each in facts.values()]
    times = table_time_scale([*waits, *(values if is_time(objective) else ())])
    scale = times if is_time(objective) else scale_of(objective, values)
    colours = policy_colours(comparison.policies)
    rows = []
    for policy, each in facts.items():
        low, high = each.objective.low, each.objective.high
        between = (
            MISSING if low is None or high is None else f"{scale.text(low)} to {scale.text(high)}"
        )
        swatch = html.I(className="swatch", style={"background": colours[policy]})
        rows.append(
            [
                [swatch, policy],
                [html.B(scale.text(each.objective.value)), html.Small(between)],
                times.text(each.mean_wait),
                times.text(each.p95_wait),
                times.text(each.longest_wait),
                f"{each.beyond_a_week:,}",
                f"{100 * each.utilization:.1f} %",
                f"{each.jobs:,}",
            ]
        )
    title = f"{metric_title(str(objective))}, with its 95 % interval"
    heads = [
        *("column", title, "mean wait", "95 % wait at most", "longest wait"),
        *("beyond a week", "utilization", "jobs"),
    ]
    return table(
        heads, rows, f"What each column is worth; of the objective, {objective.better} is better"
    )


def _changes(replays: Sequence[Schedule], by: str) -> list[html.P]:
    if len(replays) < 2:
        return sentences(["Add a column to see who gains and who pays."], "note")
    said = [sentence_of_change(replays[0], each, by) for each in replays[1:]]
    return sentences(said, "verdict")


def _cautions(real: Schedule | None, replays: Sequence[Schedule], state: PageState) -> list[str]:
    """Say how far the replays can be believed, where it is known what really happened."""
    if real is None:
        return []
    columns = {str(column): column for column in state.columns}
    alike = [
        schedule
        for schedule in replays
        if columns[schedule.policy].load == 1.0
        and len(schedule) == len(real)
        and schedule.cluster.cores == real.cluster.cores
    ]
    if not alike:
        return ["What really happened stands beside replays of another load or machine."]
    return [history_caution(Comparison((real, alike[0]))) or ""]

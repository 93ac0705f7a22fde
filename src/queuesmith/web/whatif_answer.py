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
from queuesmith.report.wording import duration, metric_title, scale_of
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


@dataclass(frozen=True)
class Answer:
    """What the page shows for a state."""

    said: list[Any]
    figures: tuple[Figure, Figure, Figure]
    complaints: list[str]


def answered(state: PageState, context: Context, tab: str, scheme: str) -> Answer:
    """Replay what the columns ask for, and return tables, sentences and figures."""
    objective = Objective(state.objective)
    columns = list(dict.fromkeys(state.columns))  # one that two columns show is replayed once
    questions = [Question(state.log, state.filters, column) for column in columns]
    found = context.desk.schedules(tab, questions)
    complaints = [str(each) for each in found if not isinstance(each, Schedule)]
    replays = [each for each in found if isinstance(each, Schedule)]
    real = context.desk.real(state.log, state.filters)
    shown = [*([] if real is None else [real]), *replays]
    if not shown:
        return Answer([], (nothing(), nothing(), nothing()), complaints)
    names = tuple(str(column) for column in state.columns)
    comparison = SideBySide(tuple(shown), ("mean_wait",), columns=names)
    return Answer(
        [
            html.Div(_changes(replays, state.by), id="changes", role="status"),
            html.Div(_facts(comparison, objective), id="facts"),
            *sentences(_cautions(real, replays, state), "caution"),
        ],
        (
            inked(groups_figure(comparison, state.by), scheme, roomy=True),
            inked(waits_figure(comparison), scheme),
            inked(over_time_figure(comparison), scheme),
        ),
        complaints,
    )


def _facts(comparison: SideBySide, objective: Objective) -> Any:
    facts = {each.policy: facts_of(each, objective) for each in comparison.schedules}
    scale = scale_of(objective, [each.objective.value for each in facts.values()])
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
                duration(each.mean_wait),
                duration(each.p95_wait),
                duration(each.longest_wait),
                f"{each.beyond_a_week:,}",
                f"{100 * each.utilization:.1f} %",
                f"{each.jobs:,}",
            ]
        )
    title = f"{metric_title(str(objective))}, with its 95 % interval"
    heads = [
        *("column", title, "mean wait", "95 % wait at most", "longest wait"),
        *("beyond a week", "utilisation", "jobs"),
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

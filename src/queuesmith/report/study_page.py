"""A study on one page: ranks across logs, which differences count, and the values of each log."""

from __future__ import annotations

import os
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.campaign.ranking import Ranking, rank_policies
from queuesmith.campaign.results import Results
from queuesmith.figures.palette import INK, policy_colours
from queuesmith.figures.style import style
from queuesmith.report.group_waits import CAPTION, rows_of_waits
from queuesmith.report.html import write_sections
from queuesmith.report.html_rows import html_rows

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.report.html import Content

#: A table of more rows is what ``study table --out`` is for.
MOST_ROWS = 500
WORST = "The worst over all logs, loads and seeds: what a policy costs the unluckiest."


def write_study_report(
    results: Results, path: str | os.PathLike[str], *, command: str | None = None
) -> Path:
    """Write what a study has found so far as one self-contained page; return where it is.

    Parameters
    ----------
    results
        What is known.
    path
        The HTML file, which appears only once it is complete.
    command
        The command that goes on with the study, shown on the page.
    """
    sections: list[tuple[str, Content]] = [("What was studied", _facts(results, command))]
    sections += [(metric, _metric(results, metric)) for metric in results.study.metrics]
    waits = rows_of_waits(results.group_waits())
    if waits:
        sections.append(("Who waits longest", f"<p>{WORST} {CAPTION}</p>{html_rows(waits)}"))
    units = so_many(len(results.units), "unit")
    description = f"{results.done:,} of {units} {'is' if results.done == 1 else 'are'} done."
    return write_sections(path, f"Study {results.study.name}", sections, description=description)


def draw_ranks(ranking: Ranking) -> go.Figure:
    """Draw mean ranks on a line; bars join policies that do not differ (Demsar 2006)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    colours = policy_colours(ranking.policies)
    count = len(ranking.policies)
    for place, (policy, rank) in enumerate(zip(ranking.policies, ranking.ranks, strict=True)):
        figure.add_scatter(
            x=[rank],
            y=[-place],
            mode="markers+text",
            marker={"size": 11, "color": colours[policy]},
            text=[f"  {policy}  {rank:.2f}"],
            textposition="middle right",
            name=policy,
            showlegend=False,
        )
    for number, (first, last) in enumerate(ranking.alike(), start=1):
        figure.add_scatter(
            x=[ranking.ranks[first], ranking.ranks[last]],
            y=[0.4 + 0.3 * number] * 2,
            mode="lines",
            line={"width": 5, "color": INK},
            showlegend=False,
            hoverinfo="skip",
        )
    if ranking.critical_difference is not None:
        top = 0.9 + 0.3 * len(ranking.alike())
        figure.add_scatter(
            x=[1, 1 + ranking.critical_difference],
            y=[top, top],
            mode="lines+markers+text",
            text=["", f"  critical difference {ranking.critical_difference:.2f}"],
            textposition="middle right",
            marker={"symbol": "line-ns-open", "size": 12},
            line={"color": INK},
            showlegend=False,
        )
    style(figure, height=150 + 28 * count, x="mean rank, 1 is the best")
    figure.update_yaxes(visible=False)
    figure.update_xaxes(range=[0.8, count + 1.5])
    return figure


def _facts(results: Results, command: str | None) -> str:
    study = results.study
    facts = {
        "logs": ", ".join(log.name for log in study.logs),
        "policies": str(len(study.policies) + len(study.methods)),
        "seeds": str(len(study.seeds)),
        "load factors": ", ".join(f"{factor:g}" for factor in study.load_factors),
        "units done": f"{results.done:,} of {len(results.units):,}",
        "processor time": f"{results.seconds:,.0f} s",
    }
    items = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())
    notes = [f"Note on {change}." for change in results.changes[:MOST_ROWS]]
    notes += _cut("notes", len(results.changes))
    if results.without_value:
        notes.append(
            f"{so_many(len(results.without_value), 'unit has', 'units have')} no value, the first "
            f"because: {results.without_value[0]}"
        )
    if study.split is not None:
        notes.append(
            f"Policies are learned on the first {100 * study.split:g} % of each log's time; all, "
            "fixed ones, too, are judged on the rest."
        )
    if command is not None:
        notes.append(f"To go on, or to do it again: {command}")
    text = "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    return f'<dl class="facts">{items}</dl>{text}'


def _metric(results: Results, metric: str) -> Content:
    try:
        ranking = rank_policies(results, metric)
    except UsageError as error:
        return f"<p>{escape(str(error))}</p>"
    rows = _by_log(results, metric)
    return [
        f'<p class="verdict">{escape(verdict(ranking))}</p>',
        draw_ranks(ranking),
        html_rows(ranking.rows()),
        f'<p class="note">{escape(_note(ranking))}</p>',
        html_rows(rows[:MOST_ROWS]),
        *(f'<p class="note">{escape(each)}</p>' for each in _cut("rows", len(rows))),
    ]


def _cut(what: str, count: int) -> list[str]:
    """Say what is not shown; nothing where all is."""
    if count <= MOST_ROWS:
        return []
    return [f"Of {count:,} {what} the first {MOST_ROWS} are shown; study table has all values."]


def verdict(ranking: Ranking) -> str:
    """Say in a sentence or two what the ranks of policies tell."""
    best = f"{_leaders(ranking)} over {so_many(ranking.logs, 'log')}, at {ranking.ranks[0]:.2f}"
    if ranking.friedman is None or ranking.critical_difference is None:
        return f"{best}. One log or one policy tells nothing about others."
    chance = f"(Friedman p = {ranking.friedman:.2g})"
    if ranking.friedman > 0.05:
        return f"{best}, but ranks differ no more than by chance {chance}."
    limit, first = ranking.ranks[0] + ranking.critical_difference, _first(ranking)
    alike = [p for p, r in zip(ranking.policies, ranking.ranks, strict=True) if r <= limit]
    alike = alike[len(first) :]
    they = "it does" if len(first) == 1 else "they do"
    others = "and differs" if len(first) == 1 else "and differ"
    same = f"; {they} not differ from {', '.join(alike)}" if alike else f" {others} from all others"
    return f"{best}{same} {chance}."


def _first(ranking: Ranking) -> tuple[str, ...]:
    """Return the policies that share the best mean rank."""
    shared = sum(rank - ranking.ranks[0] < 1e-9 for rank in ranking.ranks)
    return ranking.policies[:shared]


def _leaders(ranking: Ranking) -> str:
    first = [f"'{policy}'" for policy in _first(ranking)]
    if len(first) == 1:
        return f"{first[0]} ranks best"
    return f"{', '.join(first[:-1])} and {first[-1]} share the best rank"


def _note(ranking: Ranking) -> str:
    left_out = (
        f" {so_many(ranking.left_out, 'log without a value is', 'logs without a value are')} left "
        "out."
        if ranking.left_out
        else ""
    )
    against = ranking.duels[0].against if ranking.duels else ""
    return (
        f"Every log has one vote. Wins, losses and percentages are against '{against}'; "
        "the range is the 95 % interval of a bootstrap that draws whole logs. Bars join policies "
        f"whose mean ranks are closer than Nemenyi's critical difference.{left_out}"
    )


def _by_log(results: Results, metric: str) -> list[dict[str, Any]]:
    """Return one row for each log and load: the mean value of each policy over seeds."""
    values: dict[Any, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in results.rows():
        if row[metric] is not None:
            place = (row["log"], row["cores"], row["load_factor"])
            values[place][row["policy"]].append(row[metric])
    return [
        {
            "log": log,
            "cores": cores,
            "load factor": factor,
            **{policy: sum(found) / len(found) for policy, found in by_policy.items()},
        }
        for (log, cores, factor), by_policy in values.items()
    ]

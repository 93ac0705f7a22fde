"""What a report says, section by section, as HTML."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster
from queuesmith.figures.page import json_script
from queuesmith.policy import as_policy
from queuesmith.report.caution import conclusion, history_caution
from queuesmith.report.comparison import Comparison
from queuesmith.report.figure_data import user_groups
from queuesmith.report.gantt import MOST_JOBS, gantt_payload
from queuesmith.report.html_rows import html_row, scrolling_table
from queuesmith.report.placed import best_proven, draw_place_use, place_use, proof_table
from queuesmith.report.table import html_table
from queuesmith.report.wording import duration, plain, round_duration
from queuesmith.schedule.metrics import METRICS
from queuesmith.workload.waits import columns_of, title_of, waits_by

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Of users and accounts so many are shown, those with the most jobs.
MOST_PARTS = 20
#: Longer tables of who waits how long are folded until they are asked for.
MOST_OPEN_ROWS = 8
#: Turns a figure into HTML.
Embed = Callable[["go.Figure"], str]


@dataclass(frozen=True)
class Section:
    """A headed part of the page, reached by its anchor."""

    anchor: str
    title: str
    body: str


def standard_sections(
    comparison: Comparison, embed: Embed, *, although_untrue: bool = False
) -> list[Section]:
    """Return what every report shows of a comparison."""
    return [
        replayed_section(comparison),
        comparison_section(comparison, embed, although_untrue=although_untrue),
        *proof_sections(comparison),
        waits_section(comparison, embed),
        *parts_sections(comparison),
        over_time_section(comparison, embed),
        gantt_section(comparison),
        *place_sections(comparison, embed),
        slowdown_section(comparison, embed),
    ]


def replayed_section(comparison: Comparison) -> Section:
    """Tell what was replayed, and what happened to the log before."""
    jobs, cores = comparison.workload, comparison.schedules[0].cluster.cores
    facts = {
        "workload": jobs.name,
        "jobs": f"{len(jobs):,}",
        "users": f"{len(np.unique(jobs.user)):,}",
        "submitted over": duration(jobs.span),
        "cores": f"{cores:,}",
        "offered load": f"{100 * jobs.load(cores):.0f} %" if jobs.span else "all at once",
    }
    items = "".join(
        f"<div><dt>{key}</dt><dd>{escape(fact)}</dd></div>" for key, fact in facts.items()
    )
    return Section(
        "replayed", "What was replayed", f'<dl class="facts">{items}</dl>{_changes(jobs.changes)}'
    )


def comparison_section(
    comparison: Comparison, embed: Embed, *, although_untrue: bool = False
) -> Section:
    """Show the table, say it in words, and draw it."""
    from queuesmith.report.drawing import draw_relative

    known = any(i.low is not None for row in comparison.intervals.values() for i in row.values())
    sure = (
        "Below each value: its 95 % confidence interval, from redrawing the weeks of the log."
        if known
        else "The log is too short for confidence intervals: they need two weeks or more."
    )
    said = conclusion(comparison, although_untrue=although_untrue)
    first = escape(comparison.baseline)
    part = ""
    if comparison.warm_up or comparison.cool_down:
        part = (
            f" Jobs of the first {comparison.warm_up:.0%} and the last {comparison.cool_down:.0%} "
            "of the log run but do not count in this table."
        )
    body = (
        f'<p class="verdict">{escape(said)}</p>{_history(comparison)}'
        f"{html_table(comparison, intervals=True)}"
        f'<p class="note">★ best of the simulated policies. {sure}{part}</p>'
        f"<h3>Relative to {first}</h3>{embed(draw_relative(comparison))}"
    )
    return Section("comparison", "Comparison", body)


def _history(comparison: Comparison) -> str:
    caution = history_caution(comparison)
    return f'<p class="caution">{escape(caution)}</p>' if caution else ""


def proof_sections(comparison: Comparison) -> list[Section]:
    """Tell what is proven, where something was minimised."""
    sentence = best_proven(comparison.schedules)
    if sentence is None:
        return []
    body = f'<p class="verdict">{escape(sentence)}</p>{proof_table(comparison.schedules)}'
    return [Section("proof", "How far from the optimum", body)]


def place_sections(comparison: Comparison, embed: Embed) -> list[Section]:
    """Show how much each place of the machine is in use, where jobs have places."""
    if all(place_use(schedule) is None for schedule in comparison.schedules):
        return []
    body = (
        "<p>The share of each place's time in use until the last job has ended. Even bars mean "
        "that nothing stands idle while others work.</p>"
        f"{embed(draw_place_use(comparison))}"
    )
    return [Section("places", "Use of each place", body)]


def waits_section(comparison: Comparison, embed: Embed) -> Section:
    """Show how long jobs wait, by policy and by user group."""
    from queuesmith.report.drawing import draw_groups, draw_waits

    groups = user_groups(comparison.workload)
    shares = (
        ""
        if "group" in comparison.workload.labels
        else (" Group 1 holds the users who consume the most, and so on down.")
    )
    count = len(groups.labels)
    each = f"each of the {count:,} groups" if count > 1 else "the only group"
    body = (
        "<p>The share of the jobs that had started after a given wait. The further up and left a "
        "curve, the sooner jobs start.</p>"
        f"{embed(draw_waits(comparison))}"
        f"<h3>By user group</h3><p>Who pays for a shorter average: the mean wait of {each}."
        f"{shares}</p>{embed(draw_groups(comparison))}"
    )
    return Section("waits", "Waits", body)


def parts_sections(comparison: Comparison) -> list[Section]:
    """Show the mean wait by partition, quality of service, account, user, size and hour."""
    if comparison.schedules[0].own_submit is not None:
        return []
    tables = "".join(_parts_table(comparison, column) for column in columns_of(comparison.workload))
    body = (
        "<p>Mean waits in hours, and the longest below them. A click on a head sorts, long tables "
        "unfold; of users and "
        f"accounts the {MOST_PARTS} with the most jobs are shown. Hours are those of the "
        f"submission.</p>{tables}"
    )
    return [Section("parts", "Who waits how long", body)]


def _parts_table(comparison: Comparison, column: str) -> str:
    jobs = comparison.workload
    found = {s.policy: waits_by(jobs, s.wait, column) for s in comparison.schedules}
    first = next(iter(found.values()))
    shown = [row.part for row in first][: None if column in ("size", "hour") else MOST_PARTS]
    by_part = {policy: {row.part: row for row in rows} for policy, rows in found.items()}
    counts = {row.part: row.jobs for row in first}
    table = scrolling_table(
        (escape(head) for head in (title_of(jobs, column), "jobs", *found)),
        (
            html_row(
                escape(part),
                f"{counts[part]:,}",
                *(
                    f"{plain(rows[part].mean / 3600)}"
                    f"<small>{plain(rows[part].longest / 3600)}</small>"
                    for rows in by_part.values()
                ),
            )
            for part in shown
        ),
    )
    unfolded = " open" if len(shown) <= MOST_OPEN_ROWS else ""
    return f"<details{unfolded}><summary>By {escape(column)}</summary>{table}</details>"


def over_time_section(comparison: Comparison, embed: Embed) -> Section:
    """Show how busy the machine is and how long its queue."""
    from queuesmith.report.drawing import draw_over_time
    from queuesmith.report.plain_figures import time_edges

    edges = time_edges(comparison.schedules)
    width = round_duration(int(edges[1] - edges[0]))
    body = (
        f"<p>Averages over {width} each. The backlog is what the waiting jobs ask for: their cores "
        "times their walltime. Drag to zoom; a double click shows the whole again.</p>"
        f"{embed(draw_over_time(comparison))}"
    )
    return Section("over-time", "Utilization and queue over time", body)


def gantt_section(comparison: Comparison, most_jobs: int = MOST_JOBS) -> Section:
    """Show when and how wide every job ran."""
    payload = gantt_payload(comparison.schedules, most_jobs=most_jobs)
    shown = payload["jobs"]["id"]["count"]
    partial = (
        f" <strong>This log has {len(comparison.workload):,} jobs. The strip shows all of them; "
        f"the chart below shows the most loaded stretch with its {shown:,} jobs.</strong>"
        if payload["window"] != payload["span"]
        else ""
    )
    body = (
        "<p>The strip shows the busy cores over the whole time, the chart the jobs of the framed "
        "part. Wheel: zoom in time; with Shift: zoom in cores. Drag: move. Double click: whole. "
        f"Point at a job for its details.{partial}</p>"
        '<div class="gantt" data-source="gantt-data"></div>'
        f"{json_script('gantt-data', json.dumps(payload, separators=(',', ':')))}"
        f'<p class="note">{_where(comparison)}</p>'
    )
    return Section("gantt", "Gantt chart", body)


def _where(comparison: Comparison) -> str:
    if comparison.schedules[0].cluster.places is not None:
        return "Each band is one place of the machine; jobs are drawn where they really run."
    return (
        "Cores are assigned for this drawing only: each job takes the lowest free block that holds "
        "it, or several rectangles where no block is large enough. The replay counts cores and "
        "does not name them."
    )


def slowdown_section(comparison: Comparison, embed: Embed) -> Section:
    """Show how many jobs are slowed down how much."""
    from queuesmith.report.drawing import draw_slowdowns

    body = (
        "<p>The share of the jobs whose bounded slowdown is above a given factor. The lower a "
        "curve, the fewer jobs suffer; its right end is the worst-served job.</p>"
        f"{embed(draw_slowdowns(comparison))}"
    )
    return Section("slowdowns", "Slowdowns", body)


def definitions_section(comparison: Comparison) -> Section:
    """Say how each metric of the table is defined."""
    used = dict.fromkeys(m.name for o in comparison.objectives.values() for m in o.metrics)
    extra = [name for name in ("mean_wait", "mean_bounded_slowdown") if name not in used]
    items = "".join(_definition(name) for name in [*used, *extra])
    composed = [
        f"<dt>{escape(text)}</dt><dd>An objective over these metrics; lower is better.</dd>"
        for text, objective in comparison.objectives.items()
        if str(objective) not in objective.names
    ]
    bound = f"{comparison.bound:g} s"
    note = f"<p>The bound of the bounded slowdown is {bound}.</p>"
    body = f'<dl class="definitions">{items}{"".join(composed)}</dl>{note}'
    return Section("definitions", "How the metrics are defined", body)


def reproduce_section(comparison: Comparison, command: str | None, code: str | None) -> Section:
    """Say how to get the same figures again, by a command and in Python, as far as is known."""
    parts = [f"<pre><code>{escape(command)}</code></pre>"] if command else []
    python = code or _python_code(comparison)
    if python and not (command and code is None):
        parts += ["<p>Or in Python:</p>"] if command else []
        parts.append(f"<pre><code>{escape(python)}</code></pre>")
    if not parts:
        parts.append("<p>These schedules were made in Python; no command made this page.</p>")
    elif all(schedule.proof is None for schedule in comparison.schedules):
        note = "A replay is deterministic: the same log and policies give the same figures."
        parts.append(f"<p>{note}</p>")
    return Section("reproduce", "How to reproduce", "".join(parts))


def _python_code(comparison: Comparison) -> str | None:
    """Return the Python that replays the same jobs once more, if the policies can be written.

    Where the jobs come from is not known here: ``log`` stands for them.
    """
    machine = comparison.schedules[0].cluster
    if not isinstance(machine, Cluster) or comparison.schedules[0].pieces is not None:
        return None
    if not comparison.simulated or not all(map(_is_written, comparison.simulated)):
        return None
    jobs = comparison.workload
    return (
        f"import queuesmith as qs\n\n"
        f"# log: the {so_many(len(jobs), 'job')} of {_one_line(jobs.name)}, grouped as they were\n"
        f"comparison = qs.compare(\n    log,\n    cores={machine.cores},\n"
        f"    policies={list(comparison.simulated)!r},\n"
        f"    metrics={list(comparison.metrics)!r},\n"
        f"    warm_up={comparison.warm_up},\n    cool_down={comparison.cool_down},\n"
        f"    bound={comparison.bound},\n)\n"
        'qs.write_report(comparison, "report.html")'
    )


def _is_written(policy: str) -> bool:
    """Tell whether a policy can be read again from how it is called."""
    try:
        return str(as_policy(policy)) == policy
    except QueuesmithError:
        return False


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _changes(changes: Any) -> str:
    if not changes:
        return '<p class="note">No job of the log was left out or mended.</p>'
    items = "".join(f"<li>{escape(str(change))}</li>" for change in changes)
    return f'<div class="changes"><ul>{items}</ul></div>'


def _definition(name: str) -> str:
    metric = METRICS[name]
    unit = "" if metric.unit == "1" else f" In {metric.unit}."
    return (
        f"<dt>{escape(name)}</dt><dd>{escape(metric.definition)}.{escape(unit)} "
        f"{metric.better.capitalize()} is better.</dd>"
    )

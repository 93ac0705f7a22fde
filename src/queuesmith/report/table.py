"""The table of a comparison as text and as HTML, the best of each column marked."""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import TYPE_CHECKING

from queuesmith.figures.palette import policy_colours
from queuesmith.report.html_rows import scrolling_table
from queuesmith.report.wording import Scale, metric_title, scales_of
from queuesmith.schedule.schedule import HISTORY

if TYPE_CHECKING:
    from queuesmith.report.comparison import Comparison

MARK = "★"
#: A table in plain text is no wider than this where its heads and names can be broken.
WIDTH = 80
SHORTEST_NAME, SHORTEST_HEAD, LONGEST_HEAD = 20, 6, 30


def scales(comparison: Comparison) -> dict[str, Scale]:
    """Return the scale of each metric, one for all policies; all times have the same unit."""
    values = {
        metric: [comparison.values[policy][metric] for policy in comparison.policies]
        for metric in comparison.metrics
    }
    return scales_of(comparison.objectives, values)


def text_table(comparison: Comparison) -> str:
    """Return the table in plain text, a star before the best of each column."""
    scale = scales(comparison)
    cells = {
        policy: [_text_cell(comparison, policy, metric, scale[metric]) for metric in scale]
        for policy in comparison.policies
    }
    return _aligned(scale, cells)


def interval_table(comparison: Comparison) -> str:
    """Return the confidence intervals in plain text; a dash where there is none."""
    scale = scales(comparison)
    cells = {
        policy: [_range(comparison, policy, metric, scale[metric]) or "-" for metric in scale]
        for policy in comparison.policies
    }
    return _aligned(scale, cells)


def _aligned(scale: dict[str, Scale], cells: dict[str, list[str]]) -> str:
    """Return lines of equal columns; heads and names are broken where a line would be too long."""
    heads = [_text_head(metric, each) for metric, each in scale.items()]
    plain = [["policy", *heads], *([policy, *row] for policy, row in cells.items())]
    if len(_lines(plain)[0]) <= WIDTH:
        return "\n".join(_lines(plain))
    for width in range(LONGEST_HEAD, SHORTEST_HEAD - 1, -1):
        lines = _broken_lines(heads, cells, width)
        if max(map(len, lines)) <= WIDTH:
            break
    return "\n".join(line.rstrip() for line in lines)


def _broken_lines(heads: list[str], cells: dict[str, list[str]], width: int) -> list[str]:
    """Return the lines of a table whose heads are broken where they are longer than a width."""
    broken = [_words(head, width) for head in heads]
    most = max(map(len, broken))
    above = [[""] * (most - len(words)) + words for words in broken]
    lines = [["policy" if i == most - 1 else "", *(head[i] for head in above)] for i in range(most)]
    columns = zip(*lines, *(["", *row] for row in cells.values()), strict=True)
    values = sum(2 + max(map(len, column)) for column in list(columns)[1:])
    for policy, row in cells.items():
        name, *rest = name_lines(policy, max(WIDTH - values, SHORTEST_NAME))
        lines += [[name, *row], *([part, *[""] * len(row)] for part in rest)]
    return _lines(lines)


def _lines(cells: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in cells
    ]


def _words(head: str, width: int) -> list[str]:
    """Return the lines of a head: broken behind underscores and between words, the unit last."""
    lines = textwrap.wrap(head.replace("_", "_ "), width, break_long_words=False)
    return [line.replace("_ ", "_") for line in lines]


def name_lines(policy: str, width: int) -> list[str]:
    """Return the lines of a policy's name: its parameters stand below it where it is long."""
    lines = [""]
    for part in re.findall(r"[^(,;+]*[(,;+]?", policy):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("  ")
        lines[-1] += part
    return lines


def html_table(comparison: Comparison, *, intervals: bool = False) -> str:
    """Return the table as HTML.

    Parameters
    ----------
    comparison
        What is shown.
    intervals
        Whether confidence intervals stand below the values.
    """
    scale = scales(comparison)
    return scrolling_table(
        ("policy", *(_html_head(comparison, metric, scale[metric]) for metric in scale)),
        (_html_row(comparison, policy, scale, intervals) for policy in comparison.values),
        kind="comparison",
    )


def _text_head(metric: str, scale: Scale) -> str:
    return f"{metric} ({scale.unit})" if scale.unit else metric


def _text_cell(comparison: Comparison, policy: str, metric: str, scale: Scale) -> str:
    star = f"{MARK} " if policy in comparison.winners(metric) else ""
    return star + scale.text(comparison.values[policy][metric], unit=False)


def _html_head(comparison: Comparison, metric: str, scale: Scale) -> str:
    better = comparison.objectives[metric].better
    unit = f"{escape(scale.unit)}, " if scale.unit else ""
    return f"{escape(metric_title(metric))}<small>{unit}{better} is better</small>"


def _html_row(comparison: Comparison, policy: str, scale: dict[str, Scale], intervals: bool) -> str:
    colour = policy_colours(comparison.policies)[policy]
    swatch = f'<i class="swatch" style="background:{colour}"></i>'
    cells = "".join(_html_cell(comparison, policy, m, scale[m], intervals) for m in scale)
    name = escape(policy).replace("+", "+<wbr>")
    kind = ' class="history"' if policy == HISTORY else ""
    return f'<tr{kind}><th scope="row">{swatch}{name}</th>{cells}</tr>'


def _html_cell(
    comparison: Comparison, policy: str, metric: str, scale: Scale, intervals: bool
) -> str:
    text = scale.text(comparison.values[policy][metric], unit=False)
    below = _html_interval(comparison, policy, metric, scale) if intervals else ""
    if policy not in comparison.winners(metric):
        return f"<td>{text}{below}</td>"
    star = f'<span class="mark" title="best" aria-label="best">{MARK}</span>'
    return f'<td class="best">{star} <b>{text}</b>{below}</td>'


def _html_interval(comparison: Comparison, policy: str, metric: str, scale: Scale) -> str:
    text = _range(comparison, policy, metric, scale)
    return f"<small>{text}</small>" if text else ""


def _range(comparison: Comparison, policy: str, metric: str, scale: Scale) -> str:
    interval = comparison.interval(policy, metric)
    if interval.low is None or interval.high is None:
        return ""
    low, high = (scale.text(bound, unit=False) for bound in (interval.low, interval.high))
    return f"{low} to {high}"

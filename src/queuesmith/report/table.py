"""The table of a comparison as text and as HTML, the best of each column marked."""

from __future__ import annotations

from html import escape

from queuesmith.figures.palette import policy_colours
from queuesmith.report.comparison import HISTORY, Comparison
from queuesmith.report.wording import Scale, metric_title, scale_of

MARK = "★"


def scales(comparison: Comparison) -> dict[str, Scale]:
    """Return the scale of each metric, one for all policies."""
    return {
        metric: scale_of(objective, [comparison.values[p][metric] for p in comparison.policies])
        for metric, objective in comparison.objectives.items()
    }


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
    heads = [_text_head(metric, each) for metric, each in scale.items()]
    lines = [["policy", *heads], *([policy, *row] for policy, row in cells.items())]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads) + 1)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    )


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
    heads = "".join(_html_head(comparison, metric, scale[metric]) for metric in scale)
    rows = "".join(_html_row(comparison, policy, scale, intervals) for policy in comparison.values)
    return (
        '<div class="scroll"><table class="comparison"><thead><tr><th scope="col">policy</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _text_head(metric: str, scale: Scale) -> str:
    return f"{metric} ({scale.unit})" if scale.unit else metric


def _text_cell(comparison: Comparison, policy: str, metric: str, scale: Scale) -> str:
    star = f"{MARK} " if policy in comparison.winners(metric) else ""
    return star + scale.text(comparison.values[policy][metric], unit=False)


def _html_head(comparison: Comparison, metric: str, scale: Scale) -> str:
    better = comparison.objectives[metric].better
    unit = f"{escape(scale.unit)}, " if scale.unit else ""
    return (
        f'<th scope="col">{escape(metric_title(metric))}'
        f"<small>{unit}{better} is better</small></th>"
    )


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
    interval = comparison.intervals[policy][metric]
    if interval.low is None or interval.high is None:
        return ""
    low, high = (scale.text(bound, unit=False) for bound in (interval.low, interval.high))
    return f"{low} to {high}"

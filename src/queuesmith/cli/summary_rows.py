"""What one replay is worth, as rows that people read: one unit of time, a unit for each number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Rows of a summary that are no metrics, and what a table calls them.
OTHERS = {"seconds": ("computing time", "s"), "value": ("value of the objective", "")}

#: Names of policies are broken, between their parameters, where they are longer than this.
WIDEST = 51


def readable_rows(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return metric, value and unit of each line; all times of the table have the same unit."""
    from queuesmith.report.table import name_lines
    from queuesmith.report.wording import plain, table_time_scale

    times = [value for name, value in summary.items() if _unit(name) == "s" and value is not None]
    scale = table_time_scale(times)
    rows = []
    for name, value in summary.items():
        unit = _unit(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            text, unit = "-" if value is None else "\n".join(name_lines(str(value), WIDEST)), ""
        elif unit == "s":
            text, unit = plain(value / scale.factor), scale.unit
        elif name == "utilization":
            text, unit = plain(100 * value), "%"
        else:
            text = f"{value:,}" if isinstance(value, int) else plain(value)
        label, own_unit = OTHERS.get(name, (name, unit))
        rows.append({"metric": label, "value": text, "unit": own_unit})
    return rows


def _unit(name: str) -> str:
    from queuesmith.schedule.metrics import METRICS

    metric = METRICS.get(name.partition("[")[0])
    return "" if metric is None or metric.unit == "1" else metric.unit

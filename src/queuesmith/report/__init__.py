"""Reports: policies side by side, as a table, as figures, as one page to hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
    from queuesmith.report.html import write_report

__all__ = ["DEFAULT_METRICS", "Comparison", "write_report"]

__getattr__, __dir__ = door(
    __name__,
    {
        "comparison": ("DEFAULT_METRICS", "Comparison"),
        "html": ("write_report",),
    },
)

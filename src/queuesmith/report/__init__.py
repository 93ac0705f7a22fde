"""Reports: policies side by side, as a table, as figures, as one page to hand on."""

from queuesmith.report.compare import compare
from queuesmith.report.comparison import DEFAULT_METRICS, Comparison
from queuesmith.report.html import write_report

__all__ = ["DEFAULT_METRICS", "Comparison", "compare", "write_report"]

"""Figures as one HTML page that opens anywhere, also offline."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from queuesmith.base.files import AnyPath, atomic_write

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Nothing is ever fetched: the browser itself refuses it.
SECURITY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def write_figures(figures: Sequence[go.Figure], path: AnyPath, *, title: str) -> None:
    """Write figures as one self-contained HTML page, which appears once it is complete."""
    from plotly.offline import get_plotlyjs

    parts = "\n".join(
        figure.to_html(full_html=False, include_plotlyjs=False, div_id=f"figure-{i}")
        for i, figure in enumerate(figures, start=1)
    )
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{SECURITY}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>body {{ font-family: system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; }}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<script>{get_plotlyjs()}</script>
{parts}
</body>
</html>
"""
    with atomic_write(path) as file:
        file.write(page.encode())

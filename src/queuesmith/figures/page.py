"""The one page of all figures and reports: a single file that opens anywhere, also offline."""

from __future__ import annotations

import base64
import functools
import zlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
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
    body = "\n".join(
        f"<section>{embedded(figure, f'figure-{i}')}</section>"
        for i, figure in enumerate(figures, start=1)
    )
    with atomic_write(path) as file:
        file.write(page_html(title, f'<div class="figures">{body}</div>').encode())


def embedded(figure: go.Figure, name: str) -> str:
    """Return a figure as HTML that the script of the page draws; no other may have its name."""
    height = int(figure.layout.height or 450)
    return (
        f'<div class="plot" data-source="{name}" style="height:{height}px"></div>'
        f"{json_script(name, str(figure.to_json()))}"
    )


def json_script(name: str, data: str) -> str:
    """Return JSON for a script of the page; nothing in it can end the element."""
    text = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{name}">{text}</script>'


def page_html(
    title: str, body: str, *, head: str = "", generator: str = "", scripts: Sequence[str] = ()
) -> str:
    """Return a whole page.

    Parameters
    ----------
    title
        The heading.
    body
        HTML of the page.
    head
        HTML below the heading.
    generator
        What made it, for the foot of the page.
    scripts
        Further scripts, which run after that of the figures.
    """
    made = f"Made by {escape(generator)}. " if generator else ""
    further = "\n".join(f"<script>{script}</script>" for script in scripts)
    meta = f'<meta name="generator" content="{escape(generator)}">\n' if generator else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{SECURITY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
{meta}<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{_resource("page.css")}</style>
</head>
<body>
<header class="top"><h1>{escape(title)}</h1>{head}</header>
<main>
{body}
</main>
<footer>{made}This page holds all its data and fetches nothing.</footer>
<script type="text/plain" id="plotly-packed">{_packed_library()}</script>
<script>{_resource("page.js")}</script>
{further}
</body>
</html>
"""


#: How hard the library is deflated: 9 makes it 4 % smaller and takes a second answer's tenth.
QUICK = 4


@functools.cache
def _packed_library() -> str:
    """Return the library that draws, deflated: 2 MB of text instead of 4.8."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(zlib.compress(get_plotlyjs().encode(), QUICK)).decode()


def _resource(name: str) -> str:
    return files("queuesmith.figures").joinpath(name).read_text(encoding="utf-8")

"""One page that shows a comparison: a single file that opens anywhere, also offline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from queuesmith import __version__
from queuesmith.base.checks import of_kind
from queuesmith.base.files import atomic_write
from queuesmith.base.words import so_many
from queuesmith.figures.page import embedded, page_html
from queuesmith.report.comparison import Comparison
from queuesmith.report.sections import (
    Section,
    definitions_section,
    reproduce_section,
    standard_sections,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

    #: What a section of one's own holds: HTML, a figure, or several of them.
    Content: TypeAlias = str | go.Figure | Sequence[str | go.Figure]

SCRIPTS = ("gantt_data.js", "gantt_paint.js", "gantt.js")


def write_report(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    description: str | None = None,
    command: str | None = None,
    code: str | None = None,
    although_untrue: bool = False,
    extra_sections: Sequence[tuple[str, Content]] = (),
) -> Path:
    """Write a comparison as one self-contained HTML page, and return where it is.

    Parameters
    ----------
    comparison
        What is shown.
    path
        The file, which appears only once it is complete.
    title, description
        The heading, and a paragraph below it.
    command
        The command line that made this report, shown under how to reproduce it.
    code
        The Python that makes it again, shown there, too.
    although_untrue
        Name the best policy even where the replays are 20 % or more from what really happened.
    extra_sections
        Further sections, each a title and either HTML (taken as it is, so escape what is not
        yours) or a Plotly figure, or several of them. They stand before the definitions.
    """
    of_kind("the comparison", comparison, Comparison, "Give what compare(...) returned.")
    texts = {"title": title, "description": description, "command": command, "code": code}
    for name, text in texts.items():
        of_kind(f"the {name}", "" if text is None else text, str, "Give a text, or leave it out.")
    policies = so_many(len(comparison.simulated), "policy", "policies")
    real = " with what happened" if len(comparison.policies) > len(comparison.simulated) else ""
    heading = title or f"{comparison.workload.name}: {policies} compared{real}"
    plots = _Plots()
    sections = [
        *standard_sections(comparison, plots.embed, although_untrue=although_untrue),
        *(_extra(i, *section, plots) for i, section in enumerate(extra_sections, start=1)),
        definitions_section(comparison),
        reproduce_section(comparison, command, code),
    ]
    page = _page(heading, description, sections)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def write_sections(
    path: str | os.PathLike[str],
    title: str,
    sections: Sequence[tuple[str, Content]],
    *,
    description: str | None = None,
) -> Path:
    """Write sections, each a title and HTML or figures, as one page; return where it is."""
    plots = _Plots()
    parts = [_extra(i, *section, plots) for i, section in enumerate(sections, start=1)]
    with atomic_write(path) as file:
        file.write(_page(title, description, parts).encode("utf-8"))
    return Path(path)


class _Plots:
    """Numbers the figures of a page."""

    def __init__(self) -> None:
        self._number = count(1)

    def embed(self, figure: go.Figure) -> str:
        return embedded(figure, f"plot-{next(self._number)}")


def _extra(number: int, title: str, content: Content, plots: _Plots) -> Section:
    parts = content if isinstance(content, list | tuple) else [content]
    body = "".join(part if isinstance(part, str) else plots.embed(part) for part in parts)
    return Section(f"more-{number}", title, body)


def _page(title: str, description: str | None, sections: Sequence[Section]) -> str:
    links = "".join(f'<a href="#{each.anchor}">{escape(each.title)}</a>' for each in sections)
    lead = f'<p class="lead">{escape(description)}</p>' if description else ""
    body = "\n".join(
        f'<section id="{each.anchor}"><h2>{escape(each.title)}</h2>{each.body}</section>'
        for each in sections
    )
    return page_html(
        title,
        body,
        head=f'{lead}<nav aria-label="Sections">{links}</nav>',
        generator=f"Queuesmith {__version__}",
        scripts=[_resource(name) for name in SCRIPTS],
    )


def _resource(name: str) -> str:
    return files("queuesmith.report").joinpath(name).read_text(encoding="utf-8")

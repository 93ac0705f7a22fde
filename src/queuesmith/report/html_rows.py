"""Tables of a page: they scroll by themselves where the page is too narrow for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def html_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of named values as a table; the first of a row is its head."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return scrolling_table(
        (escape(str(name)) for name in names),
        (html_row(*(_cell(row.get(name)) for name in names)) for row in rows),
    )


def scrolling_table(heads: Iterable[str], rows: Iterable[str], kind: str = "") -> str:
    """Return a table of what is HTML already.

    Parameters
    ----------
    heads
        What stands in the head of each column.
    rows
        The rows, as ``html_row`` makes them.
    kind
        The class that the style sheet knows, where it has one.
    """
    named = f' class="{kind}"' if kind else ""
    above = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<div class="scroll"><table{named}><thead><tr>{above}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def html_row(head: str, *cells: str) -> str:
    """Return a row of cells that are HTML already."""
    beside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{head}</th>{beside}</tr>'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return escape(str(value))

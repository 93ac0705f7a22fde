"""How results reach the terminal: tables, JSON, CSV, and progress."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queuesmith.workload import Workload


#: The width of lines that go to a file or a pipe.
WIDE = 200
#: How many characters stand between two columns of a table.
GAP = 2


class Format(StrEnum):
    """What a listing is printed as."""

    table = "table"
    json = "json"
    csv = "csv"


def print_json(content: Any) -> None:
    """Print as JSON; numbers that JSON does not know become null."""
    print(json.dumps(_known(content), indent=2, allow_nan=False, default=str))


def _known(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _known(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_known(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def print_rows(rows: Sequence[Mapping[str, Any]], format: Format) -> None:
    """Print rows of named values in the format asked for."""
    if format is Format.json:
        print_json(list(rows))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        print_table(rows)


def print_facts(facts: Mapping[str, Any], format: Format) -> None:
    """Print facts by name: all of them as JSON, else those that fill one cell, a line each."""
    if format is Format.json:
        print_json(facts)
        return
    plain = (str, int, float, type(None))
    rows = [
        {"what": name, "value": each} for name, each in facts.items() if isinstance(each, plain)
    ]
    print_rows(rows, format)


def print_table(rows: Sequence[Mapping[str, Any]], *, right: Sequence[str] = ()) -> None:
    """Print rows as a table; what does not fit a line goes on in the next, and nothing is cut.

    Parameters
    ----------
    rows
        One mapping for each row, all with the same names.
    right
        Columns of text that end at the right, as numbers do anyway.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    names = list(rows[0]) if rows else []
    cells = {name: [_cell(row[name]) for row in rows] for name in names}
    natural = sum(max(map(len, [name, *cells[name]])) for name in names)
    narrow = natural + GAP * len(names) > line_width()
    heads = {
        name: name.replace("_", "_\n").replace(" ", "\n") if narrow else name for name in names
    }
    least = {name: _longest_word([heads[name], *cells[name]]) for name in names}
    fits = sum(least.values()) + GAP * len(names) <= line_width()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        is_text = all(isinstance(row[name], str) for row in rows) and name not in right
        table.add_column(
            heads[name],
            justify="left" if is_text else "right",
            overflow="fold",
            min_width=least[name] if fits else None,  # or rich would cut the last columns
        )
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    Console(width=line_width(), highlight=False, markup=False).print(table)


def _longest_word(texts: Sequence[str]) -> int:
    return max(len(word) for text in texts for word in text.split() or [""])


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else readable(value)


def print_sentences(*sentences: str) -> None:
    """Print sentences as paragraphs, broken between words where lines of a terminal end."""
    for sentence in filter(None, sentences):
        lines = textwrap.wrap(
            sentence, line_width(), break_long_words=False, break_on_hyphens=False
        )
        print(*lines, sep="\n")


def line_width() -> int:
    """Return how many characters a line has: a terminal's, or many where nobody looks at one."""
    watched = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if watched else WIDE


def readable(value: Any) -> str:
    """Return a number as people read it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def tell(sentence: str, *, quiet: bool = False) -> None:
    """Say something beside the result, on stderr."""
    if not quiet:
        print(sentence, file=sys.stderr)


def tell_changes(workload: Workload, *, quiet: bool = False, since: int = 0) -> None:
    """Say what was dropped or mended, and why; those before number ``since`` were told already."""
    for change in workload.changes[since:]:
        tell(f"note: {change}", quiet=quiet)


def check_targets(*paths: Path | None) -> None:
    """Refuse files that cannot be written before the work begins, not after."""
    from queuesmith.base.files import checked_target

    for path in paths:
        if path is not None:
            checked_target(path)


def on_terminal() -> bool:
    """Tell whether somebody watches stderr."""
    return sys.stderr.isatty()


@contextmanager
def progress(task: str, *, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Show a bar on the terminal once the work has taken more than a second.

    Yields a function to call with the share done, 0 to 1.
    """
    began = time.monotonic()
    shown = not quiet and on_terminal()
    with ExitStack() as stack:
        bar: _Bar | None = None

        def report(share: float) -> None:
            nonlocal bar
            if bar is None and shown and time.monotonic() - began > 1:
                bar = stack.enter_context(_Bar(task))
            if bar is not None:
                bar.update(share)

        yield report


class _Bar:
    """A bar on stderr that goes away when it is done."""

    def __init__(self, task: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        share = TextColumn("{task.percentage:>3.0f} %")
        columns = (TextColumn("{task.description}"), BarColumn(), share, TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(task, total=1.0)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, share: float) -> None:
        self._bar.update(self._task, completed=share)


@contextmanager
def working(task: str, *, quiet: bool = False) -> Iterator[None]:
    """Show that something of unknown length goes on."""
    if quiet or not on_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(task):
        yield

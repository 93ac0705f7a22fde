"""Tables of numbers and names as people write them, read with one sentence a mistake."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.base.words import so_many

SEPARATORS = ",;\t"
TABLE_SUFFIXES = (".csv", ".tsv")
#: No number of jobs or machines has more.
MOST_DIGITS = 15
INFINITE = ("inf", "+inf", "infinity", "+infinity")


def text_of(path: AnyPath, what: str) -> str:
    """Return the text of a file, plain or gzipped; an error where there is none."""
    text = decoded(check_text(read_bytes(path), path, what)).strip("\r\n")
    if not text.strip(" \r\n"):
        raise WorkloadError(f"'{path}' is empty, but {what} is to be read. Give another file.")
    return text


def has_separator(text: str) -> bool:
    """Tell whether the first line has a separator between cells, other than blanks."""
    return any(separator in text[:100_000].split("\n", 1)[0].strip() for separator in SEPARATORS)


def rows_of(text: str, path: AnyPath) -> list[list[str]]:
    """Return the cells of a table, separated as its first line is; by blanks if by nothing else."""
    first = text.split("\n", 1)[0]
    if not has_separator(text):
        words = [line.split() for line in text.splitlines() if line.strip()]
        if words and all(len(line) > 1 for line in words):
            return words
    separator = max(SEPARATORS, key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise WorkloadError(
            f"'{path}' is no table ({error}). Write it again as CSV, a row for each job."
        ) from None
    return [[cell.strip() for cell in line] for line in lines if any(line) or len(line) > 1]


def one_width(rows: list[list[str]], path: AnyPath) -> int:
    """Return how many cells every row has; an error where they differ."""
    width = len(rows[0])
    for place, row in enumerate(rows):
        if len(row) != width:
            raise WorkloadError(
                f"row {place + 1} of '{path}' has {so_many(len(row), 'cell')}, but the first has "
                f"{width}. Give every row as many; leave a cell empty where a machine cannot run a "
                "job."
            )
    return width


def numbers(rows: list[list[str]], path: AnyPath) -> NDArray[np.float64]:
    """Return the cells as numbers; an empty one is a machine that cannot run the job."""
    table = [[math.inf if not cell else number(cell) for cell in row] for row in rows]
    for row, (values, cells) in enumerate(zip(table, rows, strict=True)):
        if None in values:
            column = values.index(None)
            raise WorkloadError(
                f"'{path}' has '{cells[column][:40]}' in row {row + 1} of its times, column "
                f"{column + 1}, which is no number. Correct it, or give inf where a machine "
                "cannot run a job."
            )
    return np.array(table, dtype=np.float64)


def is_name(cell: str) -> bool:
    """Tell whether a cell holds a word rather than a number."""
    return bool(cell) and number(cell) is None


def number(word: str) -> float | None:
    """Return a word as a number, or None; one too large to be held is none."""
    try:
        value = float(word)
    except ValueError:
        return None
    if "_" in word or (math.isinf(value) and word.lower().strip() not in INFINITE):
        return None
    return value


def whole(word: str, what: str, path: AnyPath) -> int:
    """Return a word of digits as a number; an error where it is none that can be meant."""
    if not (word.isascii() and word.isdigit()) or len(word) > MOST_DIGITS:
        shown = f"'{word[:40]}'" if len(word) <= 40 else f"a word of {len(word):,} characters"
        raise WorkloadError(
            f"'{path}' has {shown} where {what} is due, a whole number from 0 of at most "
            f"{MOST_DIGITS} digits. Correct it."
        )
    return int(word)


def csv_text(rows: Sequence[Sequence[str]], separator: str = ",") -> bytes:
    """Return rows as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()

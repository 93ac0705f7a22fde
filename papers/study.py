"""What all studies share: where the real data lies, and how tables and pages are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"


def data_folder(part: str) -> Path:
    """Return a folder of the real data, or stop with a clear word."""
    folder = Path(os.environ.get("QUEUESMITH_DATA", ROOT.parent / "shared")) / part
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}: set QUEUESMITH_DATA to the folder of real data.")
    return folder


def markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a Markdown table; what a row lacks is a dash."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(row.get(head, "-")) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def section(title: str, note: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return a section of a page: its title, what the table tells, and the table."""
    return f"## {title}\n\n{note}\n\n{markdown(rows)}"


def keep_page(text: str, path: Path) -> None:
    """Write the page of a study, and print it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(text)


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and half its 95 % interval (Student's t); None of fewer than two values."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return mean, None
    from scipy.stats import t

    deviation = (sum((value - mean) ** 2 for value in values) / (count - 1)) ** 0.5
    return mean, float(t.ppf(0.975, count - 1)) * deviation / count**0.5


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """Return how well two rows of numbers agree in their order: 1 where fully, -1 where opposed."""
    first, second = (np.argsort(np.argsort(values, kind="stable")) for values in (one, other))
    return float(np.corrcoef(first, second)[0, 1])

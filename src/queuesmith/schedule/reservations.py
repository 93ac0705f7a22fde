"""Advance reservations: so many cores from one instant to another, asked for and answered.

A request is answered at once, as planning systems do: it is accepted if the running jobs, by their
walltimes, and the reservations accepted before leave room; waiting jobs have to plan around it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import atomic_write, read_bytes
from queuesmith.workload.columns import LARGEST_TIME

COLUMNS = ("id", "submit", "begin", "end", "cores")


@dataclass(frozen=True)
class Request:
    """Somebody asks, at ``submit``, for cores from ``begin`` up to, not including, ``end``."""

    id: int
    submit: int
    begin: int
    end: int
    cores: int

    def __post_init__(self) -> None:
        if not (0 <= self.submit <= self.begin < self.end):
            raise WorkloadError(
                f"reservation {self.id} is asked for at {self.submit}, from {self.begin} to "
                f"{self.end}, but it must be submit <= begin < end, from second 0 on. Correct it."
            )
        if self.end > LARGEST_TIME:
            raise WorkloadError(
                f"reservation {self.id} ends at {self.end}, but a time is at most {LARGEST_TIME} "
                "seconds. Correct it."
            )
        if self.cores < 1:
            raise WorkloadError(
                f"reservation {self.id} asks for {self.cores} cores, but it must be at least 1. "
                "Correct it."
            )


@dataclass(frozen=True)
class RequestAnswer:
    """What was answered to a request, and how long the answer took."""

    request: Request
    accepted: bool
    alternative: int | None  # where declined: the earliest begin with room for it
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the request and its answer, ready for JSON."""
        return {
            **{column: getattr(self.request, column) for column in COLUMNS},
            "accepted": self.accepted,
            "alternative": self.alternative,
            "milliseconds": self.seconds * 1e3,
        }


def check_requests(requests: Iterable[Request], cores: int) -> tuple[Request, ...]:
    """Return requests in the order in which they are made; raise where one can never be met."""
    ordered = tuple(sorted(requests, key=lambda request: (request.submit, request.id)))
    for request in ordered:
        if request.cores > cores:
            raise WorkloadError(
                f"reservation {request.id} asks for {request.cores} cores, but the machine has "
                f"{cores}. Ask for fewer."
            )
    return ordered


def read_requests(path: str | Path) -> tuple[Request, ...]:
    """Read requests from a CSV file with the columns id, submit, begin, end, cores."""
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    # Lines may end as on any system; cells have no line ends, for they are numbers.
    rows = csv.DictReader(text.splitlines())
    try:
        missing = set(COLUMNS) - set(rows.fieldnames or ())
        if missing:
            raise WorkloadError(
                f"reservation file '{path}' has no column '{min(missing)}'. It needs: "
                f"{', '.join(COLUMNS)}."
            )
        return tuple(_request(row, path, rows.line_num) for row in rows)
    except csv.Error as error:
        raise WorkloadError(
            f"reservation file '{path}' is not CSV ({error}). Correct it."
        ) from None


def _request(row: dict[str, Any], path: str | Path, line: int) -> Request:
    values = {}
    for column in COLUMNS:
        try:
            values[column] = int(row[column])
        except (TypeError, ValueError) as error:
            raise WorkloadError(
                f"reservation file '{path}', line {line}: {column} is {row[column]!r:.60}, but it "
                "must be a whole number. Correct it."
            ) from error
    return Request(**values)


def write_answers(answers: Sequence[RequestAnswer], path: str | Path) -> None:
    """Write each request with its answer as CSV."""
    buffer = io.StringIO()
    columns = [*COLUMNS, "accepted", "alternative", "milliseconds"]
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    for answer in answers:
        told = answer.to_dict()
        told |= {"accepted": int(told["accepted"]), "milliseconds": f"{told['milliseconds']:.3f}"}
        writer.writerow(told)
    with atomic_write(path) as file:
        file.write(buffer.getvalue().encode())


def summarize_answers(answers: Sequence[RequestAnswer]) -> dict[str, float | int]:
    """Return how requests were answered and how long that took."""
    milliseconds = np.array([answer.seconds * 1e3 for answer in answers])
    return {
        "requests": len(answers),
        "accepted": sum(answer.accepted for answer in answers),
        "declined": sum(not answer.accepted for answer in answers),
        "mean_answer_milliseconds": float(milliseconds.mean()) if len(answers) else 0.0,
        "max_answer_milliseconds": float(milliseconds.max()) if len(answers) else 0.0,
    }

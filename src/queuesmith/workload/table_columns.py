"""Named columns of any table made a workload, and a workload made named columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, log_name
from queuesmith.workload.clean import Overrun, RawLog, clean
from queuesmith.workload.columns import LARGEST_TIME
from queuesmith.workload.groups import named_groups
from queuesmith.workload.workload import CORE_COLUMNS, Change, Ints, Workload

REQUIRED = ("submit", "runtime", "cores")
#: Columns by which the real start of a job may be given; the first that is there counts.
STARTS = ("real_start", "start", "wait")
TIMES = ("submit", "runtime", "walltime", *STARTS)
KNOWN = (*CORE_COLUMNS, *STARTS)
#: The one text column that stays text: how Slurm spells the job's id.
PLAIN_TEXT = ("jobid",)
LARGEST_EXACT = 2**53

Columns = dict[str, NDArray[Any]]
Labels = dict[str, tuple[str, ...]]


def coded(texts: Collection[str]) -> tuple[Ints, tuple[str, ...]]:
    """Return texts as numbers and what each number stands for; an empty text is -1.

    >>> codes, names = coded(["eve", "", "bob", "eve"])
    >>> codes.tolist(), names
    ([1, -1, 0, 1], ('bob', 'eve'))
    """
    stripped = {text: text.strip() for text in set(texts)}
    names = tuple(sorted(set(stripped.values()) - {""}))
    number = {name: code for code, name in enumerate(names)}
    code_of = {text: number.get(name, -1) for text, name in stripped.items()}
    return np.array([code_of[text] for text in texts], dtype=np.int64), names


# -- names of columns ----------------------------------------------------------------------


def column_names(names: Iterable[str], path: AnyPath) -> list[str]:
    """Return names in small letters where they are looked for; each may stand once."""
    known = [name.lower() if name.lower() in KNOWN else name for name in names]
    twice = next((name for name in known if known.count(name) > 1), None)
    if twice is not None:
        raise WorkloadError(
            f"'{path}' has the column {twice!r} twice, but a column's name stands once. Rename it."
        )
    return known


# -- columns into a workload ---------------------------------------------------------------


def workload_of(
    columns: Columns, facts: Mapping[str, Any], path: AnyPath, *, overrun: Overrun, strict: bool
) -> Workload:
    """Return the jobs that columns describe; ``facts`` is what else is known of the log."""
    _check_columns(columns, path)
    count = len(columns["submit"])
    rounded = np.zeros(count, dtype=np.bool_)
    for name in columns.keys() & set(TIMES):
        columns[name], fractions = _seconds(columns[name], name, path)
        rounded |= fractions
    columns, labels = _numbered(columns, facts.get("labels", {}), path)
    unknown = np.full(count, -1, dtype=np.int64)
    log = RawLog(
        id=columns.get("id", np.arange(1, count + 1)),
        submit=columns["submit"],
        runtime=columns["runtime"],
        requested_time=columns.get("walltime", unknown),
        requested_cores=columns["cores"],
        allocated_cores=unknown,
        user=columns.get("user", np.zeros(count, dtype=np.int64)),
        extra={**_extra(columns), "rounded": rounded},
        labels=labels,
        name=log_name(path),
        machine_cores=facts.get("machine_cores"),
        epoch=facts.get("epoch"),
        header=facts.get("header", ()),
    )
    return _finished(clean(log, overrun=overrun, strict=strict))


def _finished(workload: Workload) -> Workload:
    """Take the columns that only travelled along through cleaning to their places."""
    extra = dict(workload.extra)
    mended = int(np.count_nonzero(extra.pop("rounded")))
    group = extra.pop("group", workload.group)
    change = Change("fractions of a second rounded", mended, dropped=False)
    return workload.replaced(extra=extra, group=group).noting(change)


def _check_columns(columns: Columns, path: AnyPath) -> None:
    for name in REQUIRED:
        if name not in columns:
            raise WorkloadError(
                f"'{path}' has no column '{name}', but every job needs one. It has: "
                f"{', '.join(columns) or '(none)'}. Rename or add it."
            )


def _seconds(values: NDArray[Any], name: str, path: AnyPath) -> tuple[Ints, NDArray[np.bool_]]:
    """Return times as whole seconds, -1 where unknown, and which of them had a fraction."""
    if values.dtype == np.int64:
        return values, np.zeros(len(values), dtype=np.bool_)
    numbers = _as_numbers(values, name, path)
    known = np.where(np.isnan(numbers), -1.0, numbers)
    whole = np.clip(np.rint(known), -LARGEST_EXACT, LARGEST_EXACT)
    return whole.astype(np.int64), whole != known


def _as_numbers(values: NDArray[Any], name: str, path: AnyPath) -> NDArray[np.float64]:
    if values.dtype != object:
        return values.astype(np.float64)
    numbers = np.full(len(values), np.nan)
    for row, text in enumerate(values):
        try:
            numbers[row] = float(text or "nan")
        except ValueError:
            raise WorkloadError(
                f"job {row + 1} of '{path}' has {text[:40]!r} as {name}, but that is a number "
                "(empty or -1 where unknown). Correct it."
            ) from None
    return numbers


def _numbered(
    columns: Columns, stored: Mapping[str, tuple[str, ...]], path: AnyPath
) -> tuple[Columns, Labels]:
    """Return the columns with whole numbers where they must be, and names where texts stood."""
    labels: Labels = {}
    numbered: Columns = {}
    for name, values in columns.items():
        if name in stored:
            values, labels[name] = _recoded(values, stored[name])
        elif name in PLAIN_TEXT:
            values = values.astype(str)
        elif values.dtype == object and name not in ("cores", "id"):
            values, labels[name] = coded(values.tolist())
            if name == "group":
                values, labels[name] = named_groups(values, labels[name])
        elif name in CORE_COLUMNS and values.dtype != np.int64:
            values = _whole(_as_numbers(values, name, path), name, path)
        numbered[name] = values
    return numbered, labels


def _recoded(values: NDArray[Any], names: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    """Return the numbers behind texts by the names that were stored with them."""
    number = {name: code for code, name in enumerate(names)}
    further = sorted({str(text) for text in values} - set(names) - {""})
    number |= {
        text: int(text) if text.isascii() and text.isdigit() and len(text) < 16 else len(names) + i
        for i, text in enumerate(further)
    }
    codes = (number.get(str(text), -1) for text in values)
    return np.fromiter(codes, dtype=np.int64, count=len(values)), names


def _whole(numbers: NDArray[np.float64], name: str, path: AnyPath) -> Ints:
    known = np.where(np.isnan(numbers), -1.0, numbers)
    broken = (known != np.rint(known)) | (np.abs(known) > LARGEST_EXACT)
    if broken.any():
        row = int(np.argmax(broken))
        raise WorkloadError(
            f"job {row + 1} of '{path}' has {known[row]} as {name}, but that is a whole number "
            "below 2**53. Correct it."
        )
    return known.astype(np.int64)


def _extra(columns: Columns) -> Columns:
    extra = {k: v for k, v in columns.items() if k not in CORE_COLUMNS and k != "start"}
    if "group" in columns:
        extra["group"] = columns["group"]
    source = next((name for name in STARTS if name in columns), None)
    if source:
        real_start = columns[source]
        if source == "wait":
            real_start = np.where(real_start >= 0, columns["submit"] + real_start, -1)
        known = (real_start >= columns["submit"]) & (real_start <= LARGEST_TIME)
        extra["real_start"] = np.where(known, real_start, -1)
        if not known.any():
            del extra["real_start"]
    return extra


# -- a workload into columns ---------------------------------------------------------------


def named_columns(workload: Workload) -> dict[str, list[Any]]:
    """Return the columns of all jobs, numbers that have a name as the name."""
    first = int(workload.submit.min()) if len(workload) else 0
    if first < 0:
        workload = workload.shift(-first)
    columns: Columns = {column: getattr(workload, column) for column in CORE_COLUMNS}
    further = {str(k): v for k, v in workload.extra.items() if k not in CORE_COLUMNS}
    return {
        name: _named(values, workload.labels.get(name, ()))
        for name, values in {**columns, **further}.items()
    }


def _named(values: NDArray[Any], names: tuple[str, ...]) -> list[Any]:
    if np.issubdtype(values.dtype, np.floating):
        return [None if value != value else value for value in values.tolist()]
    if not names or not np.issubdtype(values.dtype, np.integer):
        return list(values.tolist())
    # A number without a name is written as it is; one below 0 means unknown.
    lookup = {code: "" if code < 0 else str(code) for code in set(values.tolist())}
    lookup |= dict(enumerate(names))
    return [lookup[code] for code in values.tolist()]

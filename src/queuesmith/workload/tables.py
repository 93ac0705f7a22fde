"""Tables with named columns: CSV and Parquet."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import of_kind, whole_number
from queuesmith.base.errors import OutputError, QueuesmithError, WorkloadError
from queuesmith.base.extras import extra_library
from queuesmith.base.files import (
    AnyPath,
    atomic_write,
    check_text,
    check_unpacked,
    decoded,
    format_suffix,
    read_bytes,
    unpack_limit,
    write_bytes,
)
from queuesmith.base.words import so_many
from queuesmith.workload.clean import Overrun
from queuesmith.workload.table_columns import (
    PLAIN_TEXT,
    Columns,
    column_names,
    named_columns,
    workload_of,
)
from queuesmith.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = ",;\t"
_METADATA_KEY = b"queuesmith"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def read_csv(path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False) -> Workload:
    """Read jobs from a CSV file with a header line, plain or gzipped.

    Parameters
    ----------
    path
        The file. Columns are separated by commas, semicolons or tabs. ``submit``, ``runtime`` and
        ``cores`` must be there; ``id``, ``walltime``, ``user``, ``group`` and ``real_start`` (or
        ``start``, or ``wait``) may be; any other column becomes an extra column.
    overrun
        What to do where a job ran longer than its walltime: ``"raise"`` the walltime to the
        runtime, or ``"cut"`` the job at its walltime.
    strict
        Raise instead of leaving jobs out.
    """
    return parse_csv(read_bytes(path), path, overrun=overrun, strict=strict)


def parse_csv(
    data: bytes, path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False
) -> Workload:
    """Read jobs from bytes; ``path`` is what messages call them."""
    text = decoded(check_text(data, path, "CSV"))
    return workload_of(_csv_columns(text, path), {}, path, overrun=overrun, strict=strict)


def read_parquet(path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False) -> Workload:
    """Read jobs from a Parquet file; columns and options are those of ``read_csv``.

    Dates become Unix seconds and durations seconds. A file that ``write_parquet`` wrote also
    gives back the numbers behind names, the size of the machine, the epoch and the header.
    """
    return parse_parquet(read_bytes(path), path, overrun=overrun, strict=strict)


def parse_parquet(
    data: bytes, path: AnyPath, *, overrun: Overrun = "raise", strict: bool = False
) -> Workload:
    """Read jobs from bytes; ``path`` is what messages call them."""
    pyarrow, parquet = _pyarrow(WorkloadError)
    if not data.startswith(b"PAR1"):
        raise WorkloadError(
            f"'{path}' is not a Parquet file (it begins with {data[:4]!r}, not b'PAR1'). "
            "Name the format of the file."
        )
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data))
        _check_size(file.metadata, data, path)
        table = file.read()
        names = column_names(map(str, table.column_names), path)
        columns = {name: _from_arrow(pyarrow, table.column(i)) for i, name in enumerate(names)}
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WorkloadError(
            f"'{path}' is a damaged or unusual Parquet file ({reason}). Write it again."
        ) from None
    facts = _stored_facts((table.schema.metadata or {}).get(_METADATA_KEY))
    return workload_of(columns, facts, path, overrun=overrun, strict=strict)


def _check_size(metadata: Any, data: bytes, path: AnyPath) -> None:
    """Raise where a small file would fill the memory: a repeated number takes hardly any room."""
    cells = int(metadata.num_rows) * max(int(metadata.num_columns), 1)
    check_unpacked(8 * cells, unpack_limit(len(data)), len(data), path)


def write_csv(workload: Workload, path: AnyPath) -> None:
    """Write the jobs as CSV, one row a job; numbers that have a name are written as the name.

    The separator is a tab where the name ends in ``.tsv``; ``.gz`` after either compresses. Submit
    times below 0 are moved up to begin at 0.
    """
    columns = {_one_line(name): _one_lines(c) for name, c in named_columns(workload).items()}
    text = io.StringIO(newline="")
    separator = "\t" if format_suffix(path) == ".tsv" else ","
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_bytes(path, text.getvalue().encode("utf-8", "replace"))


def write_parquet(workload: Workload, path: AnyPath) -> None:
    """Write the jobs as Parquet, with the same columns as ``write_csv``.

    The labels, the size of the machine, the epoch and the header go into the file's metadata.
    """
    pyarrow, parquet = _pyarrow(OutputError)
    facts = {
        "machine_cores": workload.machine_cores,
        "epoch": workload.epoch,
        "header": workload.header,
        "labels": dict(workload.labels),
    }
    table = pyarrow.table(named_columns(workload))
    table = table.replace_schema_metadata({_METADATA_KEY: json.dumps(facts).encode()})
    with atomic_write(path) as file:
        parquet.write_table(table, file)


def from_frame(
    frame: pd.DataFrame, *, name: str = "workload", cores: int | None = None
) -> Workload:
    """Make a workload of a pandas table, one row a job.

    Parameters
    ----------
    frame
        Columns as in a CSV file: ``submit``, ``runtime`` and ``cores`` must be there; ``id``,
        ``walltime``, ``user``, ``group`` and ``real_start`` (or ``start``, or ``wait``) may be; any
        other becomes an extra column. Dates become Unix seconds, durations seconds.
    name
        What figures and messages call it.
    cores
        The size of the machine that the jobs come from, where it is known.

    >>> import pandas as pd
    >>> from_frame(pd.DataFrame({"submit": [0], "runtime": [5], "cores": [2]}))
    <Workload 'workload': 1 job over 0.0 days>
    """
    import pandas as pd

    of_kind("the table", frame, pd.DataFrame, "Make one with pandas, or read a file: read(...).")
    names = column_names(map(str, frame.columns), name)
    columns = {each: _from_pandas(_as_seconds(frame.iloc[:, i])) for i, each in enumerate(names)}
    facts = {}
    if cores is not None:
        facts["machine_cores"] = whole_number("cores", cores, 1, "Give the size of the machine.")
    made = workload_of(columns, facts, name, overrun="raise", strict=False)
    return made.renamed(name)


def _as_seconds(column: Any) -> Any:
    """Return dates as Unix seconds and durations as seconds, missing ones as -1."""
    if column.dtype.kind not in "mM":
        return column
    if getattr(column.dt, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    unit = "datetime64[s]" if column.dtype.kind == "M" else "timedelta64[s]"
    return column.astype(unit).astype("int64").where(column.notna(), -1)


def check_parquet() -> None:
    """Raise where Parquet cannot be written here."""
    _pyarrow(OutputError)


def _one_line(text: str) -> str:
    """Return text without line ends and other control characters, which CSV cannot hold safely."""
    return text if text.isprintable() else _CONTROL.sub(" ", text)


def _one_lines(cells: list[Any]) -> list[Any]:
    if not cells or not isinstance(cells[0], str):
        return cells
    cleaned = {text: _one_line(text) for text in set(cells)}
    return [cleaned[text] for text in cells]


# -- files into columns --------------------------------------------------------------------


def _csv_columns(text: str, path: AnyPath) -> Columns:
    import pandas as pd

    first = text.lstrip("\r\n").partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    names, count = _csv_shape(text, separator, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.StringIO(text, newline=""),
                sep=separator,
                header=0,
                names=list(range(len(names))),
                index_col=False,
                dtype={i: str for i, name in enumerate(names) if name in PLAIN_TEXT},
                keep_default_na=False,
                na_values=[""],
                skipinitialspace=True,
                low_memory=False,
            )
        if len(frame) != count:
            raise ValueError(f"{len(frame)} rows instead of {count}; check its quotes")
    except (ValueError, OverflowError, pd.errors.ParserWarning) as error:
        reason = str(error).partition("\n")[0]
        raise WorkloadError(f"'{path}' is not CSV ({reason}). Correct the file.") from None
    return {name: _from_pandas(frame[i]) for i, name in enumerate(names)}


def _csv_shape(text: str, separator: str, path: AnyPath) -> tuple[list[str], int]:
    """Return the names of the columns and the number of rows; refuse a row of another width."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    names: list[str] = []
    count = 0
    try:
        for row in reader:
            if row and not names:
                names = column_names((cell.strip() for cell in row), path)
            elif row and len(row) != len(names):
                raise WorkloadError(
                    f"line {reader.line_num} of '{path}' has {so_many(len(row), 'column')}, but "
                    f"the header line has {len(names)}. Correct the line."
                )
            elif row:
                count += 1
    except csv.Error as error:
        raise WorkloadError(
            f"line {reader.line_num} of '{path}' is not CSV ({error}). Correct the line."
        ) from None
    return names, count


def _from_pandas(column: Any) -> NDArray[Any]:
    """Return a column as whole numbers, else as numbers, else as text."""
    if column.dtype.kind in "iub" and column.dtype != np.uint64:
        return np.array(column, dtype=np.int64)
    if column.dtype.kind in "fu":
        return np.array(column, dtype=np.float64)
    texts = column.fillna("").astype(str).str.strip()
    return np.array(texts.to_numpy(dtype=object), dtype=object)


def _from_arrow(pyarrow: Any, column: Any) -> NDArray[Any]:
    kind, types = column.type, pyarrow.types
    if types.is_timestamp(kind):
        column = column.cast(pyarrow.timestamp("s", kind.tz), safe=False).cast(pyarrow.int64())
    elif types.is_date(kind):
        column = column.cast(pyarrow.timestamp("s")).cast(pyarrow.int64())
    elif types.is_duration(kind):
        column = column.cast(pyarrow.duration("s"), safe=False).cast(pyarrow.int64())
    elif types.is_floating(kind) or types.is_decimal(kind):
        return np.array(column.cast(pyarrow.float64()).fill_null(float("nan")).to_numpy())
    elif not (types.is_integer(kind) or types.is_boolean(kind)):
        texts = ["" if cell is None else str(cell) for cell in column.to_pylist()]
        return np.array(texts, dtype=object)
    return np.array(column.cast(pyarrow.int64()).fill_null(-1).to_numpy())


def _pyarrow(error: type[QueuesmithError]) -> tuple[Any, Any]:
    pyarrow = extra_library(
        "pyarrow", "parquet", "a Parquet file", otherwise="use CSV", error=error
    )
    return pyarrow, importlib.import_module("pyarrow.parquet")


def _stored_facts(stored: bytes | None) -> dict[str, Any]:
    """Return what ``write_parquet`` stored beside the jobs, as far as it is sound."""
    try:
        facts = json.loads(stored or b"{}")
        labels = {str(k): tuple(map(str, v)) for k, v in facts.get("labels", {}).items()}
        header = tuple(map(str, facts.get("header", ())))
        numbers = {key: facts.get(key) for key in ("machine_cores", "epoch")}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}
    numbers = {key: value for key, value in numbers.items() if type(value) is int and value > 0}
    return {**numbers, "labels": labels, "header": header}

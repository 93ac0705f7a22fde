"""The table of a sweep as a file: Parquet, or CSV."""

from __future__ import annotations

import importlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.base.extras import extra_library
from queuesmith.base.files import AnyPath, atomic_write, read_bytes
from queuesmith.base.json import Schema, check_schema, parse_json
from queuesmith.knobs.setting import NAMES
from queuesmith.knobs.sweep_result import TERMS, SweepResult
from queuesmith.study.store import remove_record

if TYPE_CHECKING:
    import pandas as pd

_KEY = b"queuesmith sweep"
_COMMENT = b"# queuesmith sweep "
_SUFFIXES = (".parquet", ".csv")
_FACTS: Schema = {
    "log": (str, True),
    "jobs": (int, True),
    "cores": (int, True),
    "scheduler": (str, True),
    "seconds": ((int, float), True),
}
_COLUMNS = (*NAMES, *map(str, TERMS), "replayed")


def check_suffix(path: AnyPath) -> Path:
    """Return the path of a table; an error unless it ends in .parquet or .csv."""
    chosen = Path(path)
    if chosen.suffix.lower() not in _SUFFIXES:
        raise UsageError(
            f"the table '{path}' must be Parquet or CSV. End its name in .parquet or .csv."
        )
    return chosen


def save_sweep(result: SweepResult, path: AnyPath, *, keep: AnyPath | None = None) -> None:
    """Write one row a setting; the file appears only once it is complete.

    ``keep`` is the file in which the sweep kept what was done: it is removed after that.
    """
    target = check_suffix(path)
    facts = json.dumps({name: getattr(result, name) for name in _FACTS}).encode()
    if target.suffix.lower() == ".csv":
        with atomic_write(target) as file:
            file.write(_COMMENT + facts + b"\n")
            table = result.to_frame().astype({"replayed": int})
            file.write(table.to_csv(index=False, lineterminator="\n", na_rep="nan").encode())
    else:
        pyarrow, parquet = _pyarrow()
        table = pyarrow.Table.from_pandas(result.to_frame(), preserve_index=False)
        with atomic_write(target) as file:
            parquet.write_table(table.replace_schema_metadata({_KEY: facts}), file)
    if keep is not None:
        remove_record(keep)


def read_sweep(path: AnyPath) -> SweepResult:
    """Read what ``save_sweep`` wrote."""
    target = check_suffix(path)
    data = read_bytes(target)
    facts, table = _from_csv(data) if target.suffix.lower() == ".csv" else _from_parquet(data, path)
    missing = [column for column in _COLUMNS if table is None or column not in table.columns]
    if facts is None or table is None or missing or not len(table):
        raise WorkloadError(
            f"'{path}' is not the table of a sweep. "
            "Make one with 'queuesmith sweep LOG --out FILE'."
        )
    what = f"what '{path}' tells of its sweep"
    content = parse_json(facts, what, error=WorkloadError)
    check_schema(content, _FACTS, what, error=WorkloadError)
    numbers = _numbers(table[list(_COLUMNS)], path)
    return SweepResult(
        settings=numbers[:, : len(NAMES)],
        costs=numbers[:, len(NAMES) : -1],
        replayed=numbers[:, -1] != 0,
        **content,
    )


def _numbers(table: pd.DataFrame, path: AnyPath) -> np.ndarray[tuple[int, int], Any]:
    try:
        return np.ascontiguousarray(table.to_numpy(np.float64))
    except (TypeError, ValueError) as error:
        raise WorkloadError(
            f"'{path}' has a column of a sweep that holds no numbers. Make it again."
        ) from error


def _from_csv(data: bytes) -> tuple[bytes | None, pd.DataFrame | None]:
    import pandas as pd

    first, _, rest = data.partition(b"\n")
    head, _, rows = rest.partition(b"\n")
    if not first.startswith(_COMMENT) or not rows.strip():
        return None, None
    try:
        # numpy reads back the very numbers that were written; pandas may be off by the last digit.
        values = np.loadtxt(io.BytesIO(rows), delimiter=",", ndmin=2)
        table = pd.DataFrame(values, columns=pd.Index(head.decode().split(",")))
        return first.removeprefix(_COMMENT), table
    except ValueError:
        return None, None


def _from_parquet(data: bytes, path: AnyPath) -> tuple[bytes | None, pd.DataFrame | None]:
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
        return (table.schema.metadata or {}).get(_KEY), table.to_pandas()
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise WorkloadError(
            f"'{path}' cannot be read as Parquet ({reason}). Make it again."
        ) from error


def _pyarrow() -> tuple[Any, Any]:
    pyarrow = extra_library(
        "pyarrow", "parquet", "Parquet", otherwise="name a .csv file", error=OutputError
    )
    return pyarrow, importlib.import_module("pyarrow.parquet")

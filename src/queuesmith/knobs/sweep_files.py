"""The table of a sweep as a file: Parquet, or CSV."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.base.errors import OutputError, UsageError, WorkloadError, raise_if_interrupted
from queuesmith.base.files import AnyPath, atomic_write, read_bytes
from queuesmith.knobs.setting import NAMES
from queuesmith.knobs.sweep_result import TERMS, SweepResult

if TYPE_CHECKING:
    import pandas as pd

_KEY = b"queuesmith sweep"
_COMMENT = b"# queuesmith sweep "
_SUFFIXES = (".parquet", ".csv")
_COLUMNS = (*NAMES, *map(str, TERMS), "replayed")


def check_suffix(path: AnyPath) -> Path:
    """Return the path of a table; an error unless it ends in .parquet or .csv."""
    chosen = Path(path)
    if chosen.suffix.lower() not in _SUFFIXES:
        raise UsageError(
            f"the table '{path}' must be Parquet or CSV. End its name in .parquet or .csv."
        )
    return chosen


def save_sweep(result: SweepResult, path: AnyPath) -> None:
    """Write one row a setting; the file appears only once it is complete."""
    target = check_suffix(path)
    facts = json.dumps(_facts(result)).encode()
    if target.suffix.lower() == ".csv":
        with atomic_write(target) as file:
            file.write(_COMMENT + facts + b"\n")
            table = result.table.astype({"replayed": int})
            file.write(table.to_csv(index=False, lineterminator="\n", na_rep="nan").encode())
        return
    pyarrow, parquet = _pyarrow()
    table = pyarrow.Table.from_pandas(result.table, preserve_index=False)
    with atomic_write(target) as file:
        parquet.write_table(table.replace_schema_metadata({_KEY: facts}), file)


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
    return SweepResult(
        settings=table[list(NAMES)].to_numpy(np.float64),
        costs=table[[str(term) for term in TERMS]].to_numpy(np.float64),
        replayed=table["replayed"].to_numpy(np.bool_),
        **facts,
    )


def _facts(result: SweepResult) -> dict[str, Any]:
    names = ("log", "jobs", "cores", "scheduler", "seconds")
    return {name: getattr(result, name) for name in names}


def _from_csv(data: bytes) -> tuple[dict[str, Any] | None, pd.DataFrame | None]:
    import pandas as pd

    first, _, rest = data.partition(b"\n")
    head, _, rows = rest.partition(b"\n")
    if not first.startswith(_COMMENT) or not rows.strip():
        return None, None
    try:
        # numpy reads back the very numbers that were written; pandas may be off by the last digit.
        values = np.loadtxt(io.BytesIO(rows), delimiter=",", ndmin=2)
        table = pd.DataFrame(values, columns=pd.Index(head.decode().split(",")))
        return json.loads(first.removeprefix(_COMMENT)), table
    except ValueError:
        return None, None


def _from_parquet(data: bytes, path: AnyPath) -> tuple[dict[str, Any] | None, pd.DataFrame | None]:
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
        facts = (table.schema.metadata or {}).get(_KEY)
        return (None if facts is None else json.loads(facts)), table.to_pandas()
    except (pyarrow.ArrowException, ValueError) as error:
        raise WorkloadError(
            f"'{path}' cannot be read as Parquet ({str(error).splitlines()[0]}). Make it again."
        ) from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise_if_interrupted(error)
        raise OutputError(
            "Parquet needs pyarrow, which is not installed. "
            "Run pip install 'queuesmith[parquet]', or name a .csv file."
        ) from None
    return pyarrow, pyarrow.parquet

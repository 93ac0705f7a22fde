"""The values of a study's units as one table; gathered into a file of SQLite, Parquet or CSV."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queuesmith.base.errors import OutputError
from queuesmith.base.extras import extra_library
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.base.frames import Framed
from queuesmith.base.words import so_many
from queuesmith.campaign.study_file import Study
from queuesmith.campaign.units import Unit, units_of
from queuesmith.schedule.starvation import GroupWaits
from queuesmith.study.shards import Shards

#: What a table has besides the metrics, and how SQLite keeps it.
COLUMNS = {
    "log": "TEXT",
    "cores": "INTEGER",
    "load_factor": "REAL",
    "seed": "INTEGER",
    "policy": "TEXT",
}


@dataclass(frozen=True, eq=False, repr=False)
class Results(Framed):
    """What is known of a study.

    Parameters
    ----------
    study, units
        The study, and its units in the order of its file.
    found
        What shards say, one for each unit; None for those that are not done.
    damaged
        Shards that do not match their checksums; their units count as not done.
    """

    study: Study
    units: tuple[Unit, ...]
    found: tuple[dict[str, Any] | None, ...]
    damaged: int = 0

    def __repr__(self) -> str:
        return (
            f"<Results of '{self.study.name}': {self.done:,} of {so_many(len(self.units), 'unit')}>"
        )

    @property
    def done(self) -> int:
        """How many units have been computed."""
        return sum(each is not None for each in self.found)

    @property
    def seconds(self) -> float:
        """The processor time of all units together."""
        return float(sum(each["seconds"] for each in self.found if each is not None))

    @property
    def without_value(self) -> list[str]:
        """Why units have no values, one sentence each."""
        return [each["why"] for each in self.found if each is not None and each["values"] is None]

    @property
    def changes(self) -> list[str]:
        """What of each log was left out or mended, a sentence each, in the order of the units."""
        told: dict[str, None] = {}
        for unit, found in zip(self.units, self.found, strict=True):
            log = f"'{unit.log.name}'"
            if unit.log.generate is not None and len(self.study.seeds) > 1:
                log += f" of seed {unit.seed}"
            told |= dict.fromkeys(f"log {log}: {each}" for each in (found or {}).get("changes", ()))
        return list(told)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each unit that is done; values that there are not are None."""
        nothing = [None] * len(self.study.metrics)
        return [
            {
                **unit.row(),
                **dict(zip(self.study.metrics, found["values"] or nothing, strict=True)),
            }
            for unit, found in zip(self.units, self.found, strict=True)
            if found is not None
        ]

    def group_waits(self) -> dict[str, dict[str, GroupWaits]]:
        """Return what each group waits at worst over all units, by policy and group.

        Groups are numbered in each log by itself, the heaviest users first, unless it names them.
        """
        worst: dict[str, dict[str, GroupWaits]] = {}
        for unit, found in zip(self.units, self.found, strict=True):
            own = worst.setdefault(unit.policy_name, {})
            for group, facts in (found or {}).get("waits", {}).items():
                waits = GroupWaits(**facts)
                own[group] = own[group].worst_with(waits) if group in own else waits
        return {policy: dict(sorted(own.items())) for policy, own in worst.items() if own}

    def save(self, path: AnyPath) -> None:
        """Write the table: SQLite, Parquet or CSV, by the end of the name."""
        suffix = Path(path).suffix.lower()
        if suffix not in _WRITERS:
            raise OutputError(
                f"the name '{path}' does not tell the format of the table. End it in "
                f"{', '.join(_WRITERS)}."
            )
        write_bytes(path, _WRITERS[suffix](self))


def read_results(study: Study, folder: AnyPath) -> Results:
    """Return what shards of a folder say about a study, whether it has come to its end or not."""
    return gathered(study, units_of(study), Shards(folder))


def gathered(study: Study, units: Sequence[Unit], shards: Shards) -> Results:
    """Return what shards say about units."""
    known = shards.refresh()
    found = tuple(known.get(unit.name) for unit in units)
    return Results(study, tuple(units), found, len(shards.damaged))


def _sqlite(results: Results) -> bytes:
    # In memory, then written whole: SQLite itself never touches a file that machines share.
    metrics = [f'"{metric.replace(chr(34), chr(34) * 2)}" REAL' for metric in results.study.metrics]
    columns = [f"{name} {kind}" for name, kind in COLUMNS.items()]
    marks = ", ".join("?" * (len(columns) + len(metrics)))
    memory = sqlite3.connect(":memory:")
    try:
        memory.execute(f"CREATE TABLE unit ({', '.join([*columns, *metrics])}) STRICT")
        rows = (tuple(row.values()) for row in results.rows())
        memory.executemany(f"INSERT INTO unit VALUES ({marks})", rows)
        memory.commit()
        return memory.serialize()
    finally:
        memory.close()


def _csv(results: Results) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *results.study.metrics], lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.rows())
    return text.getvalue().encode()


def _parquet(results: Results) -> bytes:
    import pandas as pd

    names = [*COLUMNS, *results.study.metrics]
    table = pd.DataFrame(results.rows(), columns=names).astype({"seed": "Int64"})
    memory = io.BytesIO()
    instead = "write .sqlite or .csv"
    extra_library("pyarrow", "parquet", "Parquet", otherwise=instead, error=OutputError)
    table.to_parquet(memory, index=False)
    return memory.getvalue()


_WRITERS = {".sqlite": _sqlite, ".parquet": _parquet, ".csv": _csv}

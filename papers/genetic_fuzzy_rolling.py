"""Rolling origins of the genetic fuzzy study: learn on months 1 to k, judge on month k + 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import queuesmith as qs
from papers import genetic_fuzzy_logs as logs
from papers.genetic_fuzzy_runs import Runs
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.kept_pieces import KeptPieces
from papers.study import section
from queuesmith.base.words import so_many
from queuesmith.learning.methods import make_method
from queuesmith.learning.rolling import roll

#: The beginning of the names of these pieces, behind that of the log.
ROLLED = "rolled"
#: Generations of each origin: a quarter of what `tune` has, for one learns so many times.
GENERATIONS = 10
#: Who learns: rules alone, and `tune` as it is.
METHODS = ("pittsburgh", "race")


def rolled(runs: Runs, method: str, *, origins: int, seed: int) -> dict[str, Any] | None:
    """Return what learning again for each of the last months brings."""

    def make() -> dict[str, Any]:
        found = roll(
            runs.log,
            qs.Cluster(logs.CORES),
            OBJECTIVE,
            make_method(method, generations=GENERATIONS),
            origins=origins,
            seed=seed,
            workers=runs.workers,
        )
        return {"rows": [origin.row() for origin in found]}

    return runs.piece(f"{ROLLED} {origins} times, {method}, seed {seed}", make)


def rolling_table(kept: KeptPieces) -> str:
    """Return the table of all that was rolled."""
    rows = [
        {"log": name.partition(",")[0], "method": method, **row}
        for method in METHODS
        for name in kept.names()
        if f": {ROLLED} " in name and f" times, {method}, seed " in name
        for row in kept[name]["rows"]
    ]
    if not rows:
        return ""
    note = (
        f"`queuesmith roll --generations {GENERATIONS} --method METHOD`: learned with the guard "
        "on, on all jobs up to a day, judged on the next 30 days. Better than the best fixed "
        f"strategy of the jobs learned from: {'; '.join(_better(rows))}. Months without any job "
        "of group 1 or 2 have no gain."
    )
    shown = [{k: "-" if value is None else value for k, value in row.items()} for row in rows]
    return section("Learned again each month", note, shown)


def _better(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say of each method in how many months it is better than the best fixed strategy."""
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row["over best fixed (%)"] for row in rows if row["method"] == method]
        gains = [gain for gain in own if gain is not None]
        better = sum(gain > 0 for gain in gains)
        yield f"{method} in {better} of {so_many(len(gains), 'month')}"

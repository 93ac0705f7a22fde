"""The runs of the study of genetic schedulers for grids, each kept in a file of its own.

So the study can be stopped and resumed, and its pieces made one by one: what is there already is
read, not made again. A run of 90 s also tells what it had found after 10 s, so it stands for a run
of 10 s, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from papers.study import data_folder
from queuesmith.base.files import atomic_write
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import generate_etc, mapping_facts, read_etc
from queuesmith.grid.exact import solve_exact, trade_off
from queuesmith.grid.genetic import GeneticConfig, evolve, preset
from queuesmith.study.store import fingerprint

#: A run keeps what it had found after so many seconds, and at its end.
TIMES = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 90.0)
#: What a time of 0.00 in a published instance counts as.
ZERO_AS = 1e-9
FRONT_POINTS = 12
#: What is kept of an exact method's result.
EXACT_FACTS = (
    "makespan",
    "flowtime",
    "lower_bound",
    "gap_percent",
    "status",
    "seconds",
    "lp_bound",
)
#: Large instances of our own: their kinds, seed (constants were chosen on another) and size.
KINDS, SEED, SIZE = ("u_c_hihi", "u_i_hihi", "u_s_hihi"), 1, (8192, 256)


class Column(NamedTuple):
    """One column of the tables: a preset and what it minimises."""

    preset: str
    objective: str

    def config(self) -> GeneticConfig:
        """Return the preset, to be stopped by time alone."""
        return replace(preset(self.preset), generations=None, stagnation=None, seconds=90.0)


#: The genetic columns, by the names of the command line.
COLUMNS = {
    "carretero": Column("carretero", "simultaneous"),
    "queuesmith": Column("queuesmith", "makespan"),
    "steady-state": Column("steady-state", "simultaneous"),
    "hierarchic": Column("carretero", "hierarchic"),
}


class Pieces:
    """Makes the pieces of the study, or reads them.

    Parameters
    ----------
    folder
        Where they are kept.
    seconds, exact_seconds
        How long a genetic run and an exact one take.
    workers
        How many genetic runs go on at once, and how many threads an exact one has.
    """

    def __init__(self, folder: Path, seconds: float, exact_seconds: float, workers: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.workers = folder, workers
        self.seconds, self.exact_seconds = seconds, exact_seconds

    def make_runs(self, column: Column, names: Iterable[str], runs: int) -> None:
        """Make the runs of a column that are missing: the first of all instances, then the next."""
        tasks = [(name, seed) for seed in range(runs) for name in names]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda task: self._run(column, *task), tasks))

    def runs(self, column: Column, name: str) -> list[dict[str, Any]]:
        """Return the runs of a column on an instance that are kept."""
        longest = {_seed_of(path): path for path in self._paths(column, name)}
        return [_read(path) for _, path in sorted(longest.items())]

    def exact(self, name: str, objective: str, *, make: bool = True) -> dict[str, Any] | None:
        """Return what the exact method finds for an instance, and what it proves."""

        def solve() -> dict[str, Any]:
            matrix = instance(name)
            found = solve_exact(matrix, objective, seconds=self.exact_seconds, workers=self.workers)
            facts = {"lp_bound": None, **mapping_facts(found)}
            return {key: facts[key] for key in EXACT_FACTS}

        stem = f"{name}-exact-{objective}-{self.exact_seconds:g}s-{self.workers}workers"
        return self._kept(stem, solve, make)

    def front(self, name: str, *, make: bool = True) -> dict[str, Any] | None:
        """Return the trade-off between makespan and flowtime of an instance."""

        def solve() -> dict[str, Any]:
            matrix, seconds = instance(name), self.exact_seconds
            front = trade_off(matrix, points=FRONT_POINTS, seconds=seconds, workers=self.workers)
            return front.to_dict()

        return self._kept(f"{name}-front-{self.exact_seconds:g}s", solve, make)

    def _paths(self, column: Column, name: str) -> list[Path]:
        """Return the files of all runs of a column on an instance, the longest last."""
        start, end = _stem(column, name)
        found = self.folder.glob(f"{start}-*s-{end}-seed*.json")
        return sorted(found, key=lambda path: float(path.name[len(start) + 1 :].partition("s")[0]))

    def _run(self, column: Column, name: str, seed: int) -> None:
        def make() -> dict[str, Any]:
            result = evolve(
                instance(name),
                column.config(),
                objective=column.objective,
                seed=seed,
                seconds=self.seconds,
            )
            moments = [*(t for t in TIMES if t < self.seconds), self.seconds]
            course = {f"{t:g}": result.course.at(t)._asdict() for t in moments}
            course[f"{self.seconds:g}"] |= {
                "makespan": result.makespan,
                "flowtime": result.flowtime,
            }
            return {
                "generations": result.generations,
                "evaluations": result.evaluations,
                "seconds": result.best.seconds,
                "course": course,
            }

        start, end = _stem(column, name)
        self._kept(f"{start}-{self.seconds:g}s-{end}-seed{seed:03d}", make, True)

    def _kept(
        self, stem: str, solve: Callable[[], dict[str, Any]], make: bool
    ) -> dict[str, Any] | None:
        path = self.folder / f"{stem}.json"
        if not path.exists():
            if not make:
                return None
            began = time.perf_counter()
            content = solve()
            with atomic_write(path) as file:
                file.write(json.dumps(content, indent=1).encode())
            print(f"{stem}: made in {time.perf_counter() - began:.0f} s", flush=True)
        return _read(path)


def _stem(column: Column, name: str) -> tuple[str, str]:
    """Return how the names of a column's files begin, and how they go on after the seconds."""
    facts = fingerprint(column.config().to_toml())[:8]
    return f"{name}-{column.preset}-{column.objective}", facts


def _seed_of(path: Path) -> int:
    return int(path.stem.rpartition("-seed")[2])


@cache
def instance(name: str) -> EtcMatrix:
    """Return an instance by its name: a benchmark's, those of 1,024 x 32 with ``A.``, or ours."""
    if name in generated_names():
        return generate_etc(name.partition("-")[0], *SIZE, seed=SEED)
    return read_etc(folder_of(name) / name, zero_as=ZERO_AS if _larger(name) else None)


def folder_of(name: str) -> Path:
    """Return the folder in which an instance and its published solutions are."""
    return data_folder("etc") / ("1024x32" if _larger(name) else "512x16")


def larger_names() -> list[str]:
    """Return the names of the instances of 1,024 jobs and 32 machines."""
    folder = data_folder("etc") / "1024x32"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".sol")


def generated_names() -> list[str]:
    """Return the names of the large instances that are generated."""
    return [f"{kind}-seed{SEED}" for kind in KINDS]


def published(name: str, kind: str) -> float:
    """Return the makespan that the name of a published solution states."""
    solutions = sorted(folder_of(name).glob(f"{name}_*.sol"))
    chosen = [path for path in solutions if kind in path.name] or [
        path for path in solutions if "_CPR_" not in path.name
    ]
    return float(chosen[0].stem.rpartition("_")[2].replace(",", "."))


def _larger(name: str) -> bool:
    return name.startswith("A.")


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))

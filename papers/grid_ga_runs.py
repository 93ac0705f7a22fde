"""The runs of the study of genetic schedulers for grids, kept in two files: curves in their own.

So the study can be stopped and resumed, and its pieces made one by one: what is there already is
read, not made again. A run of 90 s also tells what it had found after 10 s, so it stands for a run
of 10 s, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from papers.kept_pieces import KeptPieces
from papers.study import data_folder
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import generate_etc, mapping_facts, read_etc
from queuesmith.grid.exact import solve_exact, trade_off
from queuesmith.grid.exact.makespan import minimise_makespan
from queuesmith.grid.exact.run import ExactRequest
from queuesmith.grid.genetic import GeneticConfig, evolve, preset
from queuesmith.schedule import Schedule
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
#: Large instances of our own: their kinds, seed (constants were chosen on another) and sizes.
KINDS, SEED = ("u_c_hihi", "u_i_hihi", "u_s_hihi"), 1
SIZES = ((2048, 64), (4096, 128), (8192, 256))


class Column(NamedTuple):
    """One column of the tables: a preset, what it minimises, and the paper's work for it."""

    preset: str
    objective: str
    generations: int = 2500

    def config(self, seconds: float | None) -> GeneticConfig:
        """Return the preset, to be stopped by time alone or by the paper's work alone.

        Braun's also stops where it stagnates, as he let it.
        """
        own = preset(self.preset)
        if seconds is not None:
            return replace(own, generations=None, stagnation=None, seconds=seconds)
        return replace(own, generations=self.generations, seconds=None)


#: The genetic columns, by the names of the command line.
COLUMNS = {
    "carretero": Column("carretero", "simultaneous"),
    "hierarchic": Column("carretero", "hierarchic"),
    "strict": Column("carretero-strict", "simultaneous"),
    "strict-hierarchic": Column("carretero-strict", "hierarchic"),
    "steady-state": Column("steady-state", "simultaneous", 16_500),
    "braun": Column("braun", "makespan", 1000),
    "queuesmith": Column("queuesmith", "makespan"),
}
#: Those of which the paper states the work.
PAPER_COLUMNS = [name for name in COLUMNS if name != "queuesmith"]


class Pieces:
    """Makes the pieces of the study, or reads them.

    Parameters
    ----------
    path
        The file in which they are kept; runs of figures in one beside it, since they are many.
    seconds, exact_seconds
        How long a genetic run and an exact one take.
    workers
        How many genetic runs go on at once, and how many threads an exact one has.
    """

    def __init__(self, path: Path, seconds: float, exact_seconds: float, workers: int) -> None:
        self.kept, self.workers = KeptPieces(path), workers
        self.curves = KeptPieces(path.with_stem(f"{path.stem}_figures"))
        self.seconds, self.exact_seconds = seconds, exact_seconds

    def make_runs(
        self, column: str, names: Iterable[str], runs: int, *, by_time: bool = True
    ) -> None:
        """Make the runs of a column that are missing: the first of all instances, then the next.

        They are stopped by time, or by the work that the paper did.
        """
        seconds = self.seconds if by_time else None
        tasks = [(name, seed) for seed in range(runs) for name in names]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda task: self._run(column, seconds, *task), tasks))

    def runs(self, column: str, name: str, *, by_time: bool = True) -> list[dict[str, Any]]:
        """Return the runs of a column on an instance that are kept, the longest of each seed."""
        start = _stem(column, name, by_time=by_time)
        longest: dict[int, tuple[float, str]] = {}
        for each in self.kept.names(start):
            length, _, seed = each.removeprefix(start).partition(" seed ")
            found = float(length.split()[0]), each
            longest[int(seed)] = max(longest.get(int(seed), found), found)
        return [self.kept[each] for _, (_, each) in sorted(longest.items())]

    def exact(self, name: str, objective: str, *, make: bool = True) -> dict[str, Any] | None:
        """Return what the exact method finds for an instance, and what it proves."""

        def solve() -> dict[str, Any]:
            matrix = instance(name)
            found = solve_exact(matrix, objective, seconds=self.exact_seconds, workers=self.workers)
            return _exact_facts(found)

        by_processor = self.kept.piece(self._exact_name(name, objective, "CPU s"))
        if by_processor is not None:
            return by_processor
        return self.kept.piece(self._exact_name(name, objective, "s"), solve if make else None)

    def exact_by_processor(self, name: str) -> None:
        """Find a short makespan in so many seconds of the processor for each worker.

        That is fair on a computer that others use, too, and it is what stands on the page then. A
        solver stops by the wall, when its share should have been used.
        """

        def solve() -> dict[str, Any]:
            def clock() -> float:
                return time.process_time() / self.workers

            matrix, seconds, workers = instance(name), self.exact_seconds, self.workers
            run = minimise_makespan(ExactRequest(matrix, seconds, workers=workers, clock=clock))
            found = run.schedule("makespan", run.incumbent.best, run.incumbent.bound)
            return _exact_facts(found)

        self.kept.piece(self._exact_name(name, "makespan", "CPU s"), solve)

    def by_processor(self, name: str) -> bool:
        """Tell whether an instance was given its seconds of the processor."""
        return self._exact_name(name, "makespan", "CPU s") in self.kept

    def _exact_name(self, name: str, objective: str, unit: str) -> str:
        seconds = f"{self.exact_seconds:g} {unit}"
        return f"{name} exact {objective} {seconds} {self.workers} workers"

    def front(self, name: str, *, make: bool = True) -> dict[str, Any] | None:
        """Return the trade-off between makespan and flowtime of an instance."""

        def solve() -> dict[str, Any]:
            matrix, seconds = instance(name), self.exact_seconds
            front = trade_off(matrix, points=FRONT_POINTS, seconds=seconds, workers=self.workers)
            return front.to_dict()

        return self.kept.piece(f"{name} front {self.exact_seconds:g} s", solve if make else None)

    def _run(self, column: str, seconds: float | None, name: str, seed: int) -> None:
        kind = COLUMNS[column]

        def make() -> dict[str, Any]:
            result = evolve(
                instance(name),
                kind.config(seconds),
                objective=kind.objective,
                seed=seed,
                clock=time.thread_time,
            )
            moments = [] if seconds is None else [*(t for t in TIMES if t < seconds), seconds]
            course = {
                f"{t:g}": {"makespan": then.makespan, "flowtime": then.flowtime}
                for t in moments
                if (then := result.course.at(t))
            }
            end = {"makespan": result.makespan, "flowtime": result.flowtime}
            if seconds is not None:
                course[f"{seconds:g}"] = end
            return {
                "generations": result.generations,
                "seconds": round(result.best.seconds or 0.0, 2),
                "end": end,
                "course": course,
            }

        start = _stem(column, name, by_time=seconds is not None)
        if seconds is None:
            self.kept.piece(f"{start}{kind.generations} generations seed {seed}", make)
        elif f"{start}{seconds:g} s seed {seed}" not in self.kept:  # by the clock on the wall
            self.kept.piece(f"{start}{seconds:g} CPU s seed {seed}", make)


def _exact_facts(found: Schedule) -> dict[str, Any]:
    facts = {"lp_bound": None, **mapping_facts(found)}
    return {key: facts[key] for key in EXACT_FACTS}


def _stem(column: str, name: str, *, by_time: bool) -> str:
    """Return how the names of a column's runs begin: with all that decides them."""
    kind = COLUMNS[column]
    facts = fingerprint(kind.config(90.0 if by_time else None).to_toml())[:8]
    how = "for" if by_time else "of"
    return f"{name} {kind.preset} {kind.objective} {facts} {how} "


@cache
def instance(name: str) -> EtcMatrix:
    """Return an instance by its name: a benchmark's, those of 1,024 x 32 with ``A.``, or ours."""
    if (made := generated_names().get(name)) is not None:
        return generate_etc(*made, seed=SEED)
    return read_etc(folder_of(name) / name, zero_as=ZERO_AS if _larger(name) else None)


def folder_of(name: str) -> Path:
    """Return the folder in which an instance and its published solutions are."""
    return data_folder("etc") / ("1024x32" if _larger(name) else "512x16")


def larger_names() -> list[str]:
    """Return the names of the instances of 1,024 jobs and 32 machines."""
    folder = data_folder("etc") / "1024x32"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".sol")


def generated_names() -> dict[str, tuple[str, int, int]]:
    """Return the large instances that are generated: by name their kind, jobs and machines."""
    return {
        f"{kind}-{jobs}x{machines}-seed{SEED}": (kind, jobs, machines)
        for jobs, machines in SIZES
        for kind in KINDS
    }


def published(name: str, kind: str) -> float:
    """Return the makespan that the name of a published solution states."""
    solutions = sorted(folder_of(name).glob(f"{name}_*.sol"))
    chosen = [path for path in solutions if kind in path.name] or [
        path for path in solutions if "_CPR_" not in path.name
    ]
    return float(chosen[0].stem.rpartition("_")[2].replace(",", "."))


def _larger(name: str) -> bool:
    return name.startswith("A.")

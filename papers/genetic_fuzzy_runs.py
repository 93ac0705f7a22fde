"""The replays and learning runs of the genetic fuzzy study, each kept in a file of its own.

So the study can be stopped and resumed, and its pieces made one by one: what is there already is
read, not made again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import queuesmith as qs
from papers.study import data_folder
from queuesmith.base.files import atomic_write
from queuesmith.learning import tune
from queuesmith.learning.course import LearningProgress
from queuesmith.learning.method import Method
from queuesmith.learning.methods import find_method, make_method
from queuesmith.learning.offline_front import Front, Point
from queuesmith.learning.pareto import SEVEN_OBJECTIVES, FrontSearch, pareto_front
from queuesmith.learning.species import Mutation
from queuesmith.learning.split import split_in_time
from queuesmith.learning.verdict import Verdict
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.paired import improvement
from queuesmith.study.store import fingerprint

CORES = 1024
OBJECTIVE = "10*awrt[1] + 4*awrt[2]"
#: The logs by the paper's names, and the size of machine that they are scaled from.
LOGS = {
    "CTC": ("CTC-SP2-1996-3.1-cln", 430),
    "KTH": ("KTH-SP2-1996-2.1-cln", 100),
    "LANL": ("LANL-CM5-1994-4.1-cln", 1024),
    "SDSC 00": ("SDSC-SP2-1998-4.2-cln", 128),
    "SDSC 96": ("SDSC-Par-1996-3.1-cln", 416),
}
METHODS = {
    "prob": "PROB",
    "pitts": "PITTS",
    "cca": "CCA",
    "keep": "PITTS that keeps cores free",
    "sparse": "PITTS that keeps, changing a tenth",
    "cma": "CMA-ES",
    "priority": "priority",
}
#: Orders within which ``keep`` keeps cores free, and the shares: groups as they are, their widest
#: or longest jobs first, and group 2 before group 1, which is worth more a core-second where group
#: 1 consumes more than 10/4 times as much.
KEPT_SHARES = {
    "group": (0, 0.2, 0.3),
    "ranked(alpha=0.1)": (0, 0.1, 0.4),
    "ranked(gamma=0.05)": (0, 0.3),
    "ranked(group_2=6)": (0, 0.3),
}
#: What ``keep`` may choose from: the thirteen have nothing that leaves room for jobs to come.
KEEPING = (
    "fcfs+easy",
    "group",
    "group+easy",
    *(
        f"{order}+easy+keep(share={share})"
        for order, shares in KEPT_SHARES.items()
        for share in shares
    ),
)
#: The learners that choose from these, and the share of its numbers that a child of theirs changes.
GUARDED = {"keep": 1.0, "sparse": 0.1}
#: A schedule whose utilisation is lower by more than this share is worthless to them.
LEAST_LOSS = 0.0009


@dataclass(frozen=True)
class Budget:
    """How much each method may do, and which parameters differ from its defaults."""

    generations: int | None
    participations: int | None
    settings: dict[str, Any]

    def method(self, name: str) -> Method:
        """Return a method with those of the settings that it has."""
        if name in GUARDED:
            differing = {"strategies": KEEPING, "changed": GUARDED[name]}
            return replace(self, settings={**differing, **self.settings}).method("pitts")
        known = {field.name for field in fields(find_method(name))}
        given: dict[str, Any] = {
            "generations": self.generations,
            "participations": self.participations,
        }
        mutation = {}
        for key, value in self.settings.items():
            own, _, parameter = key.rpartition(":")
            if own and own != name:
                continue
            if parameter.startswith("mutation."):
                mutation[parameter.removeprefix("mutation.")] = value
            else:
                given[parameter] = value
        if mutation:
            given["mutation"] = Mutation(**mutation)
        chosen = {key: value for key, value in given.items() if key in known and value is not None}
        return make_method(name, **chosen)


class Pieces:
    """Makes the pieces of the study, or reads them.

    Parameters
    ----------
    folder
        Where they are kept.
    scale_seed
        What the scaling of the logs follows from.
    workers
        How many replays run at once.
    only_kept
        Whether what was not learned before is left out.
    """

    def __init__(
        self, folder: Path, scale_seed: int, workers: int | None, *, only_kept: bool
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.scale_seed, self.workers = folder, scale_seed, workers
        self.only_kept = only_kept
        self._logs: dict[str, qs.Workload] = {}

    def log(self, name: str) -> qs.Workload:
        """Return a log, scaled to 1,024 processors."""
        if name not in self._logs:
            file, cores = LOGS[name]
            workload = qs.read(data_folder("traces") / f"{file}.swf.gz")
            if cores != CORES:
                workload = qs.scale(workload, cores, CORES, seed=self.scale_seed)
            self._logs = {name: workload.fitting(CORES)}  # one at a time is large enough
        return self._logs[name]

    def fixed(self, name: str) -> dict[str, Any]:
        """Return what fixed strategies are worth, and groups 1 and 2 alone.

        They are the thirteen, and those that keep cores free.
        """

        def make() -> dict[str, Any]:
            workload, cluster = self.log(name), qs.Cluster(CORES)
            known = [*map(str, THIRTEEN), *(text for text in KEEPING if "keep" in text)]
            schedules = qs.simulate_many(workload, cluster, known, workers=self.workers)
            favoured = workload.select(workload.group <= 2)
            alone = qs.simulate(favoured, cluster, "group+easy")
            return {
                "jobs": len(workload),
                "strategies": {each.policy: worth(each) for each in schedules},
                "alone": alone.value(OBJECTIVE),
            }

        return self._kept(f"{_slug(name)}-fixed", make)

    def learned(
        self, name: str, method: Method, split: float | None, seed: int, *, guarded: bool = False
    ) -> dict[str, Any] | None:
        """Return what a method learns from a log, and what that is worth; None if left out.

        Where it is guarded, it learns for the objective as long as the utilisation stays.
        """
        facts = fingerprint({**method.settings(), "seed": seed})[:8]
        part = "all" if split is None else f"{split:g}"
        stem = f"{_slug(name)}-{method.name}-{part}-{facts}"

        def make() -> dict[str, Any]:
            workload = self.log(name)
            thirteen = self._best_of_thirteen(split_in_time(workload, split).learning)
            tuned = tune(
                workload,
                qs.Cluster(CORES),
                guarded_objective(thirteen, split) if guarded else OBJECTIVE,
                method,
                seed=seed,
                split=split,
                workers=self.workers,
                store=self.folder / f"{self._dated(stem)}.sqlite",
                progress=_Teller(f"{name} {method.name} {part}"),
            )
            return {
                "seed": seed,
                "evaluations": tuned.evaluations,
                "seconds": tuned.seconds,
                "settings": tuned.settings,
                "learning": judged(tuned.learning, thirteen.policy),
                "held_out": tuned.held_out and judged(tuned.held_out, thirteen.policy),
                "history": [step.to_dict() for step in tuned.history],
                "policy": tuned.policy.to_dict(),
            }

        left_out = self.only_kept and not self._path(stem).exists()
        return None if left_out else self._kept(stem, make)

    def _best_of_thirteen(self, workload: qs.Workload) -> qs.Schedule:
        schedules = qs.simulate_many(workload, qs.Cluster(CORES), THIRTEEN, workers=self.workers)
        return min(schedules, key=lambda schedule: schedule.value(OBJECTIVE))

    def front(self, name: str, search: FrontSearch, seed: int) -> Front | None:
        """Return the off-line front of a log; None if left out."""
        facts = fingerprint({**search.__dict__, "seed": seed})[:8]
        path = self._path(f"{_slug(name)}-front-{facts}").with_suffix(".json.gz")
        if not path.exists():
            if self.only_kept:
                return None
            front = pareto_front(
                self.log(name),
                qs.Cluster(CORES),
                OBJECTIVE,
                search=search,
                seed=seed,
                workers=self.workers,
                progress=_Teller(f"{name} front"),
            )
            front.save(path)
        return Front.load(path)

    def _dated(self, stem: str) -> str:
        return f"{stem}-scale{self.scale_seed}"

    def _path(self, stem: str) -> Path:
        return self.folder / f"{self._dated(stem)}.json"

    def _kept(self, stem: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        path = self._path(stem)
        if not path.exists():
            began = time.perf_counter()
            content = make()
            with atomic_write(path) as file:
                file.write(json.dumps(content, indent=1).encode())
            print(f"{path.stem}: made in {time.perf_counter() - began:.0f} s", flush=True)
        return dict(json.loads(path.read_text(encoding="utf-8")))


def guarded_objective(thirteen: qs.Schedule, split: float | None) -> str:
    """Return the objective with a wall where the utilisation is lower than it may be.

    Learned on a whole log, none of EASY's may be given up. Learned on a part, to beat the best of
    the thirteen on other jobs, it may be as low as with that.
    """
    easy = qs.simulate(thirteen.workload, thirteen.cluster, "fcfs+easy")
    rivals = [easy] if split is None else [easy, thirteen]
    least = min(rival.value("utilization") for rival in rivals) - LEAST_LOSS
    return f"{OBJECTIVE} + 1e9*max(0, {least:.6f} - utilization)"


def best_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the run that is the best on the jobs that it learned from, with all of them."""
    best = min(runs, key=lambda run: float(run["learning"]["learned"]["f"]))
    return {**best, "runs": list(runs)}


def worth(schedule: qs.Schedule) -> dict[str, float]:
    """Return the seven objectives of a schedule, and the one that is learned for."""
    present = set(np.unique(schedule.workload.group).tolist())
    names = [
        name for name in SEVEN_OBJECTIVES if "[" not in name or int(name[-2]) in present
    ]  # a part of a log may lack a group
    return {**{name: schedule.value(name) for name in names}, "f": schedule.value(OBJECTIVE)}


def judged(verdict: Verdict, thirteen: str) -> dict[str, Any]:
    """Return what the study keeps of a verdict, without the wall of a guarded objective.

    The best fixed strategy may be one of those offered beside the thirteen; so the best of these
    on the jobs learned from is judged, too.
    """
    objective, learned = Objective(OBJECTIVE), verdict.learned
    of_paper = qs.simulate(learned.workload, learned.cluster, thirteen)
    schedules = {**verdict.schedules, "thirteen": of_paper}
    return {
        **{part: worth(schedule) for part, schedule in schedules.items()},
        "best_fixed_name": verdict.best_fixed.policy,
        "thirteen_name": thirteen,
        "improvement": {
            part: _plain(improvement(learned, schedule, objective))
            for part, schedule in schedules.items()
            if part != "learned"
        },
    }


def point(name: str, values: dict[str, float]) -> Point:
    """Return a kept schedule as a point that can be measured against a front."""
    return Point(name, {key: value for key, value in values.items() if key != "f"}, values["f"])


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value`` and ``method:name=value``; values as JSON has them."""
    settings = {}
    for text in texts:
        key, _, value = text.partition("=")
        content = json.loads(value)
        settings[key] = tuple(content) if isinstance(content, list) else content
    return settings


def _plain(gain: Interval | None) -> list[float | None] | None:
    return None if gain is None else [gain.value, gain.low, gain.high]


def _slug(name: str) -> str:
    return name.replace(" ", "")


class _Teller:
    """Says every tenth of a long run where it is."""

    def __init__(self, task: str) -> None:
        self._task, self._told = task, 0

    def __call__(self, state: LearningProgress) -> None:
        if int(10 * state.share) > self._told:
            self._told = int(10 * state.share)
            print(f"{self._task}: {state}", flush=True)

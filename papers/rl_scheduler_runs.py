"""The replays and learning runs of the study of RLScheduler; what was learned is kept in a file."""

from __future__ import annotations

import functools
import gzip
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import queuesmith as qs
from papers.rl_scheduler_paper import BOUND, LENGTH, LOGS, STARTS
from papers.study import data_folder
from queuesmith.base.files import atomic_write
from queuesmith.engine.packing import Packed, frozen
from queuesmith.engine.simulate import Replay
from queuesmith.learning.cma_library import CmaSearch
from queuesmith.policy import AnyPolicy, Committed, Order, Policy
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.view import Job

Values = NDArray[np.float64]
Columns = NDArray[np.int64]

#: The rules under which a sequence is replayed: the paper's two, and the engine's EASY.
RULES = {"none": "no backfill", "early": "their backfill", "easy": "true EASY"}
#: How much ours may learn: generations of so many vectors, from so many random beginnings.
POPULATION, RESTARTS = 16, 1
GENERATIONS = {"published": 90, "held out": 50}
#: Held out: shares of the log to learn from and to choose the restart on; the rest is judged.
LEARNED, CHOSEN = 0.35, 0.5
SEQUENCES = {"learned": 20, "chosen": 20, "judged": 50}


# -- their orders ----------------------------------------------------------------------------------


def wfp3_as_published(job: Job) -> float:
    """WFP3 with -1 for the present moment, as in their code: long jobs of few cores first."""
    ratio = (1 + job.submit) / job.walltime
    return -(ratio * ratio * ratio * job.cores)


def unicep_as_published(job: Job) -> float:
    """UNICEP with -1 for the present moment, as in their code."""
    wait = -1 - job.submit + 1e-15
    return wait / (np.log2(job.cores + 1e-15) * job.walltime)


def unicep_mended(job: Job, now: int) -> float:
    """UNICEP with the present moment; their tiny number instead of a serial job's logarithm."""
    wait = now - job.submit + 1e-15
    return wait / (np.log2(job.cores + 1e-15) * job.walltime)


HEURISTICS = {
    "FCFS": ORDERS["fcfs"],
    "WFP3": Order(wfp3_as_published),
    "UNICEP": Order(unicep_as_published),
    "SJF": ORDERS["sjf"],
    "F1": ORDERS["f1"],
}
#: Those that were wrong, with the present moment where -1 stood.
MENDED = HEURISTICS | {"WFP3": ORDERS["wfp3"], "UNICEP": Order(unicep_mended)}


def policy_of(order: Order, rules: str) -> AnyPolicy:
    """Return the policy that an order makes under some rules."""
    return Policy(order, "easy") if rules == "easy" else Committed(order, rules)


# -- sequences -------------------------------------------------------------------------------------


@functools.cache
def columns(log: str) -> Columns:
    """Read a log as they do: submit, runtime, request and cores, one row a job.

    An unknown runtime counts as 10 s, a job of none is left out, cores are the larger of allocated
    and requested, and an unknown request is the runtime.
    """
    path = data_folder("traces") / f"{LOGS[log][0]}.swf.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = np.array([line.split()[:18] for line in file if line.strip() and line[0] != ";"])
    submit, runtime, allocated, requested, walltime = rows[:, [1, 3, 4, 7, 8]].astype(float).T
    runtime = np.where(runtime == -1, 10, runtime)
    walltime = np.where(walltime == -1, runtime, walltime)
    jobs = np.stack([submit, runtime, walltime, np.maximum(allocated, requested)], axis=1)
    return jobs[runtime != 0].astype(np.int64)


class JobSequence:
    """One sequence of jobs on an empty machine, under their rules and under the engine's.

    Their jobs may run longer than was requested. The engine's may not, so there the request is
    raised to the runtime.
    """

    def __init__(self, jobs: Columns, cores: int) -> None:
        submit, runtime, request, wanted = jobs.T
        walltime = np.maximum(runtime, request)
        self.cluster = qs.Cluster(cores)
        self.workload = qs.Workload(submit, runtime, walltime, wanted)
        self._engine = Packed(self.workload, self.cluster)
        self._theirs = Packed(self.workload, self.cluster)
        self._theirs.jobs = self._theirs.jobs._replace(
            walltime=frozen(request.copy()), log_walltime=frozen(np.log(request))
        )

    def waits(self, order: Order, rules: str) -> NDArray[np.int64]:
        """Return how long each job waits."""
        packed = self._engine if rules == "easy" else self._theirs
        return Replay(packed, self.cluster, policy_of(order, rules)).run().wait

    def slowdown(self, order: Order, rules: str) -> float:
        """Return the mean bounded slowdown."""
        runtime = self.workload.runtime
        response = self.waits(order, rules) + runtime
        return float(np.maximum(1.0, response / np.maximum(runtime, BOUND)).mean())


def sequences(log: str, starts: Iterable[int]) -> list[JobSequence]:
    """Return the sequences of a log that begin at some jobs."""
    jobs, cores = columns(log), LOGS[log][1]
    return [JobSequence(jobs[start : start + LENGTH], cores) for start in starts]


@functools.cache
def published_sequences(log: str) -> list[JobSequence]:
    """Return the ten sequences of the paper."""
    return sequences(log, STARTS)


def judged(order: Order, rules: str, on: Sequence[JobSequence]) -> Values:
    """Return the mean bounded slowdown of each sequence."""
    return np.array([one.slowdown(order, rules) for one in on])


# -- ours ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """An order that was learned: its parameters, what it was worth, what it cost."""

    parameters: dict[str, float]
    value: float
    evaluations: int
    seconds: float

    @property
    def order(self) -> Order:
        """The order."""
        return ORDERS["blend"].having(**self.parameters)


def learn(rules: str, on: Sequence[JobSequence], seed: int, generations: int) -> Learned:
    """Learn the weights of the order ``blend`` by CMA-ES: the least mean bounded slowdown."""
    began = time.perf_counter()
    blend = ORDERS["blend"]
    generator = np.random.default_rng(seed)
    start = generator.standard_normal(len(blend.parameters))
    search = CmaSearch(start, 1.0, POPULATION, generator)
    best: tuple[float, dict[str, float]] = (np.inf, {})
    for _ in range(generations):
        vectors = search.ask()
        settings = [
            {name: round(float(x), 4) for name, x in zip(blend.parameters, vector, strict=True)}
            for vector in vectors
        ]
        values = [judged(blend.having(**one), rules, on).mean() for one in settings]
        # Slowdowns differ by orders of magnitude; only their ranks count in CMA-ES.
        search.tell(vectors, values)
        best = min(best, *zip(values, settings, strict=True), key=lambda pair: pair[0])
    seconds = time.perf_counter() - began
    return Learned(best[1], float(best[0]), POPULATION * generations, seconds)


class Kept:
    """What was learned, in one file: what is there is read, what is not is learned and added."""

    def __init__(self, path: Path, *, only_kept: bool) -> None:
        self.path, self.only_kept = path, only_kept
        text = path.read_text(encoding="utf-8") if path.is_file() else "{}"
        self._content: dict[str, dict[str, Any]] = json.loads(text)

    def learned(
        self, log: str, jobs: str, rules: str, on: Sequence[JobSequence], seed: int
    ) -> Learned | None:
        """Return what was learned from some jobs; None where it was not, and may not be now."""
        key = f"{log}, {jobs}, {RULES[rules]}, seed {seed}"
        if key not in self._content:
            if self.only_kept:
                return None
            print(f"learning: {key}", flush=True)
            self._content[key] = vars(learn(rules, on, seed, GENERATIONS[jobs]))
            self._content = dict(sorted(self._content.items()))
            with atomic_write(self.path) as file:
                file.write((json.dumps(self._content, indent=1) + "\n").encode())
        return Learned(**self._content[key])


def split_starts(jobs: int) -> dict[str, list[int]]:
    """Return where sequences begin that are learned from, chosen on and judged on, in time."""
    borders = (0, int(LEARNED * jobs), int(CHOSEN * jobs), jobs)
    return {
        part: np.linspace(first, last - LENGTH, SEQUENCES[part]).astype(int).tolist()
        for part, first, last in zip(SEQUENCES, borders, borders[1:], strict=False)
    }


def best_published(log: str, rules: str, kept: Kept) -> Learned | None:
    """Return the best that was learned on the paper's own sequences."""
    on = published_sequences(log)
    found = [kept.learned(log, "published", rules, on, seed) for seed in range(RESTARTS)]
    return min((one for one in found if one), key=lambda one: one.value, default=None)


def best_held_out(log: str, rules: str, kept: Kept) -> Learned | None:
    """Return what was learned from the earliest jobs, of all restarts the best on later ones."""
    starts = split_starts(len(columns(log)))
    on, choosing = sequences(log, starts["learned"]), sequences(log, starts["chosen"])
    found = [kept.learned(log, "held out", rules, on, seed) for seed in range(RESTARTS)]

    def later(one: Learned) -> float:
        return float(judged(one.order, rules, choosing).mean())

    return min((one for one in found if one), key=later, default=None)

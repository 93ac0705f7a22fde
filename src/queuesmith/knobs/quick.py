"""A quick search: a good setting for a few per cent of the replays of a sweep.

Only the direction of the knobs matters (see :class:`~queuesmith.knobs.ranges.Settings`), so the
settings are points on a sphere. Some spread over all of it are replayed; then, round by round, the
values of all others are guessed from their nearest replayed neighbours, and those that promise most
are replayed. Half of each round looks closely around the best ones found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import number, progress_function, seeded
from queuesmith.base.errors import MetricError
from queuesmith.cluster import Cluster
from queuesmith.compiled import load
from queuesmith.knobs.bags import Floats, TaskJobs
from queuesmith.knobs.choosing import as_objective, evaluate
from queuesmith.knobs.cost_model import CostModel
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.options import BagOptions, SweepOptions
from queuesmith.knobs.ranges import Settings, range_texts
from queuesmith.knobs.sweep_result import COST_VECTOR, SHORT, SweepResult
from queuesmith.knobs.sweeping import describe_scheduler
from queuesmith.study.engines import Engine
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

ROUNDS = 10
#: The part of the budget that is spread over all directions first.
SPREAD = 0.35
NEIGHBOURS = 6
ELITES = 6
#: Among how many settings, drawn at random, a round looks for those that promise most.
DRAWN = 1500
#: How far a guess is lowered where the neighbours disagree: what is not known may be good.
BONUS = 1.0


def quick_search(
    jobs: TaskJobs | Workload,
    cluster: Cluster | None = None,
    ranges: str | Sequence[str] = SweepOptions.ranges,
    *,
    objectives: Sequence[str] | None = None,
    cores: int | None = None,
    backfill: str = BagOptions.backfill,
    budget: float = SweepOptions.budget,
    seed: int = BagOptions.seed,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> SweepResult:
    """Search the settings of a sweep for the best of each objective, with few replays.

    Parameters
    ----------
    jobs, cluster, cores, ranges, backfill, workers, engine, progress
        As for ``sweep``.
    objectives
        Expressions over the costs; by default each class that has jobs, and the makespan.
    budget
        The part of the settings that may be replayed, for all objectives together.
    seed
        What ties are broken by.

    Returns
    -------
    The table of the settings that were replayed, each of them in full.
    """
    progress_function(progress)
    load(runs.run_settings, runs.run_lines)
    began = time.perf_counter()
    way_out = "Give for example 0.03."
    model = CostModel.of(jobs, cluster, cores=cores, backfill=backfill)
    settings = Settings.parse(range_texts(ranges))
    most = int(number("the budget", budget, 0, 1, way_out) * len(settings))
    costs = partial(model.costs, workers=workers, engine=engine)
    search = _QuickSearch(model, settings, max(most, 1), seed, costs, began)
    search.look_everywhere()
    wanted = search.checked(objectives)
    while search.left > 0:
        search.look_closer(wanted)
        if progress is not None:
            progress(1 - search.left / max(most, 1))
    return search.result()


class _QuickSearch:
    """What is known so far: the costs of some directions."""

    def __init__(
        self,
        model: CostModel,
        settings: Settings,
        most: int,
        seed: int,
        costs_of: Callable[[Floats], Floats],
        began: float,
    ) -> None:
        self.model, self.costs_of, self.began = model, costs_of, began
        self.rows = np.unique(settings.source)
        self.settings = settings.values[self.rows]
        length = np.sqrt(np.square(self.settings).sum(axis=1))
        self.direction = self.settings / np.where(length > 0, length, 1.0)[:, None]
        self.most = min(most, len(self.rows))
        self.rng = seeded(seed)
        self.known = np.zeros(len(self.rows), np.bool_)
        self.costs = np.full((len(self.rows), runs.COSTS), np.nan)

    @property
    def left(self) -> int:
        """How many replays are left."""
        return self.most - int(np.count_nonzero(self.known))

    def replay(self, chosen: NDArray[np.int64]) -> None:
        """Replay some settings, as far as the budget goes."""
        new = np.unique(chosen[~self.known[chosen]])
        if len(new) > self.left:
            new = self.rng.permutation(new)[: self.left]
        self.costs[new] = self.costs_of(self.settings[new])
        self.known[new] = True

    def look_everywhere(self) -> None:
        """Replay settings spread evenly over the sphere."""
        count = max(int(SPREAD * self.most), 1)
        self.replay(_nearest(_sphere(count), self.direction, 1)[0].ravel())

    def look_closer(self, objectives: Sequence[str]) -> None:
        """Replay what promises most for each objective, and the neighbours of the best."""
        before = self.left
        batch = max(int((1 - SPREAD) * self.most / ROUNDS / len(objectives)), 2)
        result = self.result()
        replayed = np.flatnonzero(self.known)
        unknown = np.flatnonzero(~self.known)
        drawn = self.rng.permutation(unknown)[:DRAWN]
        nearest, distance = _nearest(
            self.direction[drawn], self.direction[replayed], min(NEIGHBOURS, len(replayed))
        )
        chosen = []
        for objective in objectives:
            values = evaluate(result, objective)
            guess = _guess(values, nearest, distance)
            promising = np.argsort(guess, kind="stable")[: batch // 2]
            close = self._around(values, replayed, unknown, batch - len(promising))
            chosen += [drawn[promising], close]
        self.replay(np.concatenate(chosen))
        if self.left == before:  # everything that promises is known already
            self.replay(self.rng.permutation(np.flatnonzero(~self.known))[:batch])

    def _around(self, values: Floats, replayed: Ints, unknown: Ints, count: int) -> Ints:
        """Return the unknown settings nearest to the best known ones of different value."""
        _, first = np.unique(values, return_index=True)
        elites = replayed[first[:ELITES]]
        each = min(-(-count // len(elites)), len(unknown))
        found, _ = _nearest(self.direction[elites], self.direction[unknown], each)
        return unknown[found.ravel()]

    def checked(self, objectives: Sequence[str] | None) -> list[str]:
        """Return the objectives; an error where one has no value."""
        result = self.result()
        if objectives is None:
            return [SHORT[i] for i in result.known if i < COST_VECTOR]
        for objective in objectives:
            if np.isnan(evaluate(result, objective)).all():
                raise MetricError(
                    f"the objective '{as_objective(objective)}' has no value under any setting. "
                    "Change it."
                )
        return list(objectives)

    def result(self) -> SweepResult:
        """Return the table of what was replayed."""
        known = np.flatnonzero(self.known)
        return SweepResult(
            self.model.jobs.workload.name,
            len(self.model.jobs),
            self.model.cluster.cores,
            describe_scheduler(self.model),
            self.settings[known],
            self.costs[known],
            np.ones(len(known), np.bool_),
            time.perf_counter() - self.began,
        )


def _sphere(count: int) -> Floats:
    """Return points spread evenly over the sphere: the spiral of Fibonacci."""
    i = np.arange(count) + 0.5
    height = 1 - 2 * i / count
    angle = np.pi * (1 + np.sqrt(5)) * i
    radius = np.sqrt(1 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)


def _nearest(points: Floats, among: Floats, count: int) -> tuple[Ints, Floats]:
    """Return for each point the nearest of others on the sphere, and how far they are."""
    found = np.empty((len(points), count), np.int64)
    distance = np.empty((len(points), count))
    for first in range(0, len(points), 4096):  # whole tables of distances would not fit
        part = slice(first, first + 4096)
        likeness = points[part] @ among.T
        if count == 1:
            rows = np.argmax(likeness, axis=1)[:, None]
        else:
            rows = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        found[part] = rows
        cosine = np.clip(np.take_along_axis(likeness, rows, axis=1), -1, 1)
        distance[part] = np.arccos(cosine)
    return found, distance


def _guess(values: Floats, nearest: Ints, distance: Floats) -> Floats:
    """Guess the values of settings from their neighbours, nearer ones counting more."""
    weight = 1 / (distance + 1e-3)
    weight /= weight.sum(axis=1, keepdims=True)
    around = np.where(np.isnan(values), np.nanmax(values), values)[nearest]
    mean = (weight * around).sum(axis=1)
    spread = np.sqrt((weight * np.square(around - mean[:, None])).sum(axis=1))
    return np.asarray(mean - BONUS * spread)

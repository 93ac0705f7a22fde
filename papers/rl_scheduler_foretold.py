"""Orders that look at foretold runtimes, one of them learned on generated logs, and which to take.

Users ask for more time than they need. What a job of theirs will take is foretold from the jobs
that came before the sequence in which it stands, by the share of the request that jobs like it have
used. In logs whose requests are exact it is the request.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

import queuesmith as qs
from papers.kept_pieces import KeptPieces
from papers.rl_scheduler_learning import POPULATION, Learned, split_starts
from papers.rl_scheduler_paper import LENGTH
from papers.rl_scheduler_runs import FIXED, Columns, JobSequence, Values, judged
from queuesmith.learning.cma_library import CmaSearch
from queuesmith.policy import Order
from queuesmith.policy.orders import DAY
from queuesmith.policy.view import Job, Machine

#: Of jobs alike the last so many count, and so many there must be.
RECENT, ENOUGH = 5, 2
#: Generated logs of 10,000 jobs on 256 cores to learn from: the seed and the load.
GENERATED = {11: 1.05, 12: 0.8, 13: 1.0, 14: 0.9, 15: 1.1, 16: 0.95}
#: How the learned order is learned: generations, the centres at the end whose mean is taken, how
#: far it looks at first, and of how many sequences of each log one is used.
GENERATIONS, LAST, STEP, EVERY = 30, 10, 0.3, 3


# -- what is foretold ------------------------------------------------------------------------------


class Past:
    """What jobs of a log have used of their requests, by kinds of jobs."""

    def __init__(self, jobs: Columns) -> None:
        self._jobs = jobs
        self._places: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
        runtime, request = np.maximum(jobs[:, 1], 1), np.maximum(jobs[:, 2], 1)
        self._used = np.log(runtime / np.maximum(request, runtime))
        for place, row in enumerate(jobs[:, 2:5].tolist()):
            for kind in _kinds(*row):
                self._places[kind].append(place)

    def foretold(self, start: int) -> Values:
        """Return the logarithms of the runtimes that are foretold for the sequence from there on.

        Nothing of the sequence itself is used, nor anything later.
        """
        rows = self._jobs[start : start + LENGTH, 2:5]
        used = {row: self._share(row, start) for row in set(map(tuple, rows.tolist()))}
        shares = np.array([used[row] for row in map(tuple, rows.tolist())])
        logarithms: Values = np.log(np.maximum(rows[:, 0], 1)) + shares
        return logarithms

    def _share(self, row: tuple[int, ...], before: int) -> float:
        for kind in _kinds(*row):
            places = self._places.get(kind, [])
            count = bisect_left(places, before)
            if count >= ENOUGH:
                return float(self._used[places[max(0, count - RECENT) : count]].mean())
        return 0.0


def _kinds(request: int, cores: int, user: int) -> Iterator[tuple[object, ...]]:
    """Yield the kinds of a job, the narrowest first."""
    yield user, request, cores
    yield user, request
    yield ("user", user)
    yield ("request", request)
    yield ()


def halves(jobs: Columns, cores: int) -> dict[str, list[JobSequence]]:
    """Return the sequences of a log that are learned from and judged on, with what is foretold."""
    past = Past(jobs)
    return {
        part: [JobSequence(jobs[one : one + LENGTH], cores, past.foretold(one)) for one in starts]
        for part, starts in split_starts(len(jobs)).items()
    }


def generated(seed: int) -> tuple[Columns, int]:
    """Return a generated log, and its cores."""
    made = qs.lublin(10_000, 256, seed=seed, load=GENERATED[seed], estimates=False)
    nobody = np.full(len(made), -1)
    return np.stack([made.submit, made.runtime, made.walltime, made.cores, nobody], axis=1), 256


# -- orders ----------------------------------------------------------------------------------------


def foretold_blend(
    job: Job,
    now: int,
    machine: Machine,
    walltime: float = -0.5,
    foretold: float = -0.5,
    cores: float = -1,
    wait: float = 0,
    urgency: float = 0,
    length: float = 0,
    width: float = 0,
    fits: float = 0,
    fits_foretold: float = 0,
    fits_cores: float = 0,
    filling: float = 0,
) -> float:
    """The order ``blend`` with the foretold runtime beside the request."""
    waited = now - job.submit
    runtime = np.exp(job.foretold)  # type: ignore[attr-defined]
    score = (
        walltime * job.log_walltime
        + foretold * job.foretold  # type: ignore[attr-defined]
        + cores * job.log_cores
        + wait * np.log(max(waited, 1))
        + urgency * np.log(1.0 + waited / runtime)
        + length * min(runtime / DAY, 1.0)
        + width * job.cores / machine.cores
    )
    if job.cores <= machine.free:
        score += (
            fits
            + fits_foretold * job.foretold  # type: ignore[attr-defined]
            + fits_cores * job.log_cores
            + filling * job.cores / machine.free
        )
    return float(score)


ORDER = Order(foretold_blend)
#: The order by default: smallest area first, with runtimes halfway, by ratio, between the request
#: and what is foretold.
AREA, LEARNED = "smallest foretold area", "learned on generated logs"


def learned_on(kept: KeptPieces, seeds: Sequence[int], *, only_kept: bool) -> Order | None:
    """Return the order learned on some generated logs under true EASY; None if it is not kept."""
    name = f"generated logs {', '.join(map(str, seeds))}, true EASY, seed 0"
    piece = kept.piece(name, None if only_kept else lambda: asdict(_learn(seeds)))
    return ORDER.having(**piece["parameters"]) if piece else None


def _learn(seeds: Sequence[int]) -> Learned:
    """Learn the weights that make the mean slowdown of each log small, beside smallest area's."""
    began = time.perf_counter()
    logs = [halves(*generated(seed))["learned"][::EVERY] for seed in seeds]
    fixed = [judged(FIXED["SAF"], "easy", on).mean() for on in logs]
    start = np.array(list(ORDER.parameters.values()), dtype=float)
    search = CmaSearch(start, STEP, POPULATION, np.random.default_rng(0))
    centres = []

    def loss(order: Order) -> float:
        ratios = [judged(order, "easy", on).mean() / f for on, f in zip(logs, fixed, strict=True)]
        return float(np.log(ratios).mean())

    for _ in range(GENERATIONS):
        vectors = search.ask()
        search.tell(vectors, [loss(_order(vector)) for vector in vectors])
        centres.append(search.centre)
    taken = _order(np.mean(centres[-LAST:], axis=0))
    value = float(np.mean([judged(taken, "easy", on).mean() for on in logs]))
    seconds = time.perf_counter() - began
    return Learned(dict(taken.parameters), value, POPULATION * GENERATIONS, seconds)


def _order(vector: Values) -> Order:
    names = zip(ORDER.parameters, vector, strict=True)
    return ORDER.having(**{name: round(float(x), 4) for name, x in names})


def chosen(learned: Order, earlier: Sequence[JobSequence]) -> tuple[str, Order]:
    """Return which of the two orders has the lower mean slowdown on earlier sequences of a log."""
    orders = {AREA: ORDER, LEARNED: learned}
    name = min(orders, key=lambda name: float(judged(orders[name], "easy", earlier).mean()))
    return name, orders[name]

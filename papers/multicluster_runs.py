"""The pieces of the multi-cluster study, all kept in one file."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean
from typing import Any

from papers.kept_pieces import KeptPieces
from queuesmith.federation import FederationJobs, PlaceOptions
from queuesmith.federation.exact import best_in_slots, solve_oas, solve_slots
from queuesmith.federation.exact.slots import slot_seconds, slots_until, slotted_heuristic
from queuesmith.federation.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.model.generate import (
    generate_queue,
    paper_federation,
    paper_queue,
    with_arrivals,
)
from queuesmith.federation.model.placed import compaction_percent, last_end
from queuesmith.federation.online import replay
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify
from queuesmith.solving.libraries import solver_library
from queuesmith.solving.mixed_model import HIGHS

#: Section 4.1: slots of 15 to 250 per cent of the mean base time.
SLOT_PERCENTS = (15, 20, 30, 40, 50, 75, 100, 150, 200, 250)
#: Section 4.2: the heuristics, and the slot size of the comparison.
PAPER_HEURISTICS = ("fcfs", "sjf", "bjf", "fpfs", "spt", "lpt")
COMPARED_PERCENT = 50
#: Beyond the paper: how many jobs, how many queues, and the seconds for each.
SIZES = ((12, 3, 30.0), (20, 5, 30.0), (40, 3, 30.0), (100, 3, 60.0))
#: Streams of arriving jobs: seeds on which nothing was chosen (see `multicluster_constants`).
STREAM_SEEDS, STREAM_JOBS, LOADS = range(12), 30, (0.5, 1.0, 2.0)
#: Steps of `oas`, of its plans on streams, and seconds of the slot model solved to its end.
STEPS, SLOT_SECONDS = 100_000, 60.0
#: Queues so small that HiGHS ends with many slot sizes: their jobs, seeds, sizes, and seconds.
SMALL_JOBS, SMALL_SEEDS = 3, range(3)
SMALL_PERCENTS, SMALL_SECONDS = (50, 75, 100, 150, 200, 250), 100.0
#: How many queues of a kind tell which technique suits it.
FAVOUR_SEEDS = 300

FEDERATION = paper_federation()


class Pieces:
    """Makes the pieces of the study, or reads them.

    Parameters
    ----------
    path
        The file in which they are kept.
    make
        Whether missing ones are made.
    workers
        How many threads may work at once where the clock stops a method.
    """

    def __init__(self, path: Path, *, make: bool, workers: int) -> None:
        self.kept, self.make, self.workers = KeptPieces(path), make, workers

    def mip(self, percent: int, seconds: float) -> dict[str, Any] | None:
        """Return what HiGHS finds with the paper's model for one slot size."""

        def solve() -> dict[str, Any]:
            queue = slot_queue(0)
            size = slot_seconds(queue, percent)
            start = slotted_heuristic(FEDERATION, queue, size)
            found = verify(solve_slots(FEDERATION, queue, slot=size, seconds=seconds))
            return {
                "makespan": last_end(found),
                "seconds": round(found.seconds or 0.0, 1),
                "status": found.facts["slot_status"],
                "start": int(slots_until(start, size).max()),
                "slots": found.facts["slots"],
                "bound": found.facts["slot_bound"],
            }

        return self._piece(f"mip started {percent} % {seconds:g} s", solve)

    def small_mip(self, percent: int, seed: int) -> dict[str, Any] | None:
        """Return how long HiGHS takes for a small queue, in seconds of the processor."""

        def solve() -> dict[str, Any]:
            queue = generate_queue("general", SMALL_JOBS, seed=seed)
            size = slot_seconds(queue, percent)
            solver_library(HIGHS)
            slotted_heuristic(FEDERATION, queue, size)  # loading takes none of the time
            began = time.process_time()
            found = verify(solve_slots(FEDERATION, queue, slot=size, seconds=SMALL_SECONDS))
            took = time.process_time() - began
            return {"cpu_seconds": round(took, 3), "status": found.facts["slot_status"]}

        return self._piece(f"small mip started {SMALL_JOBS} jobs {percent} % seed {seed}", solve)

    def slots(self, percent: int, seed: int) -> dict[str, Any] | None:
        """Return the slot model solved to its end, for one slot size and workload."""

        def solve() -> dict[str, Any]:
            queue = slot_queue(seed)
            return self._in_slots(queue, percent) | {"optimum": self._best(queue)["makespan"]}

        return self._piece(f"slots {percent} % seed {seed}", solve)

    def workload(self, name: str, seed: int) -> dict[str, Any] | None:
        """Return the makespans and compactions of all methods on one workload."""

        def solve() -> dict[str, Any]:
            queue = paper_queue(name, seed=seed)
            found: dict[str, Any] = {
                each.upper(): _facts(place_by_heuristic(FEDERATION, queue, each))
                for each in PAPER_HEURISTICS
            }
            found["slots 50 %"] = self._in_slots(queue, COMPARED_PERCENT)
            found["oas"] = self._best(queue)
            return found | {"best of all rules": best_rule(queue)}

        return self._piece(f"workload {name} seed {seed}", solve)

    def favoured(self, kind: str) -> dict[str, Any] | None:
        """Return on how many queues of a kind each heuristic is the best, or as good."""

        def solve() -> dict[str, Any]:
            won = dict.fromkeys(PAPER_HEURISTICS, 0)
            for seed in range(FAVOUR_SEEDS):
                queue = generate_queue(kind, seed=seed)
                ends = {
                    name: last_end(place_by_heuristic(FEDERATION, queue, name))
                    for name in PAPER_HEURISTICS
                }
                for name in PAPER_HEURISTICS:
                    won[name] += ends[name] == min(ends.values())
            return won

        return self._piece(f"favoured {kind}", solve)

    def stream(self, load: float, seed: int) -> dict[str, Any] | None:
        """Return the mean wait and the last end of all methods on one stream."""

        def solve() -> dict[str, Any]:
            queue = generate_queue("general", STREAM_JOBS, seed=seed)
            jobs = with_arrivals(queue, FEDERATION, load=load, seed=seed)
            found: dict[str, Any] = {}
            for name in (*PAPER_HEURISTICS, "oas"):
                options = PlaceOptions(steps=10_000)
                done = verify(replay(FEDERATION, jobs, name, saturation=1.0, options=options))
                found[name] = {"wait": float(done.wait.mean()), "makespan": last_end(done)}
            told = ("plans", "plans_proven", "plan_gap_percent_mean", "plan_gap_percent_worst")
            return found | {"facts": {name: done.facts[name] for name in told}}

        return self._piece(f"stream load {load:g} seed {seed}", solve)

    def size(self, count: int, queues: int, seconds: float) -> dict[str, Any] | None:
        """Return the proven gaps of larger queues, and what the best heuristic is worth."""

        def solve() -> dict[str, Any]:
            gaps, heuristic_gaps, optimal = [], [], 0
            for seed in range(queues):
                queue = generate_queue("general", count, seed=seed)
                found = verify(solve_oas(FEDERATION, queue, seconds=seconds, workers=self.workers))
                bound, rule = found.lower_bound or 1, best_rule(queue)
                assert last_end(found) <= rule
                gaps.append(100 * (last_end(found) / bound - 1))
                heuristic_gaps.append(100 * (rule / bound - 1))
                optimal += found.status == "optimal"
            return {
                "mean_gap": round(mean(gaps), 2),
                "worst_gap": round(max(gaps), 2),
                "optimal": optimal,
                "mean_heuristic_gap": round(mean(heuristic_gaps), 2),
            }

        return self._piece(f"size {count} jobs {queues} queues {seconds:g} s", solve)

    def _piece(self, name: str, solve: Any) -> dict[str, Any] | None:
        return self.kept.piece(name, solve if self.make else None)

    def _in_slots(self, queue: FederationJobs, percent: int) -> dict[str, Any]:
        found = best_in_slots(
            FEDERATION,
            queue,
            slot=slot_seconds(queue, percent),
            seconds=SLOT_SECONDS,
            workers=self.workers,
        )
        proven = found.facts["slots"] == found.facts["slot_bound"]
        return _facts(verify(found)) | {"slots": found.facts["slots"], "proven": proven}

    def _best(self, queue: FederationJobs) -> dict[str, Any]:
        found = verify(solve_oas(FEDERATION, queue, steps=STEPS))
        return _facts(found) | {
            "status": str(found.status),
            "seconds": round(found.seconds or 0, 1),
        }


def slot_queue(seed: int) -> FederationJobs:
    """Return a workload of the slot study: 8 jobs of 1 to 12 tasks, sigma 0.7."""
    return generate_queue("general", seed=seed, name=f"slot study {seed}")


def best_rule(queue: FederationJobs) -> int:
    """Return the last end of the best of all orders with all allocation rules."""
    return min(
        last_end(place_by_heuristic(FEDERATION, queue, heuristic, allocation))
        for heuristic in HEURISTICS
        for allocation in ALLOCATIONS
    )


def _facts(schedule: Schedule) -> dict[str, Any]:
    verify(schedule)
    return {"makespan": last_end(schedule), "compaction": round(compaction_percent(schedule), 2)}

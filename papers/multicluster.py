"""Blanco, Guirado, Lérida and Albornoz: MIP scheduling for multi-clusters, figures 3 and 4, and on.

    python -m papers.multicluster --seconds 10 --mip-seconds 20

repeats the study of the time-slot size and the comparison with six heuristics, with what is proven
beside them, goes on to 100 jobs, and keeps the tables in docs/results/multicluster.md. The paper
gives its figures without numbers. The figures go to --figures as one HTML page.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from papers.multicluster_figures import all_figures
from papers.pictures import write_page
from papers.study import RESULTS, markdown
from queuesmith.federation import FederationJobs
from queuesmith.federation.exact import best_in_slots, solve_oas, solve_slots
from queuesmith.federation.exact.slots import slot_seconds
from queuesmith.federation.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.model.generate import (
    PAPER_QUEUES,
    generate_queue,
    paper_federation,
    paper_queue,
)
from queuesmith.federation.model.placed import compaction_percent, last_end
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify

#: Section 4.1: slots of 15 to 250 per cent of the mean base time.
SLOT_PERCENTS = (15, 20, 30, 40, 50, 75, 100, 150, 200, 250)
#: Section 4.2: the heuristics, and the slot size of the comparison.
PAPER_HEURISTICS = ("fcfs", "sjf", "bjf", "fpfs", "spt", "lpt")
COMPARED_PERCENT = 50
#: Beyond the paper: how many jobs, how many queues, and the seconds for each.
SIZES = ((12, 3, 30.0), (20, 5, 30.0), (40, 3, 30.0), (100, 3, 60.0))

FEDERATION = paper_federation()


def main() -> None:
    """Run the study with the budget of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="for oas with 8 jobs")
    parser.add_argument("--mip-seconds", type=float, default=20.0, help="for HiGHS")
    parser.add_argument("--share", type=float, default=1.0, help="of the seconds of larger queues")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figures", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS / "multicluster.md")
    asked = parser.parse_args()
    began = time.perf_counter()
    slots = [slot_row(percent, asked) for percent in SLOT_PERCENTS]
    workloads = [Compared.run(name, asked) for name in PAPER_QUEUES]
    sizes = [size_row(*size, asked) for size in SIZES]
    minutes = (time.perf_counter() - began) / 60
    text = report(slots, workloads, sizes, asked, minutes)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(text, encoding="utf-8")
    print(text)
    if asked.figures is not None:
        write_page(all_figures(slots, workloads), asked.figures, title="Multi-clusters")


# -- figure 3 --------------------------------------------------------------------------------------


def slot_queue() -> FederationJobs:
    """Return the workload of the slot study: 8 jobs of 1 to 12 tasks, sigma 0.7."""
    return generate_queue("general", seed=0, name="slot study")


def slot_row(percent: int, asked: argparse.Namespace) -> dict[str, object]:
    """Figure 3 for one slot size: what HiGHS finds, what the model allows, what is best."""
    queue = slot_queue()
    best = _best(queue, asked)
    size = slot_seconds(queue, percent)
    mip = verify(solve_slots(FEDERATION, queue, slot=size, seconds=asked.mip_seconds))
    exact = verify(
        best_in_slots(FEDERATION, queue, slot=size, seconds=asked.seconds, workers=asked.workers)
    )
    print(f"slots of {percent} %: {last_end(mip)}, at best {last_end(exact)}", flush=True)
    proven = exact.facts["slots"] == exact.facts["slot_bound"]
    return {
        "slot %": percent,
        "slot s": size,
        "MIP makespan": last_end(mip),
        "MIP s": f"{mip.seconds:.1f}",
        "HiGHS": mip.facts["slot_status"],
        "fewest slots": f"{exact.facts['slots']}" + ("" if proven else " (not proven)"),
        "makespan then": last_end(exact),
        "solved in s": f"{exact.seconds:.1f}",
        "compaction %": f"{compaction_percent(exact):.1f}",
        "optimum without slots": last_end(best),
        "loss %": f"{100 * (last_end(exact) / last_end(best) - 1):.1f}",
    }


# -- figure 4 --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """One workload: the schedules of the paper's heuristics, the slot model and oas."""

    name: str
    schedules: dict[str, Schedule]

    @classmethod
    def run(cls, name: str, asked: argparse.Namespace) -> Compared:
        """Place a workload by all of them."""
        queue = paper_queue(name)
        found = {
            heuristic.upper(): place_by_heuristic(FEDERATION, queue, heuristic)
            for heuristic in PAPER_HEURISTICS
        }
        size = slot_seconds(queue, COMPARED_PERCENT)
        found["slots 50 %"] = best_in_slots(
            FEDERATION, queue, slot=size, seconds=asked.seconds, workers=asked.workers
        )
        found["oas"] = _best(queue, asked)
        for schedule in found.values():
            verify(schedule)
        print(f"{name}: {last_end(found['oas'])} ({found['oas'].status})", flush=True)
        return cls(name, found)

    def makespans(self) -> dict[str, object]:
        """Figure 4(a), with what is proven."""
        best = self.schedules["oas"]
        queue = FederationJobs.of(best.workload)
        every = min(
            last_end(place_by_heuristic(FEDERATION, queue, heuristic, allocation))
            for heuristic in HEURISTICS
            for allocation in ALLOCATIONS
        )
        return {
            "workload": self.name,
            **{name: last_end(each) for name, each in self.schedules.items()},
            "best of all rules": every,
            "status": best.status,
            "oas s": f"{best.seconds:.1f}",
        }

    def compactions(self) -> dict[str, object]:
        """Figure 4(b)."""
        return {
            "workload": self.name,
            **{name: f"{compaction_percent(each):.1f}" for name, each in self.schedules.items()},
        }


def _best(queue: FederationJobs, asked: argparse.Namespace) -> Schedule:
    """The best schedule without slots, found once for each queue."""
    if queue.name not in _DONE:
        _DONE[queue.name] = solve_oas(
            FEDERATION, queue, seconds=asked.seconds, workers=asked.workers
        )
    return _DONE[queue.name]


_DONE: dict[str, Schedule] = {}


# -- beyond the paper ------------------------------------------------------------------------------


def size_row(
    count: int, queues: int, seconds: float, asked: argparse.Namespace
) -> dict[str, object]:
    """Larger queues: the gap that is proven, and what the best heuristic is worth."""
    gaps, heuristic_gaps, optimal, budget = [], [], 0, seconds * asked.share
    for seed in range(queues):
        queue = generate_queue("general", count, seed=seed)
        found = verify(solve_oas(FEDERATION, queue, seconds=budget, workers=asked.workers))
        bound = found.lower_bound or 1
        best_rule = min(
            last_end(place_by_heuristic(FEDERATION, queue, heuristic, allocation))
            for heuristic in HEURISTICS
            for allocation in ALLOCATIONS
        )
        assert last_end(found) <= best_rule
        gaps.append(100 * (last_end(found) / bound - 1))
        heuristic_gaps.append(100 * (best_rule / bound - 1))
        optimal += found.status == "optimal"
        print(f"{count} jobs, seed {seed}: gap {gaps[-1]:.2f} %", flush=True)
    return {
        "jobs": count,
        "queues": queues,
        "seconds each": f"{budget:g}",
        "mean gap %": f"{mean(gaps):.2f}",
        "worst gap %": f"{max(gaps):.2f}",
        "proven optimal": optimal,
        "best heuristic, mean gap %": f"{mean(heuristic_gaps):.2f}",
    }


# -- the page --------------------------------------------------------------------------------------


def report(
    slots: list[dict[str, object]],
    workloads: list[Compared],
    sizes: list[dict[str, object]],
    asked: argparse.Namespace,
    minutes: float,
) -> str:
    """Return the whole study as Markdown."""
    proven = sum(each.schedules["oas"].status == "optimal" for each in workloads)
    slowest = max(each.schedules["oas"].seconds or 0.0 for each in workloads)
    return f"""# Multi-cluster scheduling: the study

Made by `python -m papers.multicluster --seconds {asked.seconds:g} --mip-seconds
{asked.mip_seconds:g} --share {asked.share:g} --workers {asked.workers}` in {minutes:.0f} minutes.
Three clusters of four nodes at 1.0, 0.75 and 0.5 (section 4 of the paper); the paper gives neither
its jobs nor its numbers, so the workloads are drawn as `generate_queue` says, with seeds. Seconds
depend on the computer and on what else it does.

`oas` solves {proven} of the {len(workloads)} workloads of 8 jobs to proven optimality, in at most
{slowest:.1f} s.

## Figure 3: the size of the time slots

The paper's MIP on HiGHS, {asked.mip_seconds:g} s each, starts from the best heuristic's deadline;
where it finds nothing shorter, that placement is shown. *Fewest slots* is the proven optimum of the
slot model itself, found by other means (see [how](../federation_exact.md#the-slot-model)); the loss
is that of its placement, at true times, against the optimum without slots.

{markdown(slots)}

## Figure 4(a): makespan

Heuristics allocate the fastest nodes first. *Best of all rules* is the best of all orders with all
allocation rules. *Slots 50 %* is the slot model solved to its end.

{markdown([each.makespans() for each in workloads])}

## Figure 4(b): compaction, per cent

{markdown([each.compactions() for each in workloads])}

## More jobs

Queues of kind `general`, `oas` with {asked.workers} workers. The gap is proven: to the bound that
`oas` found itself. On every queue it is at or below the best of all heuristics and allocation
rules.

{markdown(sizes)}
"""


if __name__ == "__main__":
    main()

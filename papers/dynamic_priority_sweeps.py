"""Figure 6 of dynamic prioritisation, all settings on 50 jobs, and the same search on more of them.

What a sweep or a search found is kept as numbers; seconds are those of the processor, in all
threads together, since the machine may have other work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.kept_pieces import KeptPieces
from papers.study import markdown
from queuesmith import Workload, simulate, verify
from queuesmith.knobs import Knobs, SweepResult, TaskJobs, choose, quick_search, sweep
from queuesmith.schedule import Schedule

#: The machine of the paper, "the largest job", and the one that the log comes from.
PAPER_CORES, INTREPID_CORES = 65_536, 163_840
#: What the tables call a reading of the paper: its name, whether jobs may be split, who overtakes.
SCHEDULERS = (("easy", False, "easy"), ("list", False, "list"), ("knapsack", True, "list"))
#: The paper's costs, as a sweep orders them, and with how many digits they are told.
COSTS = {"A": 2, "B": 2, "C": 2, "D": 2, "response time": 0}
#: What the quick search is asked for, and what a sweep calls it.
OBJECTIVES = {
    "A": "A",
    "B": "B",
    "C": "C",
    "D": "D",
    "RT": "makespan",
    "mean_wait": "mean_wait",
}
#: The piece in which jobs may be split, as the paper's text has it.
SPLIT = "50 jobs allocated knapsack"
WHOLE_LOG = ["A", "B", "C", "D", "mean_wait"]


class Sweeps:
    """Makes the searches that are missing, and tells what all of them found.

    Parameters
    ----------
    log
        ANL-Intrepid.
    kept
        What was found already.
    """

    def __init__(self, log: Workload, kept: KeptPieces) -> None:
        self.log, self.kept = log, kept

    def text(self) -> str:
        """Return the sections of the page."""
        return "\n".join([self._fifty(), self._thousand(), self._whole()])

    def shown(self) -> SweepResult:
        """Sweep the first 50 jobs as the paper most likely did: rigid, EASY, allocated cores."""
        jobs = TaskJobs(_known(self.log.head(50), "allocated"), malleable=False)
        return sweep(jobs, cores=PAPER_CORES, backfill="easy")

    @cached_property
    def plain(self) -> Schedule:
        """The whole log as it would have been first come, first served."""
        return simulate(self.log, policy="fcfs+easy")

    def class_b_claim(self) -> Claim:
        """Return whether knobs help large and short jobs, on the whole log."""
        best = self.kept["the whole log quick"]["best"]["B"]
        before = self.plain.value("expansion_factor[B]")
        tuned = simulate(self.log, policy=Knobs(*best["knobs"]).policy("easy"))
        waits = [f"{each.wait.max() / 3600:,.0f} h" for each in (tuned, self.plain)]
        return Claim(
            "knobs reduce the wait of large and short jobs, class B (abstract)",
            f"on the whole log E_f of B is {best['value']:.2f}, first come, first served "
            f"with EASY {before:.2f}",
            best["value"] < before,
            f"in hindsight; the longest wait is {waits[0]} instead of {waits[1]}",
        )

    def _piece(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what was found, with the seconds of the processor that it took."""

        def timed() -> dict[str, Any]:
            began = time.process_time()
            found = make()
            return {**found, "processor_seconds": round(time.process_time() - began, 2)}

        piece = self.kept.piece(name, timed)
        assert piece is not None
        return piece

    # -- figure 6 ---------------------------------------------------------------------------------

    def _fifty(self) -> str:
        """Search the first 50 jobs on 65,536 cores, in every reading of the paper."""
        rows = []
        for size in ("requested", "allocated"):
            jobs = _known(self.log.head(50), size)
            for scheduler, malleable, backfill in SCHEDULERS:
                bags = TaskJobs(jobs, malleable=malleable)

                def search(bags: TaskJobs = bags, backfill: str = backfill) -> dict[str, Any]:
                    return _found(sweep(bags, cores=PAPER_CORES, backfill=backfill))

                piece = self._piece(f"50 jobs {size} {scheduler}", search)
                rows.append({"cores": size, "scheduler": scheduler, **_ranges(piece)})
        shown = self.shown()
        answer = choose(shown, "B", where=["RT within 2%"])
        class_d = shown.costs[:, list(COSTS).index("D")]
        return f"""## Figure 6: all settings on the first 50 jobs of ANL-Intrepid, 65,536 cores

The paper took arrival, cores and duration; here runtimes are known to the scheduler. It does not
say which of the log's two numbers of cores it took. Its 65,536, "the largest job", is the largest
*allocated* number among the 50; with the *requested* numbers (what the reader takes) the largest
is 16,384 and hardly anybody waits. Its waits "were set to zero"; here a wait counts from 1 s, since
0 to a negative power is nothing to sort by. Its formula counts 64,000 settings; with both ends of
each range there are 68,921. Each cell is the least and the greatest value over all settings;
seconds are those of the processor.

{markdown(rows)}

The paper: 30 s for all schedules; E_f of class D 1.75 at the least response time, of class A just
above 1; no job in class C. By the averages of these 50 jobs class C does have jobs under either
reading, so the paper's classes cannot be had from its text. It lists both backfilling that delays
nobody and jobs that can be split among its assumptions. Of the six readings only rigid jobs with
EASY and allocated cores have 1.75 within the range of class D ({class_d.min():.2f} to
{class_d.max():.2f}), though not at the least response time, and none has class A near 1 beside it.
Hence `easy` is the default of `queuesmith sweep`: the nearest reading, not a match.

Among rigid jobs with EASY and allocated cores: of {len(shown):,} settings {shown.replays:,} were
replayed, the others proven equal; {len(shown.distinct[0]):,} different cost vectors,
{len(shown.front)} of them on the front. The setting with the least E_f of class B whose response
time is at most 2 % above the best: {answer.knobs} (E_f {answer.value:.3f}), which favours
{answer.favours}. A search by chance has settled, within 1 % of it, after {answer.settled_after:,}
settings in 19 of 20 cases.
"""

    # -- beyond the paper -------------------------------------------------------------------------

    def _thousand(self) -> str:
        """Search 1,000 jobs exhaustively, and quickly."""
        rows, gaps = [], []
        for cores in (INTREPID_CORES, PAPER_CORES):

            def search(cores: int = cores) -> dict[str, Any]:
                return _found(sweep(self.log.head(1000), cores=cores, backfill="easy"))

            everything = self._piece(f"1,000 jobs {cores} cores", search)
            replays = f"{everything['replays']:,}"
            rows.append({"cores": f"{cores:,}", **_ranges(everything), "replays": replays})
            gaps += [self._quick(cores, everything, objective) for objective in OBJECTIVES]
        return f"""## The same search on 1,000 jobs

Rigid jobs, EASY, all 68,921 settings; walltimes as users gave them. Jobs wider than 65,536 cores
are left out there. Seconds are those of the processor, in all threads together.

{markdown(rows)}

## The quick search beside the exhaustive one

At most 3 % of the settings are replayed for one objective. The last column tells how rare good
settings are: where only one or two of 68,921 come within 1 %, no search can be sure to meet them.

{markdown(gaps)}
"""

    def _quick(self, cores: int, everything: dict[str, Any], objective: str) -> dict[str, str]:
        def search() -> dict[str, Any]:
            jobs = self.log.head(1000)
            return _found(quick_search(jobs, cores=cores, backfill="easy", objectives=[objective]))

        found = self._piece(f"1,000 jobs {cores} cores quick {objective}", search)
        name = OBJECTIVES[objective]
        best, reached = (each["best"][name]["value"] for each in (everything, found))
        return {
            "cores": f"{cores:,}",
            "objective": objective,
            "exhaustive": f"{best:,.3f}",
            "quick": f"{reached:,.3f}",
            "above it": f"{100 * (reached / best - 1):.3f} %",
            "replays": f"{found['settings']:,} ({found['settings'] / everything['settings']:.1%})",
            "settings within 1 %": f"{everything['best'][name]['near']:,}",
        }

    def _whole(self) -> str:
        """Search the whole log quickly and verify what it found by full replays of the engine."""

        def search() -> dict[str, Any]:
            return _found(
                quick_search(self.log, backfill="easy", objectives=WHOLE_LOG, budget=0.03)
            )

        found = self._piece("the whole log quick", search)
        longest = f"{self.plain.wait.max() / 3600:,.0f} h"
        rows = []
        for name, best in found["best"].items():
            knobs = Knobs(*best["knobs"])
            schedule = verify(simulate(self.log, policy=knobs.policy("easy")))
            metric = f"expansion_factor[{name}]" if len(name) == 1 else name
            rows.append(
                {
                    "least": name,
                    "knobs": str(knobs),
                    "found": f"{best['value']:,.4f}",
                    "full replay": f"{schedule.value(metric):,.4f}",
                    "fcfs+easy": f"{self.plain.value(metric):,.4f}",
                    "longest wait": f"{schedule.wait.max() / 3600:,.0f} h",
                    "favours": best["favours"],
                }
            )
        left_out = len(self.log) - found["jobs"]
        return f"""## The whole log: {len(self.log):,} jobs on 163,840 cores

{left_out} job is wider than the machine and left out. Quick search for A, B, C, D and the mean wait
together: {found["settings"]:,} full replays in {found["processor_seconds"]:,.0f} s of the
processor. Each setting found was replayed once more by the engine and verified. They were searched
on the very jobs on which they are told, so this is what a setting can be worth in hindsight, not
what it will be. The longest wait under `fcfs+easy` is {longest}. The response time is set by the
last arrivals and the same for all.

{markdown(rows)}
"""


def figure_6_claims(found: SweepResult, kept: KeptPieces) -> list[Claim]:
    """Return what the paper says of figure 6 beside what all settings cost."""
    a, _, c, d, response = range(len(COSTS))
    costs = found.costs
    quickest = costs[np.lexsort((costs[:, d], costs[:, response]))[0]]
    least, greatest = costs.min(axis=0), costs.max(axis=0)
    has_c = not np.isnan(costs[0, c])
    requested, split = (kept[name] for name in ("50 jobs requested easy", SPLIT))
    seconds = kept["50 jobs allocated easy"]["processor_seconds"]
    return [
        Claim(
            "all schedules of 50 jobs take 30 s (section 4.3)",
            f"{seconds:.1f} s of the processor; {found.replays:,} of {len(found):,} settings are "
            "replayed",
            seconds < 30,
            "another computer, and the other settings are proven equal to one that was replayed",
            instead="faster" if seconds < 30 else "",
        ),
        Claim(
            "at the least response time E_f of class D is 1.75 (figure 6)",
            f"{quickest[d]:.2f}; over all settings {least[d]:.2f} to {greatest[d]:.2f}",
            bool(abs(quickest[d] - 1.75) < 0.1),
            "rigid jobs, EASY, allocated cores; jobs split by the knapsack have "
            f"{split['low'][d]:.2f} to {split['high'][d]:.2f}; 1.65 to 1.85 would do",
        ),
        Claim(
            "E_f of class A is just above 1 (figure 6)",
            f"{least[a]:.2f} to {greatest[a]:.2f} with allocated cores, {requested['low'][a]:.2f} "
            "with requested ones",
            bool(least[a] < 1.1),
            "with requested cores hardly anybody waits, class D neither; so no reading has both",
        ),
        Claim(
            "class C has no jobs (section 4.3)",
            f"it has {'some' if has_c else 'none'}, with allocated and with requested cores",
            not has_c,
            "by the averages of these 50 jobs; the paper's classes cannot be had from its text",
        ),
        Claim("the algorithm runs in O(n log n) (section 3)", "not measured", None),
    ]


def _known(log: Workload, size: str) -> Workload:
    """Return the jobs as the paper reads them: with their durations, and one of two sizes."""
    cores = log.cores if size == "requested" else log.extra["allocated_cores"]
    return log.replaced(cores=cores, walltime=log.runtime)


def _found(result: SweepResult) -> dict[str, Any]:
    """Return what is kept of a search."""
    best = result.best()
    columns = dict(zip(best, result.known, strict=True))
    return {
        "jobs": result.jobs,
        "settings": len(result),
        "replays": result.replays,
        "front": len(result.front),
        "low": result.costs[:, : len(COSTS)].min(axis=0).tolist(),
        "high": result.costs[:, : len(COSTS)].max(axis=0).tolist(),
        "best": {
            name: {
                "value": each["value"],
                "knobs": [each[knob] for knob in ("alpha", "beta", "gamma")],
                "favours": each["favours"],
                "near": int(
                    np.count_nonzero(result.costs[:, columns[name]] <= 1.01 * each["value"])
                ),
            }
            for name, each in best.items()
        },
    }


def _ranges(found: dict[str, Any]) -> dict[str, str]:
    """Return the costs of all settings as cells, and how long it took."""
    cells = {
        name: f"{low:,.{digits}f} to {high:,.{digits}f}"
        for (name, digits), low, high in zip(
            COSTS.items(), found["low"], found["high"], strict=True
        )
    }
    seconds = f"{found['processor_seconds']:,.1f}"
    return {**cells, "front": f"{found['front']:,}", "seconds": seconds}

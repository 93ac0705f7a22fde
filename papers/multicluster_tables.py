"""The tables of the multi-cluster study, made from the pieces that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.claims import Claim
from papers.multicluster_law import growth
from papers.multicluster_runs import (
    FAVOUR_SEEDS,
    LOADS,
    PAPER_HEURISTICS,
    SLOT_PERCENTS,
    SMALL_JOBS,
    SMALL_PERCENTS,
    SMALL_SECONDS,
    SMALL_SEEDS,
    STREAM_SEEDS,
    Pieces,
)
from papers.study import markdown, mean_and_half
from queuesmith.federation.model.generate import PAPER_QUEUES

#: A queue tells of a law where HiGHS ended with so many slot sizes.
ENOUGH_SIZES = 4
#: Laws whose shares of the variance are closer than this cannot be told apart.
TELLING = 0.05
METHODS = (*(name.upper() for name in PAPER_HEURISTICS), "slots 50 %", "oas")


class Summary:
    """What the kept pieces say.

    Parameters
    ----------
    pieces
        Where they come from.
    seeds
        How many workloads of each kind there are.
    mip_seconds
        The time of HiGHS.
    """

    def __init__(self, pieces: Pieces, seeds: int, mip_seconds: float) -> None:
        self.mip = {p: pieces.mip(p, mip_seconds) for p in SLOT_PERCENTS}
        self.slot_pieces = {
            p: _there(pieces.slots(p, seed) for seed in range(seeds)) for p in SLOT_PERCENTS
        }
        self.workloads = {
            name: _there(pieces.workload(name, seed) for seed in range(seeds))
            for name in PAPER_QUEUES
        }
        self.streams_at = {
            load: _there(pieces.stream(load, seed) for seed in STREAM_SEEDS) for load in LOADS
        }
        self.small_times = {
            seed: _ended({p: pieces.small_mip(p, seed) for p in SMALL_PERCENTS})
            for seed in SMALL_SEEDS
        }
        self.favoured = {kind: pieces.favoured(kind) for kind in set(PAPER_QUEUES.values())}
        self.pieces = pieces

    def counted(self) -> str:
        """Say how many seeds there are."""
        counts = sorted({len(some) for some in (*self.workloads.values(),)})
        slots = sorted({len(some) for some in self.slot_pieces.values()})
        return f"with {_span(counts)} seeds for each workload, {_span(slots)} for each slot size"

    # -- figure 3 ------------------------------------------------------------------------------

    def loss(self, percent: int) -> list[float]:
        """Return by how much slots lengthen the makespan, in per cent, one for each seed."""
        return [100 * (p["makespan"] / p["optimum"] - 1) for p in self.slot_pieces[percent]]

    def slots(self) -> str:
        """Return figure 3 as a table."""
        rows = []
        for percent in SLOT_PERCENTS:
            found, mip = self.slot_pieces[percent], self.mip[percent]
            rows.append(
                {
                    "slot %": percent,
                    "seeds": len(found),
                    "loss %": _interval(self.loss(percent)),
                    "compaction %": _interval([p["compaction"] for p in found]),
                    "proven": f"{sum(p['proven'] for p in found)} of {len(found)}",
                    "HiGHS s": "-" if mip is None else mip["seconds"],
                    "HiGHS": "-" if mip is None else mip["status"],
                    "its slots": "-" if mip is None else _of_highs(mip, found),
                }
            )
        return markdown(rows)

    # -- figure 4 ------------------------------------------------------------------------------

    def makespans(self) -> str:
        """Return figure 4(a) for the first seed."""
        rows = []
        for name, found in self.workloads.items():
            if found:
                first = found[0]
                row: dict[str, object] = {"workload": name}
                row |= {method: first[method]["makespan"] for method in METHODS}
                row["best of all rules"] = first["best of all rules"]
                rows.append(row | {"status": first["oas"]["status"]})
        return markdown(rows)

    def above(self, name: str, method: str) -> list[float]:
        """Return how far a method is above oas on a workload, in per cent, for each seed."""
        found = self.workloads[name]
        return [100 * (p[method]["makespan"] / p["oas"]["makespan"] - 1) for p in found]

    def above_optimum(self) -> str:
        """Return how far the methods are above the optimum over all seeds."""
        rows = []
        for name, found in self.workloads.items():
            row: dict[str, object] = {"workload": name, "seeds": len(found)}
            row |= {method: _interval(self.above(name, method)) for method in METHODS[:-1]}
            proven = sum(p["oas"]["status"] == "optimal" for p in found)
            rows.append(row | {"oas proven": f"{proven} of {len(found)}"})
        return markdown(rows)

    def compactions(self) -> str:
        """Return figure 4(b), the mean over seeds with its interval."""
        rows = []
        for name, found in self.workloads.items():
            row: dict[str, object] = {"workload": name}
            row |= {m: _interval([p[m]["compaction"] for p in found]) for m in METHODS}
            rows.append(row)
        return markdown(rows)

    # -- streams -------------------------------------------------------------------------------

    def streams(self) -> str:
        """Return what oas changes against each heuristic, stream by stream."""
        rows = []
        for load, found in self.streams_at.items():
            for name in PAPER_HEURISTICS:
                row: dict[str, object] = {"load": f"{load:g}", "against": name.upper()}
                for what, head in (("wait", "mean wait"), ("makespan", "makespan")):
                    changes = [100 * (p["oas"][what] / p[name][what] - 1) for p in found]
                    won = sum(c < 0 or (what == "makespan" and c == 0) for c in changes)
                    row |= {
                        f"{head} %": _interval(changes),
                        f"{head}, streams": f"{won} of {len(found)}",
                    }
                rows.append(row)
        return markdown(rows)

    def beaten(self, what: str) -> str:
        """Say on how many streams oas beats all heuristics."""
        said = []
        for load, found in self.streams_at.items():
            won = sum(
                p["oas"][what] <= min(p[name][what] for name in PAPER_HEURISTICS) for p in found
            )
            said.append(f"{won} of {len(found)} at load {load:g}")
        return ", ".join(said)

    def plan_gaps(self) -> str:
        """Say how far the plans of streams were from proven."""
        said = []
        for load, found in self.streams_at.items():
            facts = [p["facts"] for p in found]
            plans, proven = (sum(f[key] for f in facts) for key in ("plans", "plans_proven"))
            gap = np.mean([f["plan_gap_percent_mean"] for f in facts])
            worst = max(f["plan_gap_percent_worst"] for f in facts)
            said.append(
                f"at load {load:g} {proven} of {plans} were the best of all, the mean gap was "
                f"{gap:.1f} % and the worst {worst:.0f} %"
            )
        return "; ".join(said)

    # -- more jobs -----------------------------------------------------------------------------

    def sizes(self, sizes: Sequence[tuple[int, int, float]]) -> str:
        """Return the gaps of larger queues."""
        rows = []
        for count, queues, seconds in sizes:
            found = self.pieces.size(count, queues, seconds)
            if found is not None:
                rows.append(
                    {
                        "jobs": count,
                        "queues": queues,
                        "seconds each": f"{seconds:g}",
                        "mean gap %": found["mean_gap"],
                        "worst gap %": found["worst_gap"],
                        "proven optimal": found["optimal"],
                        "best heuristic, mean gap %": found["mean_heuristic_gap"],
                    }
                )
        return markdown(rows)

    # -- claims --------------------------------------------------------------------------------

    def claims(self) -> str:
        """Return the paper's sentences beside what was found."""
        return markdown([claim.row() for claim in self._claims()])

    def _claims(self) -> list[Claim]:
        small = [loss for percent in SLOT_PERCENTS if percent < 50 for loss in self.loss(percent)]
        means = [float(np.mean(self.loss(p))) for p in SLOT_PERCENTS]
        rising = bool((np.diff(means) > 0).all())
        return [
            Claim(
                "when the slot size increases, the makespan increases (4.1)",
                f"mean loss {means[0]:.1f} % at 15 %, {means[4]:.1f} % at 50 %, "
                f"{means[-1]:.1f} % at 250 %",
                means[0] < means[4] < means[-1],
                ""
                if rising
                else "on the whole; not from each size to the next: fewer slots may "
                "end later at true times",
            ),
            Claim(
                "below 50 % makespans become similar to the minimum (4.1)",
                f"mean loss {_interval(small)} %",
                float(np.mean(small)) < 5,
                "similar is taken as within 5 %",
            ),
            self._solving_time(),
            self._oas_good("slots 50 %", "in all cases OAS obtained good makespans (4.2)"),
            self._oas_good("oas", "the same, without slots"),
            self._favours("matching", "fpfs", "WL-1 suits what matches jobs and free nodes"),
            self._favours("small-first", "sjf", "WL-2 suits what starts small jobs first"),
        ]

    def _solving_time(self) -> Claim:
        says = "the solving time grows exponentially as slots become smaller (4.1)"
        queues = [ended for ended in self.small_times.values() if len(ended) >= ENOUGH_SIZES]
        if not queues:
            return Claim(says, "not run", None)
        law = growth(queues)
        return Claim(
            says,
            f"HiGHS, {len(queues)} queues of {SMALL_JOBS} jobs, {min(map(len, queues))} to "
            f"{max(map(len, queues))} slot sizes each: exp(slots in a mean base time) explains "
            f"{100 * law.exponential:.0f} % of the variance of log seconds, a power of them "
            f"{100 * law.power:.0f} %",
            law.factor > 1 and law.exponential > law.power,
            f"one more slot in a mean base time: {law.factor:.1f} times as long; or it grows as "
            f"their number to the power {law.degree:.1f}; runs that did not end in "
            f"{SMALL_SECONDS:g} s by the clock, on a busy computer, are left out",
            undecided=abs(law.exponential - law.power) < TELLING,
        )

    def _oas_good(self, method: str, says: str) -> Claim:
        won = total = 0
        for pieces in self.workloads.values():
            for piece in pieces:
                best = min(piece[name.upper()]["makespan"] for name in PAPER_HEURISTICS)
                won += piece[method]["makespan"] <= best
                total += 1
        why = (
            "at true times slots cost more than a good order gains: jobs wait for a slot to begin"
            if method != "oas"
            else "`oas` starts from all heuristics, so it is never longer"
        )
        found = f"`{method}` at or below the best of the six on {won} of {total} workloads"
        return Claim(says, found, won == total, why)

    def _favours(self, kind: str, heuristic: str, says: str) -> Claim:
        won = self.favoured[kind]
        if won is None:
            return Claim(says, "not run", None)
        count, best = won[heuristic], max(won, key=lambda name: won[name])
        return Claim(
            f"{says} (4.2)",
            f"{heuristic.upper()} is best or tied on {count} of {FAVOUR_SEEDS} queues of kind "
            f"`{kind}`; most often best: {best.upper()}, {won[best]}",
            best == heuristic,
            "our own reading of the workload; the paper does not give its jobs",
        )


def _ended(found: dict[int, dict[str, Any] | None]) -> dict[int, float]:
    """Return the seconds of the processor of those runs that came to their end."""
    return {
        percent: float(piece["cpu_seconds"])
        for percent, piece in found.items()
        if piece is not None and piece["status"] == "optimal"
    }


def _there(found: Any) -> list[dict[str, Any]]:
    return [piece for piece in found if piece is not None]


def _of_highs(mip: dict[str, Any], solved: list[dict[str, Any]]) -> str:
    """Say how many slots HiGHS began with, came to and proved, and how few there can be."""
    proven = "nothing" if mip["bound"] is None else f"{mip['bound']:.0f}"
    fewest = f"; {solved[0]['slots']} are the fewest" if solved else ""
    return f"{mip['start']} at first, {mip['slots']} at last, {proven} proven{fewest}"


def _interval(values: Sequence[float]) -> str:
    if not values:
        return "-"
    mean, half = mean_and_half(values)
    return f"{mean:.1f}" if half is None else f"{mean:.1f} ± {half:.1f}"


def _span(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

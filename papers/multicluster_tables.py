"""The tables of the multi-cluster study, made from the pieces that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.multicluster_runs import (
    LOADS,
    PAPER_HEURISTICS,
    SLOT_PERCENTS,
    SMALL_PERCENTS,
    SMALL_SEEDS,
    STREAM_SEEDS,
    Pieces,
)
from papers.study import markdown, mean_and_half
from queuesmith.federation.model.generate import PAPER_QUEUES

#: The paper's six heuristics as tables call them, its model, and all that are compared.
SIX, SLOTS = tuple(name.upper() for name in PAPER_HEURISTICS), "slots 50 %"
METHODS = (*SIX, SLOTS, "oas")


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
        self.mip_seconds = mip_seconds
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
                    "loss %": interval(self.loss(percent)),
                    "compaction %": interval([p["compaction"] for p in found]),
                    "proven": f"{sum(p['proven'] for p in found)} of {len(found)}",
                    "HiGHS s": "-" if mip is None else mip["seconds"],
                    "HiGHS": "-" if mip is None else mip["status"],
                    "its slots": "-" if mip is None else _of_highs(mip, found),
                }
            )
        return markdown(rows)

    def proven_without_slots(self) -> str:
        """Say on how many of the queues of that kind oas is proven to be the shortest."""
        found = [
            piece["oas"]["status"] == "optimal"
            for name, kind in PAPER_QUEUES.items()
            if kind == "general"
            for piece in self.workloads[name]
        ]
        return f"{sum(found)} of {len(found)}"

    # -- figure 4 ------------------------------------------------------------------------------

    def every_workload(self) -> list[dict[str, Any]]:
        """Return all workloads of all kinds."""
        return [piece for found in self.workloads.values() for piece in found]

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

    def above_oas(self) -> str:
        """Return how far the methods are above oas over all seeds."""
        rows = []
        for name, found in self.workloads.items():
            row: dict[str, object] = {"workload": name, "seeds": len(found)}
            row |= {method: interval(self.above(name, method)) for method in METHODS[:-1]}
            proven = sum(p["oas"]["status"] == "optimal" for p in found)
            rows.append(row | {"oas proven": f"{proven} of {len(found)}"})
        return markdown(rows)

    def compactions(self) -> str:
        """Return figure 4(b), the mean over seeds with its interval."""
        rows = []
        for name, found in self.workloads.items():
            row: dict[str, object] = {"workload": name}
            row |= {m: interval([p[m]["compaction"] for p in found]) for m in METHODS}
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
                        f"{head} %": interval(changes),
                        f"{head}, streams": f"{won} of {len(found)}",
                    }
                rows.append(row)
        return markdown(rows)

    def beaten(self, what: str) -> str:
        """Say on how many streams oas beats all heuristics, or ends as early as the best."""
        said = []
        for load, found in self.streams_at.items():
            changes = [
                p["oas"][what] - min(p[name][what] for name in PAPER_HEURISTICS) for p in found
            ]
            won = sum(c < 0 or (what == "makespan" and c == 0) for c in changes)
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
                f"at load {load:g} {proven} of {plans} were proven, the mean gap was "
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


def interval(values: Sequence[float]) -> str:
    """Return the mean of some values and half its interval."""
    if not values:
        return "-"
    mean, half = mean_and_half(values)
    return f"{mean:.1f}" if half is None else f"{mean:.1f} ± {half:.1f}"


def _span(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

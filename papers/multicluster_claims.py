"""The sentences of the multi-cluster paper beside what the kept pieces say."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from papers.claims import Claim
from papers.multicluster_law import growth
from papers.multicluster_runs import (
    COMPARED_PERCENT,
    FAVOUR_SEEDS,
    PAPER_HEURISTICS,
    SLOT_PERCENTS,
    SMALL_JOBS,
    SMALL_PERCENTS,
    SMALL_SECONDS,
)
from papers.multicluster_tables import SIX, SLOTS, Summary, interval
from papers.study import markdown, mean_and_half
from queuesmith.federation.model.generate import PAPER_QUEUES

#: Makespans as near as this, in per cent, are similar.
SIMILAR = 5.0
#: A queue tells of a law where HiGHS ended with so many slot sizes.
ENOUGH_SIZES = 4
#: Laws whose shares of the variance are closer than this cannot be told apart.
TELLING = 0.05
#: Workloads that were made to suit a technique.
SUITED = ("WL-1", "WL-2")


def claims(found: Summary) -> str:
    """Return the paper's sentences beside what was found."""
    told = [
        _longer_slots(found),
        *_similar(found),
        _solving_time(found),
        _complexity(found),
        *_good(found),
        *_good_without_slots(found),
        _different(found),
        _limited(found),
        _favours(found, "matching", "fpfs", "WL-1 suits what matches jobs and free nodes (4.2)"),
        _favours(found, "small-first", "sjf", "WL-2 suits what starts small jobs first (4.2)"),
    ]
    return markdown([claim.row() for claim in told])


# -- section 4.1: the size of the slots -------------------------------------------------------


def _longer_slots(found: Summary) -> Claim:
    means = [float(np.mean(found.loss(percent))) for percent in SLOT_PERCENTS]
    middle = SLOT_PERCENTS.index(COMPARED_PERCENT)
    rising = bool((np.diff(means) > 0).all())
    return Claim(
        "when the slot size increases, the makespan increases (4.1)",
        f"mean loss {means[0]:.1f} % at {SLOT_PERCENTS[0]} %, {means[middle]:.1f} % at "
        f"{COMPARED_PERCENT} %, {means[-1]:.1f} % at {SLOT_PERCENTS[-1]} %",
        means[0] < means[middle] < means[-1],
        "" if rising else "on the whole; not from each size to the next: fewer slots may end later",
    )


def _similar(found: Summary) -> list[Claim]:
    """Judge small slots by the least of all slot sizes, as in figure 3, and by none at all."""
    says = "below 50 % makespans become similar to the minimum (4.1)"
    if len({len(pieces) for pieces in found.slot_pieces.values()}) > 1:
        return [Claim(says, "not run with all slot sizes", None)]
    small = [percent for percent in SLOT_PERCENTS if percent < COMPARED_PERCENT]
    spans = np.array(
        [[piece["makespan"] for piece in found.slot_pieces[percent]] for percent in SLOT_PERCENTS]
    )
    above = 100 * (spans[: len(small)] / spans.min(axis=0) - 1)
    loss = np.array([found.loss(percent) for percent in small])
    why = f"similar is taken as within {SIMILAR:g} %; an interval is of the mean over seeds"
    return [
        Claim(
            says,
            f"{interval(above.mean(axis=0).tolist())} % above the least of all slot sizes, "
            + ", ".join(
                f"{fmean(each):.1f} % at {percent} %"
                for percent, each in zip(small, above.tolist(), strict=True)
            ),
            float(above.mean()) < SIMILAR,
            f"{why}{_but(small, above.mean(axis=1).tolist())}",
        ),
        Claim(
            "the same, against what no slots give",
            f"{interval(loss.mean(axis=0).tolist())} % above `oas`",
            float(loss.mean()) < SIMILAR,
            "the paper has no such schedule; its figure 3 can only speak of the row above",
        ),
    ]


def _but(percents: Sequence[int], above: Sequence[float]) -> str:
    """Name the slot sizes that are not similar by themselves."""
    far = [f"{p} %" for p, each in zip(percents, above, strict=True) if each >= SIMILAR]
    return f"; on average of these sizes: {', '.join(far)} by itself is not" if far else ""


def _solving_time(found: Summary) -> Claim:
    says = "below 50 % the solving time grows exponentially (4.1)"
    queues = [ended for ended in found.small_times.values() if len(ended) >= ENOUGH_SIZES]
    if not queues:
        return Claim(says, "not run", None)
    law = growth(queues)
    return Claim(
        says,
        f"HiGHS, {len(queues)} queues of {SMALL_JOBS} jobs, {min(map(len, queues))} to "
        f"{max(map(len, queues))} slot sizes of {SMALL_PERCENTS[0]} to {SMALL_PERCENTS[-1]} % "
        f"each: exp(slots in a mean base time) explains {100 * law.exponential:.0f} % of the "
        f"variance of log seconds, a power of them {100 * law.power:.0f} %",
        law.factor > 1 and law.exponential > law.power,
        f"one more slot in a mean base time: {law.factor:.1f} times as long; or it grows as "
        f"their number to the power {law.degree:.1f}; runs that did not end in "
        f"{SMALL_SECONDS:g} s by the clock, on a busy computer, are left out, and below 50 %, of "
        "which the paper speaks, none was made; the paper had CPLEX and 8 jobs",
        instead="undecided" if abs(law.exponential - law.power) < TELLING else "",
    )


def _complexity(found: Summary) -> Claim:
    says = "the MIP model has a great computational complexity (5)"
    runs = [mip for mip in found.mip.values() if mip is not None]
    if not runs:
        return Claim(says, "not run", None)
    late = sum(mip["status"] != "optimal" for mip in runs)
    return Claim(
        says,
        f"HiGHS does not end in {found.mip_seconds:g} s at {late} of {len(runs)} slot sizes with 8 "
        "jobs",
        late > 0,
        "`oas`, which has no slots, is proven on most such queues: see figure 4(a)",
    )


# -- section 4.2: the six techniques ----------------------------------------------------------


def _good(found: Summary) -> list[Claim]:
    spans, mean, uses, total = _against_six(found, SLOTS)
    return [
        Claim(
            "in all cases OAS obtained good makespans (4.2)",
            f"`{SLOTS}` at or below the best of the six on {spans} of {total} workloads, at or "
            f"below their mean on {mean}",
            spans == total,
            "good is taken as the best of the six, which have no slots; at true times jobs wait "
            "for a slot to begin",
        ),
        Claim(
            "and good compaction (4.2)",
            f"`{SLOTS}` at or above the best of the six on {uses} of {total} workloads",
            uses == total,
            "as above",
        ),
    ]


def _good_without_slots(found: Summary) -> list[Claim]:
    spans, _, uses, total = _against_six(found, "oas")
    return [
        Claim(
            "the makespans, without slots",
            f"`oas` at or below the best of the six on {spans} of {total} workloads",
            spans == total,
            "`oas` starts from all heuristics, so it is never longer",
            instead="by construction" if spans == total else "",
        ),
        Claim(
            "the compaction, without slots",
            f"`oas` at or above the best of the six on {uses} of {total} workloads",
            uses == total,
            "`oas` makes the last end early and leaves compaction as it comes",
        ),
    ]


def _against_six(found: Summary, method: str) -> tuple[int, int, int, int]:
    """Count workloads: makespan at most the least of the six, or their mean, best compaction."""
    spans = mean = uses = total = 0
    for piece in found.every_workload():
        six = [piece[name]["makespan"] for name in SIX]
        spans += piece[method]["makespan"] <= min(six)
        mean += piece[method]["makespan"] <= fmean(six)
        uses += piece[method]["compaction"] >= max(piece[name]["compaction"] for name in SIX)
        total += 1
    return spans, mean, uses, total


def _different(found: Summary) -> Claim:
    """Tell whether each technique is the best somewhere and the worst elsewhere."""
    best, worst = dict.fromkeys(SIX, 0), dict.fromkeys(SIX, 0)
    for piece in found.every_workload():
        spans = {name: piece[name]["makespan"] for name in SIX}
        for name in SIX:
            best[name] += spans[name] == min(spans.values())
            worst[name] += spans[name] == max(spans.values())
    steady = max(SIX, key=lambda name: best[name] - worst[name])
    return Claim(
        "a technique that performs well in one workload is the worst in another (4.2)",
        "best or tied, and worst or tied, in so many: "
        + ", ".join(f"{name} {best[name]} and {worst[name]}" for name in SIX),
        all(best.values()) and all(worst.values()),
        f"but {steady} is seldom bad",
    )


def _limited(found: Summary) -> Claim:
    """Tell whether the workloads that suit a technique leave a solver less to gain."""
    gains = {
        name: [
            100 * (min(piece[each]["makespan"] for each in SIX) / piece["oas"]["makespan"] - 1)
            for piece in pieces
        ]
        for name, pieces in found.workloads.items()
    }
    others = [gain for name in PAPER_QUEUES if name not in SUITED for gain in gains[name]]
    (least, half), *suited = (
        mean_and_half(each or [0.0]) for each in (others, *(gains[name] for name in SUITED))
    )
    overlap = any(abs(mean - least) <= (own or 0) + (half or 0) for mean, own in suited)
    return Claim(
        "WL-1 and WL-2 limit any solver advantage (4.2)",
        "the best of the six is above `oas` by "
        + ", ".join(f"{interval(gains[name])} % on {name}" for name in SUITED)
        + f", {interval(others)} % on the others",
        all(mean < least for mean, _ in suited),
        "lengths of jobs were chosen, on other seeds, so that the technique is within 6 % of "
        "`oas`; the paper does not give its jobs" + ("; the intervals overlap" if overlap else ""),
        instead="undecided" if overlap else "",
    )


def _favours(found: Summary, kind: str, heuristic: str, says: str) -> Claim:
    won = found.favoured[kind]
    if won is None:
        return Claim(says, "not run", None)
    best = max(won, key=lambda name: won[name])
    rest = {name: won[name] for name in PAPER_HEURISTICS if name != heuristic}
    second = max(rest, key=lambda name: rest[name])
    return Claim(
        says,
        f"{heuristic.upper()} is best or tied on {won[heuristic]} of {FAVOUR_SEEDS} queues of kind "
        f"`{kind}`, then {second.upper()} on {rest[second]}",
        best == heuristic,
        "lengths of jobs were chosen for it, on other seeds; the paper does not give its jobs",
        instead="by construction" if best == heuristic else "",
    )

"""How constants of federations were chosen: on streams and queues that no table uses.

    python -m papers.multicluster_constants queues
    python -m papers.multicluster_constants weights
    python -m papers.multicluster_constants beams --seconds 6

`queues` prints how often FPFS is the best of the paper's six heuristics, or as good, on queues of
kind `matching`, and SJF on those of kind `small-first`, for some lengths of their jobs: `WIDE`,
`NARROW` and `SHORT` in `queuesmith.federation.model.generate` are those best on nine queues of ten
and, as the paper wants, within 6 % of `oas`; of two such, those whose jobs are more alike.
`weights` prints, for some weights of the last end and of what a plan takes of the nodes, by how
much `oas` changes the mean wait and the makespan against the best of the paper's six heuristics on
each stream. `LAST_END` and `TAKEN` in `queuesmith.federation.exact.rolling` are the pair with the
fewest streams whose makespan is longer, at no worse a wait. `beams` changes the constants of beams
and annealing (`queuesmith.federation.exact.searchers`) one by one and prints how far above the
bound one thread ends; let nothing else run beside it, since the clock ends each search.
"""

from __future__ import annotations

import argparse
import itertools
from statistics import fmean
from unittest.mock import patch

from papers.multicluster_runs import FEDERATION, LOADS, PAPER_HEURISTICS, STREAM_JOBS
from papers.study import markdown, mean_and_half
from queuesmith.federation import FederationJobs, PlaceOptions
from queuesmith.federation.exact import oas, rolling, searchers, solve_oas
from queuesmith.federation.heuristics import place_by_heuristic
from queuesmith.federation.model import generate
from queuesmith.federation.model.generate import generate_queue, with_arrivals
from queuesmith.federation.model.placed import last_end
from queuesmith.federation.online import replay

SEEDS = range(1000, 1024)
LAST_ENDS, TAKENS = (1.0, 4.0, 16.0), (0.0, 1.0, 4.0, 16.0)
STEPS = 2000
#: Queues, and the lengths of their jobs that are tried: narrow ones of `matching`, wide ones of
#: `small-first` over narrow ones.
QUEUE_SEEDS, SOLVED = range(5000, 5150), 10
NARROWS, SHORTS = ((0.3, 0.6), (0.4, 0.6), (0.5, 0.7), (0.7, 0.95)), (0.2, 0.3, 0.4, 0.6)
#: Queues for beams, by their number of jobs, and the constants of `searchers` that are changed.
BEAM_JOBS, BEAM_SEEDS = (12, 20, 40, 100), range(6000, 6003)
BEAM_CHANGES: tuple[tuple[str, object], ...] = (
    ("WIDTH", searchers.WIDTH),  # as it is
    ("WIDTH", 4),
    ("WIDTH", 64),
    ("BIASES", (0.0,)),
    ("BIASES", (0.1, 0.05)),
    ("DISTURBANCE", 0.1),
    ("DISTURBANCE", 0.6),
    ("ANNEALING_SHARE", 0.1),
    ("ANNEALING_SHARE", 1.0),
)


def main() -> None:
    """Try what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("queues", "weights", "beams"))
    parser.add_argument("--seconds", type=float, default=6.0, help="of one search for beams")
    asked = parser.parse_args()
    if asked.what == "beams":
        print(markdown(beams(asked.seconds)))
    else:
        print(markdown(queues() if asked.what == "queues" else weights()))


def beams(seconds: float) -> list[dict[str, object]]:
    """Search each queue under each change in turn, so that a busy hour meets all alike."""
    oas.OTHER_SEARCH = 1.0  # no prover: only what beams and annealing find
    queues = [
        generate_queue("general", jobs, seed=seed) for jobs in BEAM_JOBS for seed in BEAM_SEEDS
    ]
    gaps: dict[tuple[str, object], list[float]] = {}
    for queue, change in itertools.product(queues, BEAM_CHANGES):
        gaps.setdefault(change, []).append(beam_gap(queue, *change, seconds))
        print(queue.name, change, gaps[change][-1], flush=True)
    base = gaps[BEAM_CHANGES[0]]
    rows: list[dict[str, object]] = []
    for (name, value), found in gaps.items():
        more, half = mean_and_half([a - b for a, b in zip(found, base, strict=True)])
        by_jobs = {
            f"{jobs} jobs, gap %": f"{fmean(found[k * len(BEAM_SEEDS) :][: len(BEAM_SEEDS)]):.3f}"
            for k, jobs in enumerate(BEAM_JOBS)
        }
        row: dict[str, object] = {"what": f"{name} = {value}", **by_jobs}
        rows.append(row | {"points more": f"{more:.3f} ± {half:.3f}"})
    return rows


def beam_gap(queue: FederationJobs, name: str, value: object, seconds: float) -> float:
    """Return how far above its bound a search with one changed constant ends, in per cent."""
    with patch.object(searchers, name, value):
        found = solve_oas(FEDERATION, queue, seconds=seconds, workers=1)
    return 100 * (last_end(found) / (found.lower_bound or 1) - 1)


def queues() -> list[dict[str, object]]:
    """Try all lengths on all queues."""
    rows: list[dict[str, object]] = []
    for generate.NARROW in NARROWS:
        rows.append({"kind": "matching", "narrow": generate.NARROW} | favoured("matching", "fpfs"))
    for generate.SHORT in SHORTS:
        rows.append(
            {"kind": "small-first", "short": generate.SHORT} | favoured("small-first", "sjf")
        )
    return rows


def favoured(kind: str, heuristic: str) -> dict[str, object]:
    """Return on how many queues a heuristic is best or tied, and alone, and how far from `oas`."""
    best = alone = 0
    above: list[float] = []
    for seed in QUEUE_SEEDS:
        queue = generate_queue(kind, seed=seed)
        ends = {n: last_end(place_by_heuristic(FEDERATION, queue, n)) for n in PAPER_HEURISTICS}
        first = [name for name in PAPER_HEURISTICS if ends[name] == min(ends.values())]
        best, alone = best + (heuristic in first), alone + (first == [heuristic])
        if len(above) < SOLVED:
            plan = last_end(solve_oas(FEDERATION, queue, steps=STEPS))
            above.append(100 * (ends[heuristic] / plan - 1))
    mean = sum(above) / len(above)
    told = {"queues": len(QUEUE_SEEDS), "best or tied": best, "alone": alone}
    return told | {"above oas %": f"{mean:.1f}"}


def weights() -> list[dict[str, object]]:
    """Try all weights on all streams."""
    rows = []
    for load in LOADS:
        streams = [stream(load, seed) for seed in SEEDS]
        best = [least(jobs) for jobs in streams]
        for rolling.LAST_END, rolling.TAKEN in itertools.product(LAST_ENDS, TAKENS):
            rows.append(row(load, streams, best))
            print(rows[-1], flush=True)
    return rows


def stream(load: float, seed: int) -> FederationJobs:
    """Return a stream of arriving jobs."""
    queue = generate_queue("general", STREAM_JOBS, seed=seed)
    return with_arrivals(queue, FEDERATION, load=load, seed=seed)


def least(jobs: FederationJobs) -> tuple[float, float]:
    """Return the least mean wait and the least makespan of the six heuristics."""
    found = [replay(FEDERATION, jobs, name, saturation=1.0) for name in PAPER_HEURISTICS]
    return min(float(each.wait.mean()) for each in found), min(map(last_end, found))


def row(
    load: float, streams: list[FederationJobs], best: list[tuple[float, float]]
) -> dict[str, object]:
    """Return what the weights that are set now give."""
    waits, spans = [], []
    for jobs, (wait, span) in zip(streams, best, strict=True):
        options = PlaceOptions(steps=STEPS)
        found = replay(FEDERATION, jobs, "oas", saturation=1.0, options=options)
        waits.append(100 * (float(found.wait.mean()) / wait - 1))
        spans.append(100 * (last_end(found) / span - 1))
    return {
        "load": load,
        "last end": rolling.LAST_END,
        "taken": rolling.TAKEN,
        "mean wait %": f"{sum(waits) / len(waits):.1f}",
        "longer waits": sum(change > 0 for change in waits),
        "makespan %": f"{sum(spans) / len(spans):.2f}",
        "longer makespans": sum(change > 0 for change in spans),
    }


if __name__ == "__main__":
    main()

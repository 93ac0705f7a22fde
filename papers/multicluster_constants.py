"""How the weights of a plan on arriving jobs were chosen: on streams that no table uses.

    python -m papers.multicluster_constants

prints, for some weights of the last end and of what a plan takes of the nodes, by how much `oas`
changes the mean wait and the makespan against the best of the paper's six heuristics on each
stream. `LAST_END` and `TAKEN` in `queuesmith.federation.exact.rolling` are the pair with the fewest
streams whose makespan is longer, at no worse a wait.
"""

from __future__ import annotations

import itertools

from papers.multicluster_runs import FEDERATION, LOADS, PAPER_HEURISTICS, STREAM_JOBS
from papers.study import markdown
from queuesmith.federation import FederationJobs, PlaceOptions
from queuesmith.federation.exact import rolling
from queuesmith.federation.model.generate import generate_queue, with_arrivals
from queuesmith.federation.model.placed import last_end
from queuesmith.federation.online import replay

SEEDS = range(1000, 1024)
LAST_ENDS, TAKENS = (1.0, 4.0, 16.0), (0.0, 1.0, 4.0, 16.0)
STEPS = 2000


def main() -> None:
    """Try all weights on all streams."""
    rows = []
    for load in LOADS:
        streams = [stream(load, seed) for seed in SEEDS]
        best = [least(jobs) for jobs in streams]
        for rolling.LAST_END, rolling.TAKEN in itertools.product(LAST_ENDS, TAKENS):
            rows.append(row(load, streams, best))
            print(rows[-1], flush=True)
    print(markdown(rows))


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

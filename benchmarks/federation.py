"""Federations: 100,000 jobs of a log on five clusters, and a large queue with its gap."""

import math
import time

import queuesmith as qs
from benchmarks.data import synthetic, trace
from queuesmith.federation import FederationJobs
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.model.generate import generate_federation, generate_queue
from queuesmith.federation.model.placed import peak_link_load
from queuesmith.federation.online import replay
from queuesmith.schedule.verify import verify

JOBS = 100_000
CASES = (
    ("fcfs", "fastest", 1.0),
    ("fpfs", "one-cluster", 1.0),
    ("fpfs", "link-aware", 1.0),
    ("fpfs", "fastest", math.inf),
    ("lpt-fit", "most-free", math.inf),
)


def main() -> None:
    path = trace("HPC2N-2002-2.2-cln.swf.gz")
    log = synthetic(JOBS) if path is None else qs.read(path).head(JOBS)
    nodes = 48 if path is not None else 240
    # Narrow links, so that those allowed to saturate do.
    federation = generate_federation(
        5, nodes, powers=(1.0, 0.9, 0.8, 0.7, 0.6), bandwidth=60 * nodes
    )
    jobs = FederationJobs.from_workload(log, sigma=(0.5, 0.9), task_bandwidth=(50, 300))
    jobs = jobs.fitting(federation)
    for heuristic, allocation, saturation in CASES:
        began = time.process_time()
        found = replay(federation, jobs, heuristic, allocation=allocation, saturation=saturation)
        took = time.process_time() - began
        verify(found)
        print(
            f"{heuristic:<8} {allocation:<12} saturation {saturation:<4g} {len(jobs):,} jobs: "
            f"{took:.2f} CPU s, {len(jobs) / took:,.0f} jobs/s, "
            f"highest load of a link {peak_link_load(found):.2f}"
        )
    large_queues()


def large_queues() -> None:
    federation = generate_federation(20, 64)
    for most_tasks in (12, 128, 500):
        jobs = generate_queue(jobs=1000, nodes=federation.nodes, most_tasks=most_tasks, seed=1)
        found = verify(place_by_prices(federation, jobs, seconds=60))
        print(
            f"prices: 1,000 jobs of up to {most_tasks} tasks on 20 x 64 nodes: "
            f"{found.seconds:.1f} s, at most {found.gap_percent:.2f} % above the optimum"
        )


if __name__ == "__main__":
    main()

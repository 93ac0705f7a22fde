"""Place a queue on three clusters, by heuristics and by prices, and replay it on slower links.

Shows: ``Federation``, ``FederationJobs``, ``place``, ``replay_placement``.
"""

from queuesmith.federation import Federation, FederationCluster
from queuesmith.federation.methods import compare_methods
from queuesmith.federation.model.generate import paper_federation, paper_queue
from queuesmith.federation.online import replay_placement

federation, queue = paper_federation(), paper_queue("WL-3")
methods = ["fcfs", "sjf", "bjf", "fpfs", "spt", "lpt", "prices"]
placements = compare_methods(federation, [queue], methods)
for placement in placements:
    print(
        f"{placement.method:7} makespan {placement.makespan:9,} s, "
        f"compaction {placement.compaction_percent:4.1f} %, "
        f"at most {placement.gap_percent:4.1f} % above the optimum"
    )

best = placements[-1]
print("replayed as planned:", replay_placement(best).makespan == best.makespan)
narrow = Federation(
    [FederationCluster(c.name, c.nodes, c.power, c.bandwidth / 4) for c in federation.clusters]
)
late = replay_placement(best, narrow)
print(f"on links of a quarter: {late.makespan:,} s, links up to {late.peak_link_load:.0%} full")

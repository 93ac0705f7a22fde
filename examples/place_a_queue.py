"""Place a queue on three clusters, by heuristics and by prices, and replay it on slower links.

Shows: ``Federation``, ``FederationJobs``, ``place``, ``replay_placement``.
"""

from queuesmith.federation import Federation, FederationCluster, compare_methods
from queuesmith.federation.model.generate import paper_federation, paper_queue
from queuesmith.federation.model.placed import compaction_percent
from queuesmith.federation.online import replay_placement

federation, queue = paper_federation(), paper_queue("WL-3")
methods = ["fcfs", "sjf", "bjf", "fpfs", "spt", "lpt", "prices"]
schedules = compare_methods(federation, [queue], methods)
for schedule in schedules:
    print(
        f"{schedule.policy:7} makespan {schedule.makespan:9,.0f} s, "
        f"compaction {compaction_percent(schedule):4.1f} %, "
        f"at most {schedule.gap_percent:4.1f} % above the optimum"
    )

best = schedules[-1]
print("replayed as planned:", replay_placement(best).makespan == best.makespan)
narrow = Federation(
    [FederationCluster(c.name, c.nodes, c.power, c.bandwidth / 4) for c in federation.clusters]
)
late = replay_placement(best, narrow)
peak = late.value("peak_link_load")
print(f"on links of a quarter: {late.makespan:,.0f} s, links up to {peak:.0%} full")

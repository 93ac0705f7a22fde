"""Replay a log under two policies and look at what changed.

Shows: a workload, ``simulate``, metrics, and a schedule as a table.
"""

import queuesmith as qs

log = qs.demo_workload()  # or qs.read("atlas.swf.gz")
print(log)

for policy in ("fcfs", "fcfs+easy"):
    schedule = qs.simulate(log, policy=policy)
    hours = schedule.value("mean_wait") / 3600
    print(f"{policy:10} mean wait {hours:6.1f} h, utilization {schedule.value('utilization'):.1%}")

print("The five jobs that wait longest with backfilling:")
worst = schedule.to_frame().nlargest(5, "wait")
print(worst[["id", "cores", "walltime", "wait"]].to_string(index=False))

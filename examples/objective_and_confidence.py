"""State what you want as one expression, and see how sure the answer is.

Shows: ``Objective``, ``confidence``, ``trimmed``, a comparison by an objective.
"""

import queuesmith as qs

log = qs.demo_workload()
objective = qs.Objective("10*awrt[1]+4*awrt[2]")
print("to be made small:", objective)

for policy in ("fcfs+easy", "greedy+easy", "power(alpha=2)+easy"):
    schedule = qs.simulate(log, policy=policy).trimmed(warm_up=0.05, cool_down=0.05)
    interval = qs.confidence(schedule, objective)
    print(
        f"{policy:20}{interval.value:10,.0f}  "
        f"95 %: {interval.low:,.0f} to {interval.high:,.0f} from {interval.weeks} weeks"
    )

comparison = qs.compare(log, policies=["fcfs+easy", "wfp3+easy"], metrics=[str(objective)])
print("better of two:", comparison.best(str(objective)))

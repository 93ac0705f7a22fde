"""Use an order of your own, check it, and try several values of its parameter.

Shows: ``my_order.py:function``, ``check_policy``, ``having``, ``simulate_many``.
"""

from pathlib import Path

import queuesmith as qs
from queuesmith.testing import check_policy

file = Path(__file__).with_name("my_order.py")
policy = check_policy(f"{file}:small_but_fair+easy", workloads=5)
print("checked:", policy.order.function.__name__, dict(policy.order.parameters))

log = qs.demo_workload()
patience = (6, 24, 96)
replays = [policy.having(patience=hours) for hours in patience]
names = [f"patience {hours} h" for hours in patience]
for name, schedule in zip(
    ["fcfs+easy", "saf+easy", *names],
    qs.simulate_many(log, policies=["fcfs+easy", "saf+easy", *replays]),
    strict=True,
):
    hours = schedule.value("mean_wait") / 3600
    days = schedule.value("max_wait") / 86_400
    print(f"{name:15} mean wait {hours:5.1f} h, longest {days:5.1f} days")

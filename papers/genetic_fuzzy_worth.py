"""What the genetic fuzzy study keeps of a schedule: values, and the price that groups pay."""

from __future__ import annotations

from typing import Any

import numpy as np

import queuesmith as qs
from queuesmith.learning.pareto import SEVEN_OBJECTIVES
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.paired import improvement
from queuesmith.schedule.starvation import group_waits

OBJECTIVE = "10*awrt[1] + 4*awrt[2]"


def worth(schedule: qs.Schedule) -> dict[str, Any]:
    """Return the seven objectives of a schedule, the one learned for, and each group's waits."""
    present = set(np.unique(schedule.workload.group).tolist())
    names = [
        name for name in SEVEN_OBJECTIVES if "[" not in name or int(name[-2]) in present
    ]  # a part of a log may lack a group
    values = {name: round(schedule.value(name), 6) for name in names}
    waits = {
        group: [each.jobs, round(each.longest), round(each.p99), each.beyond_a_week]
        for group, each in group_waits(schedule).items()
    }
    return {**values, "f": round(schedule.value(OBJECTIVE), 3), "waits": waits}


def gain(learned: qs.Schedule, than: qs.Schedule) -> list[float | None] | None:
    """Return by how many per cent f is better than another schedule's, with its interval."""
    found = improvement(learned, than, Objective(OBJECTIVE))
    return None if found is None else _plain(found)


def _plain(found: Interval) -> list[float | None]:
    numbers = (found.value, found.low, found.high)
    return [None if number is None else round(number, 4) for number in numbers]

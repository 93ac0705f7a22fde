"""What groups pay for a gain, in a narrow table."""

from queuesmith import Cluster, Schedule, Workload
from queuesmith.report.group_waits import MOST_GROUPS, wait_rows, waits_to_dict

DAY = 86_400


def scheduled(policy, *waits):
    """A job of a group of its own for each wait."""
    count = len(waits)
    groups = list(range(1, count + 1))
    jobs = Workload([0] * count, [1] * count, [1] * count, [1] * count, group=groups, name="jobs")
    return Schedule(jobs, Cluster(count), list(waits), policy)


def test_a_row_has_the_longest_wait_of_each_group_and_its_jobs_beyond_a_week():
    schedules = {"a": scheduled("a", DAY, 0), "b": scheduled("b", 0, 8 * DAY)}
    assert wait_rows(schedules) == [
        {"policy": "a", "group 1": "1.0", "group 2": "0.0"},
        {"policy": "b", "group 1": "0.0", "group 2": "8.0 (1)"},
    ]
    assert waits_to_dict(schedules)["b"]["2"] == {
        "jobs": 1,
        "longest": 8.0 * DAY,
        "p99": 8.0 * DAY,
        "beyond_a_week": 1,
    }


def test_of_many_groups_those_who_wait_longest_are_shown():
    waits = [day * DAY for day in range(10)]
    (row,) = wait_rows({"a": scheduled("a", *waits)})
    assert list(row) == ["policy", *(f"group {g}" for g in range(11 - MOST_GROUPS, 11))]

import json

import numpy as np
import pytest

from queuesmith.cluster import Cluster
from queuesmith.report.figure_data import user_groups
from queuesmith.report.gantt import (
    OVERVIEW_BINS,
    busiest_window,
    busy_by_group,
    gantt_payload,
    packed,
    unpacked,
)
from queuesmith.report.lanes import assign_lanes
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


@pytest.mark.parametrize("delta", [False, True])
@pytest.mark.parametrize(
    "values", [[], [7], [0, 1, 255, 256], [-5, 3, -70_000], [2**40, 0, 2**39 + 1], [4, 4, 4]]
)
def test_packed_numbers_come_back(values, delta):
    numbers = np.asarray(values, dtype=np.int64)
    pack = json.loads(json.dumps(packed(numbers, delta=delta)))
    assert unpacked(pack).tolist() == values


def test_small_numbers_take_one_byte_each_before_they_are_squeezed():
    assert packed(np.arange(1000, 1200))["width"] == 1
    assert packed(np.arange(0, 100_000, 100), delta=True)["width"] == 1


def test_the_payload_holds_every_job_as_it_ran(schedules):
    payload = json.loads(json.dumps(gantt_payload(schedules)))
    jobs = schedules[0].workload
    assert unpacked(payload["jobs"]["id"]).tolist() == jobs.id.tolist()
    assert unpacked(payload["jobs"]["cores"]).tolist() == jobs.cores.tolist()
    assert payload["window"] == payload["span"]
    for schedule, policy in zip(schedules, payload["policies"], strict=True):
        assert policy["name"] == schedule.policy
        assert unpacked(policy["wait"]).tolist() == schedule.wait.tolist()
        lanes = assign_lanes(schedule)
        assert unpacked(policy["lanes"]["job"]).tolist() == lanes.job.tolist()
        assert unpacked(policy["lanes"]["low"]).tolist() == lanes.low.tolist()


def test_the_rectangles_of_the_payload_are_sorted_by_start(schedules):
    policy = gantt_payload(schedules)["policies"][1]
    starts = schedules[1].start[unpacked(policy["lanes"]["job"])]
    assert (np.diff(starts) >= 0).all()


def test_of_a_long_log_only_the_most_loaded_stretch_is_held(schedules):
    payload = gantt_payload(schedules, most_jobs=100)
    first, last = payload["window"]
    assert 0 <= first < last <= payload["span"][1]
    assert payload["window"] != payload["span"]
    assert payload["total"] == 400
    origin = schedules[0].workload.submit[0]
    for schedule, policy in zip(schedules, payload["policies"], strict=True):
        inside = (schedule.start - origin < last) & (schedule.end - origin > first)
        drawn = np.unique(unpacked(policy["lanes"]["job"]))
        assert len(drawn) == np.count_nonzero(inside) <= 100


def test_the_stretch_is_where_the_most_work_arrives(schedules):
    jobs = schedules[0].workload
    first, last = busiest_window(schedules, 200)
    inside = (jobs.submit >= first) & (jobs.submit < last)
    assert jobs.work[inside].sum() / (last - first) > jobs.work.sum() / jobs.span


def test_busy_cores_by_group_add_up_to_all_work(schedules):
    schedule = schedules[0]
    groups = user_groups(schedule.workload)
    edges = np.linspace(schedule.workload.submit[0], schedule.end.max(), 51)
    busy = busy_by_group(schedule, groups, edges)
    assert busy.shape == (50, len(groups.labels))
    assert (busy * np.diff(edges)[:, None]).sum() == pytest.approx(schedule.workload.work.sum())
    assert busy.sum(axis=1).max() <= 64 + 1e-9


def test_the_overview_covers_the_whole_time_whatever_the_window(schedules):
    payload = gantt_payload(schedules, most_jobs=50)
    counts = {policy["overview"]["count"] for policy in payload["policies"]}
    assert counts == {OVERVIEW_BINS * len(payload["groups"])}


def test_names_of_users_travel_along(schedules):
    jobs = schedules[0].workload
    names = tuple(f"user<{i}>" for i in range(40))
    named = [
        type(each)(jobs.replaced(labels={"user": names}), each.cluster, each.start, each.policy)
        for each in schedules
    ]
    users = gantt_payload(named)["users"]
    assert users[str(jobs.user[0])] == names[jobs.user[0]]
    assert gantt_payload(schedules)["users"] == {}


def test_a_stretch_into_which_a_backlog_starts_is_cut_short():
    submit = np.arange(200)
    cores = np.where(submit // 10 == 10, 5, 1)
    jobs = Workload(submit, np.ones(200), np.ones(200), cores)
    late = np.maximum(submit, 100 + submit // 20)
    schedule = Schedule(jobs, Cluster(200), late, "late")
    first, last = busiest_window([schedule], 20)
    assert first == 100
    assert 0 < np.count_nonzero((late < last) & (schedule.end > first)) <= 20
    assert last < 110

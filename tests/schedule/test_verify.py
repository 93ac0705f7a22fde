import numpy as np
import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import usage, verify, violations
from queuesmith.workload import Workload


def test_a_feasible_schedule_passes_unchanged(tiny):
    assert verify(tiny) is tiny


def test_a_job_that_starts_before_it_is_submitted_is_caught(tiny):
    early = Schedule(tiny.workload, tiny.cluster, [0, 10, 29], "by-hand")
    with pytest.raises(ScheduleError, match=r"1 job starts before .* job 3, submitted at 30"):
        verify(early)


def test_jobs_that_overlap_on_too_few_cores_are_caught(tiny):
    crowded = Schedule(tiny.workload, tiny.cluster, [0, 9, 30], "by-hand")
    with pytest.raises(ScheduleError, match=r"6 cores are busy at second 9, but .* has 4"):
        verify(crowded)


def test_a_job_wider_than_the_machine_is_caught(tiny):
    narrow = Schedule(tiny.workload, Cluster(3, "small"), tiny.start, "by-hand")
    with pytest.raises(ScheduleError, match=r"wider than the 3 cores of cluster 'small'.*job 2"):
        verify(narrow)


def test_a_wide_job_of_no_length_is_caught_too():
    schedule = Schedule(Workload([0], [0], [0], [9]), Cluster(4), [0], "by-hand")
    assert len(violations(schedule)) == 1


def test_a_job_whose_start_is_beyond_all_time_is_caught(tiny):
    never = Schedule(tiny.workload, tiny.cluster, [0, np.iinfo(np.int64).max, 30], "by-hand")
    with pytest.raises(ScheduleError, match=r"1 job never starts; the first is job 2"):
        verify(never)


def test_every_broken_rule_is_named_at_once(tiny):
    broken = Schedule(tiny.workload, Cluster(3), [0, 0, 0], "by-hand")
    assert len(violations(broken)) == 3


def test_jobs_of_no_length_use_nothing():
    workload = Workload([0, 0, 0], [5, 0, 0], [5, 9, 9], [4, 4, 4])
    schedule = Schedule(workload, Cluster(4), [0, 0, 3], "by-hand")
    assert verify(schedule) is schedule
    assert usage(schedule).busy.max() == 4


def test_a_job_may_start_the_second_another_ends():
    workload = Workload([0, 0], [5, 5], [5, 5], [4, 4])
    assert violations(Schedule(workload, Cluster(4), [0, 5], "by-hand")) == []
    assert violations(Schedule(workload, Cluster(4), [0, 4], "by-hand")) != []


def test_an_empty_schedule_is_feasible(empty):
    assert verify(empty) is empty

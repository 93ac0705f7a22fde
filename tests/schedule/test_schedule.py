import numpy as np
import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule, history
from queuesmith.workload import Workload


def test_end_wait_and_response_follow_from_the_starts(tiny):
    assert len(tiny) == 3
    assert tiny.end.tolist() == [10, 30, 70]
    assert tiny.wait.tolist() == [0, 10, 0]
    assert tiny.response.tolist() == [10, 30, 40]


def test_the_table_has_one_row_a_job(tiny):
    table = tiny.to_frame()
    assert table["start"].tolist() == [0, 10, 30]
    assert {"id", "submit", "start", "end", "wait", "group"} <= set(table.columns)


def test_starts_are_a_read_only_copy(tiny):
    start = np.array([0, 10, 30])
    schedule = Schedule(tiny.workload, tiny.cluster, start, "by-hand")
    start[0] = 99
    assert schedule.start[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        schedule.start[0] = 1


def test_whole_numbers_held_as_floats_are_starts(tiny):
    schedule = Schedule(tiny.workload, tiny.cluster, [0.0, 10.0, 30.0], "by-hand")
    assert schedule.start.dtype == np.int64


@pytest.mark.parametrize("start", [[0, 10.5, 30], [0, float("nan"), 30], ["a", "b", "c"]])
def test_starts_that_are_no_whole_numbers_are_refused(tiny, start):
    with pytest.raises(ScheduleError, match="no whole numbers"):
        Schedule(tiny.workload, tiny.cluster, start, "by-hand")


@pytest.mark.parametrize("start", [[], [0, 10], [[0, 10, 30]]])
def test_one_start_a_job_is_required(tiny, start):
    with pytest.raises(ScheduleError, match="Give one start a job"):
        Schedule(tiny.workload, tiny.cluster, start, "by-hand")


def test_trimming_leaves_out_jobs_by_their_submission():
    submit = np.arange(0, 101, 10)
    ones = np.ones(len(submit))
    schedule = Schedule(Workload(submit, ones, ones, ones), Cluster(1), submit, "by-hand", 2.0)
    trimmed = schedule.trimmed(0.25, 0.2)
    assert trimmed.workload.submit.tolist() == [30, 40, 50, 60, 70, 80]
    assert trimmed.start.tolist() == [30, 40, 50, 60, 70, 80]
    assert (trimmed.policy, trimmed.seconds) == ("by-hand", 2.0)
    assert len(schedule.trimmed()) == len(schedule)


@pytest.mark.parametrize(
    ("warm_up", "cool_down"), [(-0.1, 0), (0, -0.1), (0.5, 0.5), (1, 0), (float("nan"), 0)]
)
def test_trimming_must_leave_something_between(tiny, warm_up, cool_down):
    with pytest.raises(ScheduleError, match="leave something between them"):
        tiny.trimmed(warm_up, cool_down)


def test_trimming_an_empty_schedule_changes_nothing(empty):
    assert empty.trimmed(0.1, 0.1) is empty


def test_value_and_summary_are_at_hand(tiny):
    assert tiny.value("10*awrt[1]") == 260
    assert tiny.summary()["jobs"] == 3


def test_what_really_happened_is_a_schedule_where_the_log_tells(tiny):
    log = tiny.workload.replaced(extra={"real_start": np.array([0, 10, 30])})
    found = history(log)
    assert found.policy == "history"
    assert found.start.tolist() == [0, 10, 30]
    assert found.cluster.cores == 4  # the widest job
    assert history(log.replaced(machine_cores=16)).cluster.cores == 16
    assert history(log, Cluster(8)).cluster.cores == 8


def test_there_is_no_history_where_the_log_does_not_tell(tiny):
    assert history(tiny.workload) is None
    partly = tiny.workload.replaced(extra={"real_start": np.array([0, -1, 30])})
    assert history(partly) is None


def test_a_schedule_is_drawn_as_busy_cores_and_waiting_jobs(tiny):
    figure = tiny.plot()
    assert [trace.name for trace in figure.data] == ["busy cores", "waiting jobs"]
    assert max(figure.data[0].y) <= tiny.cluster.cores

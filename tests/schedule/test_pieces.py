import pickle

import numpy as np
import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.export import save_pieces
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify, violations
from queuesmith.solving.status import Status
from queuesmith.workload import Workload
from tests.schedule.machines import JOBS, Nodes, placed


def test_a_schedule_of_pieces_is_measured_like_any_other():
    schedule = verify(placed())
    assert schedule.wait.tolist() == [0, 4.5, 0]
    assert schedule.response.tolist() == [4.5, 7.5, 2.25]
    assert schedule.runtime.tolist() == [4.5, 3, 2.25]
    assert schedule.value("mean_wait") == 1.5
    assert schedule.value("makespan") == 7.5
    assert schedule.value("flowtime") == 4.5 + 7.5 + 3.25
    assert schedule.value("load_balance") == pytest.approx((7.5 + 4.5 + 0) / 3 / 7.5)
    busy = 3 * 4.5 + 2 * 3 + 2.25
    assert schedule.value("utilization") == pytest.approx(busy / (5 * 7.5))
    assert schedule.value("peak_link_load") == 0.5
    assert "mean_wait" in schedule.summary()


def test_what_is_proven_is_part_of_the_schedule():
    schedule = placed()
    assert (schedule.lower_bound, schedule.gap_percent) == (6.0, 25.0)
    assert schedule.status is Status.FEASIBLE
    pool = Schedule(JOBS, Cluster(9), [0, 0, 1], "by-hand")
    assert (pool.lower_bound, pool.gap_percent, pool.status) == (None, None, Status.FEASIBLE)


def test_selected_jobs_keep_their_pieces():
    kept = placed().select(np.array([True, False, True]))
    assert kept.pieces.job.tolist() == [0, 0, 1]
    assert kept.pieces.place.tolist() == [0, 1, 1]
    assert kept.end.tolist() == [4.5, 3.25]


def test_schedules_travel_to_other_processes():
    again = pickle.loads(pickle.dumps(placed()))
    assert again.end.tolist() == [4.5, 7.5, 3.25]
    assert pickle.loads(pickle.dumps(Schedule(JOBS, Cluster(9), [0, 0, 1], "x"))).cluster.cores == 9


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"place": [0, 1, 0, 3]}, "job c is on place 3, but places are 0 to 2"),
        ({"place": [0, 1, 2, 1]}, "2 cores are busy at 4.5 on 'n2', which has 1, when job b"),
        ({"start": [0.0, 0.0, 4.0, 1.0]}, "4 cores are busy at 4.0 on 'n0', which has 2"),
        ({"start": [0.0, 0.0, 4.5, 0.5]}, "the first is job c, submitted at 1, started at 0.5"),
        ({"cores": [2, 1, 1, 1]}, "the first is job b, which has 2 and ran 1"),
        ({"end": [4.5, 4.0, 7.5, 3.25]}, "the first is job a, which has 3 and ran 2"),
    ],
)
def test_pieces_that_cannot_be_are_named(changes, sentence):
    assert any(sentence in found for found in violations(placed(pieces=changes)))
    with pytest.raises(ScheduleError, match="is not feasible"):
        verify(placed(pieces=changes))


def test_a_machine_adds_rules_of_its_own():
    assert violations(placed(Nodes(forbidden="links are full."))) == ["links are full."]


def tasks(start, cores, most=4):
    """A bag of three tasks of two cores, of which so many cores may be held at once."""
    extra = {"task_cores": np.array([2]), "most_cores": np.array([most])}
    bag = Workload([0], [10], [10], [6], extra=extra)
    start = np.array(start)
    pieces = Pieces(np.zeros(len(start), np.int64), start, start + 10, np.array(cores))
    end = np.array([pieces.end.max()])
    return Schedule(bag, Cluster(4), [start.min()], "by-hand", own_end=end, pieces=pieces)


def test_tasks_of_a_bag_need_not_run_together():
    schedule = verify(tasks([0, 10], [4, 2]))
    assert (schedule.runtime.tolist(), schedule.response.tolist()) == ([10], [20])
    assert schedule.value("expansion_factor") == 2


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (tasks([0, 5], [4, 2]), "6 cores are busy"),
        (tasks([0], [4]), "which has 6 and ran 4"),
        (tasks([0, 0, 10], [2, 2, 2], most=2), "more than the 2 cores of its share"),
    ],
)
def test_bags_that_break_their_rules_are_named(schedule, sentence):
    assert any(sentence in found for found in violations(schedule))


def test_a_job_is_saved_with_its_places(tmp_path):
    placed().save(tmp_path / "jobs.csv")
    assert (tmp_path / "jobs.csv").read_text().splitlines() == [
        "id,submit,start,end,place",
        "a,0,0.0,4.5,n0 n1",
        "b,0,4.5,7.5,n0",
        "c,1,1.0,3.25,n1",
    ]


def test_pieces_are_saved_one_a_line(tmp_path):
    save_pieces(placed(), tmp_path / "pieces.csv")
    lines = (tmp_path / "pieces.csv").read_text().splitlines()
    assert lines[:2] == ["job,start,end,cores,place", "a,0.0,4.5,2,n0"]
    save_pieces(tasks([0, 10], [4, 2]), tmp_path / "chunks.csv")
    assert (tmp_path / "chunks.csv").read_text().splitlines()[1:] == ["1,0,10,2,4", "1,10,20,1,2"]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ScheduleError, match="3 of 'job', 1 of 'start'"):
        Pieces(np.zeros(3, np.int64), np.zeros(1), np.zeros(1), np.ones(1, np.int64))


def test_real_times_are_kept_only_where_ends_are_given():
    with pytest.raises(ScheduleError, match="no whole numbers"):
        Schedule(JOBS, Cluster(9), [0.5, 1, 2], "by-hand")

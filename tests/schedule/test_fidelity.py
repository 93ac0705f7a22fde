import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.fidelity import Fidelity, Grade, rank_correlation
from queuesmith.workload import Workload

JOBS = Workload(
    np.arange(6) * 1000,
    [100] * 6,
    [100] * 6,
    [1, 1, 8, 8, 2000, 2000],
    extra={"partition": np.array([0, 0, 1, 1, 1, 1])},
    labels={"partition": ("debug", "batch")},
    epoch=1_585_699_200,
)
WAITS = np.array([0, 600, 1200, 1800, 2400, 3000])


def judged(waits, jobs=JOBS):
    cluster = Cluster(5000)
    real = Schedule(jobs, cluster, jobs.submit + WAITS, "history")
    return Fidelity(real, Schedule(jobs, cluster, jobs.submit + np.array(waits), "fcfs"))


def test_a_replay_that_is_history_has_no_error():
    same = judged(WAITS)
    assert (same.error_percent, same.mean_error, same.within_five_minutes) == (0, 0, 1)
    assert same.rank_correlation == pytest.approx(1)
    assert same.grade is Grade.A and same.grade.trustworthy


def test_the_figures_are_what_one_computes_by_hand():
    half = judged(WAITS // 2)
    assert (half.mean_wait_history, half.mean_wait_replayed) == (1500, 750)
    assert half.error_percent == half.median_error_percent == -50
    assert half.mean_error == 750
    assert half.within_five_minutes == pytest.approx(2 / 6)
    assert half.rank_correlation == pytest.approx(1)
    assert half.grade is Grade.D
    assert "-50 %" in half.sentence and "must not be believed" in half.sentence


@pytest.mark.parametrize(
    ("factor", "grade"), [(1.04, "A"), (1.08, "B"), (0.85, "C"), (0.79, "D"), (1.21, "D")]
)
def test_the_grade_follows_the_error(factor, grade):
    assert judged((WAITS * factor).astype(int)).grade == grade


def test_the_right_mean_with_the_wrong_jobs_waiting_is_no_good_replay():
    turned = judged(WAITS[::-1])
    assert turned.error_percent == 0
    assert turned.rank_correlation == pytest.approx(-1)
    assert turned.grade is Grade.D


def test_where_nobody_waited_the_seconds_decide():
    real = Schedule(JOBS, Cluster(5000), JOBS.submit, "history")
    assert Fidelity(real, real).grade is Grade.A
    late = Schedule(JOBS, Cluster(5000), JOBS.submit + 5000, "fcfs")
    assert (Fidelity(real, late).error_percent, Fidelity(real, late).grade) == (None, Grade.D)


def test_parts_add_up_to_the_whole():
    parts = judged(WAITS // 2).by("partition")
    assert [(part["partition"], part["jobs"]) for part in parts] == [("debug", 2), ("batch", 4)]
    mean = sum(part["jobs"] * part["mean_wait_history"] for part in parts) / 6
    assert mean == pytest.approx(1500)
    sizes = [part["size"] for part in judged(WAITS).by("size")]
    assert sizes == ["1 core", "5 to 16 cores", "over 1024 cores"]
    assert [part["month"] for part in judged(WAITS).by("month")] == ["2020-04"]
    undated = judged(WAITS, JOBS.replaced(epoch=None)).by("month")
    assert [part["month"] for part in undated] == ["month 0"]


def test_the_answer_is_ready_for_json():
    answer = json.loads(json.dumps(judged(WAITS // 2).to_dict()))
    wanted = ("mean_wait_history", "mean_wait_replayed", "error_percent", "rank_correlation")
    assert set(wanted) | {"within_five_minutes", "grade"} <= set(answer)
    assert set(answer["by"]) == {"partition", "size", "month"}


def test_other_jobs_and_unknown_columns_are_refused():
    with pytest.raises(ScheduleError, match="both must have the same jobs"):
        Fidelity(
            judged(WAITS).history,
            Schedule(JOBS.head(2), Cluster(5000), JOBS.submit[:2], "fcfs"),
        )
    with pytest.raises(ScheduleError, match=r"no column 'queue'\. Choose from: size, month"):
        judged(WAITS).by("queue")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_rank_correlation_is_pearson_s_of_mean_ranks(pairs):
    def ranks(values):
        ordered = sorted(values)
        return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]

    a, b = (ranks(values) for values in zip(*pairs, strict=True))
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    over = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    under = math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))
    found = rank_correlation(*map(np.array, zip(*pairs, strict=True)))
    assert found == (pytest.approx(over / under) if under else None)


def test_the_mean_wait_over_several_replays_is_graded():
    jobs = Workload([0, 0], [10, 10], [10, 10], [1, 1])
    cluster = Cluster(2)

    def waited(*waits):
        return Schedule(jobs, cluster, jobs.submit + np.array(waits), "fcfs")

    found = Fidelity(waited(10, 20), waited(0, 20), (waited(20, 40),))
    assert found.replayed_wait.tolist() == [10, 30]
    assert (found.mean_wait_replayed, found.mean_error, found.rank_correlation) == (20, 5, 1)
    assert found.only(np.array([True, False])).mean_wait_replayed == 10

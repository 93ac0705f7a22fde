import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import ScheduleError
from queuesmith.grid import OBJECTIVES, EtcMatrix
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.etc.mapping import (
    flowtime,
    machine_of,
    mapped,
    mapping_facts,
    matrix_of,
    objective_value,
)
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify, violations
from queuesmith.solving.status import Status

MATRIX = EtcMatrix(
    [[4, 9], [1, 9], [9, 2], [3, np.inf]],
    ready=[10, 0],
    name="four",
    job_names=("a", "b", "c", "d"),
    machine_names=("fast", "slow"),
)
HAND = np.array([0, 0, 1, 0])
MAPPING = mapped(MATRIX, HAND, "hand")


def test_short_jobs_run_first_on_each_machine():
    assert MAPPING.start.tolist() == [14, 10, 0, 11]
    assert MAPPING.end.tolist() == [18, 11, 2, 14]
    assert machine_of(verify(MAPPING)).tolist() == HAND.tolist()


def test_the_measures_are_those_of_the_paper():
    assert MATRIX.completion(HAND).tolist() == [18, 2]
    facts = mapping_facts(MAPPING)
    assert facts["makespan"] == 18
    assert facts["flowtime"] == 18 + 11 + 2 + 14
    assert facts["mean_flowtime"] == 45 / 2
    assert facts["load_balance"] == 10 / 18
    assert facts["utilization"] == (8 + 2) / 36
    assert objective_value(MATRIX, HAND, "simultaneous") == 0.75 * 18 + 0.25 * 22.5


def test_metrics_of_any_schedule_are_metrics_of_a_mapping():
    assert MAPPING.value("makespan") == 18
    assert MAPPING.value("flowtime") == 45
    assert MAPPING.value("mean_flowtime") == 45 / 2
    assert MAPPING.value("fitness") == 0.75 * 18 + 0.25 * 22.5
    assert MAPPING.value("load_balance") == 10 / 18
    assert MAPPING.value("mean_wait") == (14 + 10 + 0 + 11) / 4
    assert MAPPING.summary().to_dict()["jobs"] == 4


def test_a_machine_that_is_busy_with_something_else_counts_in_the_papers_makespan():
    late = mapped(EtcMatrix([[1, 1]], ready=[0, 50]), [0], "hand")
    assert mapping_facts(late)["makespan"] == 50  # eq. 3: when the last machine has finished
    assert late.makespan == 1  # when the last job has


def test_a_schedule_is_written_with_names_of_jobs_and_machines(tmp_path):
    MAPPING.save(tmp_path / "schedule.csv")
    lines = (tmp_path / "schedule.csv").read_text().splitlines()
    assert lines[:2] == ["id,submit,start,end,place", "a,0,14.0,18.0,fast"]


def forged(start, end, machine):
    """A schedule of the four jobs that nobody has checked."""
    pieces = Pieces(np.arange(4), np.array(start), np.array(end), np.ones(4, int), machine)
    return Schedule(MATRIX.workload, MATRIX, start, "forged", own_end=end, pieces=pieces)


@pytest.mark.parametrize(
    ("start", "end", "machine", "sentence"),
    [
        ([14.0, 10, 0, 11], [18.0, 11, 2, 14], [0, 0, 1, 1], "job d on machine slow .* cannot be"),
        ([14.0, 10, 0, 11], [19.0, 11, 2, 14], [0, 0, 1, 0], "job a .* another time than its 4 s"),
        ([14.0, 9, 0, 11], [18.0, 10, 2, 14], [0, 0, 1, 0], "job b .* is ready at 10"),
        ([13.0, 10, 0, 11], [17.0, 11, 2, 14], [0, 0, 1, 0], "2 cores are busy at 13.0 on 'fast'"),
        ([14.0, 10, 0, 11], [18.0, 11, 2, 14], [0, 0, 7, 0], "on machine 7, but there are 2"),
        ([14.0, 10, 0, 11], [18.0, 11, 2, 14], None, "not told on which machine"),
    ],
)
def test_a_schedule_that_cannot_be_is_found_out(start, end, machine, sentence):
    place = None if machine is None else np.array(machine)
    with pytest.raises(ScheduleError, match=sentence):
        verify(forged(start, end, place))


def test_a_part_of_a_mapping_is_judged_by_the_jobs_it_has():
    part = MAPPING.select(np.array([True, False, True, False]))
    assert violations(part) == []
    assert machine_of(part).tolist() == [0, 1]


def test_jobs_of_another_instance_are_found_out():
    other = mapped(EtcMatrix(np.ones((5, 2))), np.zeros(5, int), "hand")
    found = MATRIX.violations(other)
    assert "jobs that are not among the 4" in found[0]


def test_a_schedule_of_no_grid_is_refused(small):
    with pytest.raises(ScheduleError, match="is no grid of unequal machines"):
        matrix_of(small)
    with pytest.raises(ScheduleError, match="does not tell on which machine"):
        machine_of(small)


@pytest.fixture
def small():
    from queuesmith.cluster import Cluster
    from queuesmith.workload import Workload

    return Schedule(Workload([0], [1], [1], [1]), Cluster(1), np.array([0]), "fcfs")


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_finishing_times_agree_with_those_counted_one_by_one(jobs, machines, seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 5, (jobs, machines)).astype(float)
    ready = rng.integers(0, 5, machines).astype(float)
    machine = rng.integers(machines, size=jobs)
    mapping = verify(mapped(EtcMatrix(times, ready), machine, "random"))
    clock = ready.copy()
    for job in sorted(range(jobs), key=lambda job: (times[job, machine[job]], job)):
        own = machine[job]
        assert mapping.start[job] == clock[own]
        clock[own] += times[job, own]
        assert mapping.end[job] == clock[own]
    assert mapping_facts(mapping)["makespan"] == clock.max()


def test_the_objective_decides_what_is_judged():
    values = {objective: mapped(MATRIX, HAND, "hand", objective).proof for objective in OBJECTIVES}
    assert {name: proof.value for name, proof in values.items()} == {
        "makespan": 18,
        "flowtime": 45,
        "simultaneous": 0.75 * 18 + 0.25 * 22.5,
        "hierarchic": 18,
    }


def test_a_bound_tells_how_good_it_is():
    assert MAPPING.gap_percent is None
    assert mapped(MATRIX, HAND, "hand", lower_bound=12.0).gap_percent == 50.0
    proven = mapped(MATRIX, HAND, "hand", lower_bound=18.0)
    assert proven.status is Status.OPTIMAL
    assert mapping_facts(proven)["status"] == "optimal"


def test_the_facts_stand_beside_the_measures():
    facts = mapping_facts(mapped(MATRIX, HAND, "hand", facts={"runs": 3}))
    assert facts["runs"] == 3
    assert facts["instance"] == "four"
    assert facts["makespan"] == 18


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        ([0, 0, 1], "has 3 machines, but instance 'four' has 4 jobs"),
        ([0, 0, 2, 0], "puts job 2 on machine 2, but there are 2"),
        ([0, 0, -1, 0], "puts job 2 on machine -1"),
        ([0, 0, 1, 1], "puts job 3 on machine 1, which cannot run it"),
    ],
)
def test_a_mapping_that_cannot_be_is_an_error(machine, sentence):
    with pytest.raises(ScheduleError, match=sentence):
        mapped(MATRIX, np.array(machine), "hand")


def test_a_large_mapping_is_measured_quickly():
    matrix = generate_etc("u_i_hihi", 4096, 256)
    mapping = mapped(matrix, np.arange(4096) % 256, "spread")
    assert flowtime(matrix, machine_of(mapping)) >= mapping.makespan

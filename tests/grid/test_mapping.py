import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import ScheduleError
from queuesmith.grid import EtcMatrix, Mapping
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.solving.status import Status

MATRIX = EtcMatrix([[4, 9], [1, 9], [9, 2], [3, np.inf]], ready=[10, 0], name="four")
MAPPING = Mapping(MATRIX, np.array([0, 0, 1, 0]), "hand")


def test_short_jobs_run_first_on_each_machine():
    assert MAPPING.start.tolist() == [14, 10, 0, 11]
    assert MAPPING.finish.tolist() == [18, 11, 2, 14]


def test_the_measures_are_those_of_the_paper():
    assert MAPPING.completion.tolist() == [18, 2]
    assert MAPPING.makespan == 18
    assert MAPPING.flowtime == 18 + 11 + 2 + 14
    assert MAPPING.mean_flowtime == 45 / 2
    assert MAPPING.fitness == 0.75 * 18 + 0.25 * 22.5
    assert MAPPING.load_balance == 10 / 18
    assert MAPPING.utilization == (8 + 2) / 36


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_finishing_times_agree_with_those_counted_one_by_one(jobs, machines, seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 5, (jobs, machines)).astype(float)
    ready = rng.integers(0, 5, machines).astype(float)
    mapping = Mapping(EtcMatrix(times, ready), rng.integers(machines, size=jobs), "random")
    clock = ready.copy()
    for job in sorted(range(jobs), key=lambda job: (times[job, mapping.machine[job]], job)):
        machine = mapping.machine[job]
        assert mapping.start[job] == clock[machine]
        clock[machine] += times[job, machine]
        assert mapping.finish[job] == clock[machine]
    assert mapping.makespan == clock.max()


def test_the_objective_decides_what_is_judged():
    values = {
        objective: Mapping(MATRIX, MAPPING.machine, "hand", objective).value
        for objective in ("makespan", "flowtime", "simultaneous", "hierarchic")
    }
    assert values == {
        "makespan": 18,
        "flowtime": 45,
        "simultaneous": MAPPING.fitness,
        "hierarchic": 18,
    }


def test_a_bound_tells_how_good_it_is():
    assert MAPPING.gap_percent is None
    assert Mapping(MATRIX, MAPPING.machine, "hand", lower_bound=12.0).gap_percent == 50.0
    proven = Mapping(MATRIX, MAPPING.machine, "hand", lower_bound=18.0)
    assert proven.status is Status.OPTIMAL
    assert proven.to_dict()["status"] == "optimal"


def test_the_facts_stand_beside_the_measures():
    facts = Mapping(MATRIX, MAPPING.machine, "hand", facts={"runs": 3}).to_dict()
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
        Mapping(MATRIX, np.array(machine), "hand")


def test_a_large_mapping_is_measured_quickly():
    matrix = generate_etc("u_i_hihi", 4096, 256)
    mapping = Mapping(matrix, np.arange(4096) % 256, "spread")
    assert mapping.flowtime >= mapping.makespan

import math
import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.etc.mapping import machine_of
from queuesmith.grid.heuristics.heuristics import HEURISTICS, map_by_heuristic
from queuesmith.grid.heuristics.kernels.shortlists import SHORTLIST
from queuesmith.schedule.verify import verify
from tests.grid.heuristics.heuristic_twins import TWINS

pytestmark = pytest.mark.uncompiled

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SMALL = EtcMatrix([[3, 4], [2, 5], [4, 4]])


@st.composite
def matrices(draw, most_machines=12):
    """Small matrices of few different values, so that ties abound; some pairs are impossible."""
    jobs, machines = draw(st.integers(1, 14)), draw(st.integers(1, most_machines))
    value = draw(st.sampled_from([st.integers(1, 3), st.integers(1, 1000)]))
    time = st.one_of(value, value, value, st.just(math.inf)) if draw(st.booleans()) else value
    rows = draw(
        st.lists(
            st.lists(time, min_size=machines, max_size=machines).filter(
                lambda row: min(row) < math.inf
            ),
            min_size=jobs,
            max_size=jobs,
        )
    )
    if draw(st.booleans()):
        rows = [sorted(row) for row in rows]
    ready = draw(st.lists(st.integers(0, 5), min_size=machines, max_size=machines))
    return EtcMatrix(rows, ready)


@pytest.mark.parametrize("name", HEURISTICS)
@given(matrix=matrices())
@example(matrix=EtcMatrix([[1.0]]))
@example(matrix=EtcMatrix([[math.inf, 2.0], [math.inf, 2.0], [1.0, math.inf]]))
@settings(max_examples=60, deadline=None)
def test_the_compiled_heuristic_does_what_its_twin_does(name, matrix):
    order = np.random.default_rng(0).permutation(matrix.jobs)
    expected = TWINS[name](matrix.times.tolist(), matrix.ready.tolist(), order.tolist())
    found = map_by_heuristic(matrix, name, seed=0)
    assert machine_of(found).tolist() == [expected[job] for job in range(matrix.jobs)]


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("kind", ["u_c_hilo", "u_s_lolo", "u_i_hihi", "g_i_lohi"])
def test_more_machines_than_a_shortlist_change_nothing(name, kind):
    matrix = generate_etc(kind, 60, 3 * SHORTLIST, seed=1, incompatible=0.1)
    # Whole numbers, so that no rounding decides.
    whole = EtcMatrix(np.ceil(matrix.times), np.arange(matrix.machines))
    expected = TWINS[name](whole.times.tolist(), whole.ready.tolist(), range(60))
    found = machine_of(map_by_heuristic(whole, name)).tolist()
    assert found == [expected[job] for job in range(60)]


def test_every_heuristic_has_a_twin():
    assert TWINS.keys() == HEURISTICS.keys()


@pytest.mark.parametrize(
    ("name", "machines"),
    [
        ("olb", [0, 1, 0]),
        ("met", [0, 0, 0]),
        ("mct", [0, 0, 1]),  # job 1 finishes at 5 on either: the first machine has it
        ("min-min", [1, 0, 0]),
        ("max-min", [0, 1, 0]),
    ],
)
def test_a_small_instance_is_mapped_as_by_hand(name, machines):
    assert machine_of(map_by_heuristic(SMALL, name)).tolist() == machines


def test_machines_that_are_busy_are_avoided():
    busy = EtcMatrix([[1, 2]], ready=[10, 0])
    chosen = {name: int(machine_of(map_by_heuristic(busy, name))[0]) for name in HEURISTICS}
    # The one looks at execution times only, the other gives the longest to the fastest.
    assert {name for name, machine in chosen.items() if machine == 0} == {"met", "ljfr-sjfr"}


@pytest.mark.parametrize("name", HEURISTICS)
def test_impossible_pairs_are_never_chosen(name):
    matrix = generate_etc("u_i_hihi", 200, 9, seed=3, incompatible=0.7)
    verify(map_by_heuristic(matrix, name))


def test_a_seed_shuffles_the_jobs_that_come_one_after_another():
    matrix = generate_etc("u_i_hihi", 100, 8)
    for name in ("olb", "mct"):
        first, again, other = (
            machine_of(map_by_heuristic(matrix, name, seed=s)) for s in (1, 1, 2)
        )
        assert first.tolist() == again.tolist() != other.tolist()
    for name in ("min-min", "sufferage"):
        first, other = (machine_of(map_by_heuristic(matrix, name, seed=s)) for s in (1, 2))
        assert first.tolist() == other.tolist()


def test_duplex_is_the_better_of_two():
    for seed in range(5):
        matrix = generate_etc("g_i_hihi", 30, 8, seed=seed)
        value = {n: map_by_heuristic(matrix, n).makespan for n in ("min-min", "max-min", "duplex")}
        assert value["duplex"] == min(value["min-min"], value["max-min"])


def test_the_mapping_says_how_it_came_about():
    mapping = map_by_heuristic(SMALL, "min-min", objective="flowtime")
    assert mapping.policy == "min-min"
    assert mapping.proof is not None
    assert mapping.proof.value == mapping.value("flowtime")
    assert mapping.proof.objective == "flowtime"
    assert mapping.seconds > 0


def test_an_unknown_heuristic_is_named_with_the_known_ones():
    with pytest.raises(UsageError, match=r"no heuristic 'minmin'.*olb, met, mct, min-min"):
        map_by_heuristic(SMALL, "minmin")


def test_a_user_can_add_a_heuristic(monkeypatch):
    monkeypatch.setitem(HEURISTICS, "first", lambda matrix, order: np.zeros(matrix.jobs, int))
    assert map_by_heuristic(SMALL, "first").makespan == 9.0


@pytest.mark.skipif(PLAIN, reason="only compiled code is quick")
def test_large_instances_are_mapped():
    matrix = generate_etc("u_c_hihi", 4096, 128)
    for name in HEURISTICS:
        assert len(machine_of(map_by_heuristic(matrix, name))) == 4096


MIN_MIN = {
    "u_c_hihi.0": 8460675.00,
    "u_c_hilo.0": 161805.43,
    "u_c_lolo.0": 5441.43,
    "u_i_lolo.0": 2785.65,
    "u_s_hilo.0": 104375.16,
    "u_s_lolo.0": 3806.83,
}


@pytest.mark.data
@pytest.mark.parametrize("instance", MIN_MIN)
def test_min_min_gives_the_values_of_the_benchmark(data, instance):
    matrix = read_etc(data / "etc" / "512x16" / instance)
    assert round(map_by_heuristic(matrix, "min-min").makespan, 2) == MIN_MIN[instance]


@pytest.mark.data
@pytest.mark.parametrize("name", HEURISTICS)
def test_no_heuristic_is_below_the_bound_of_the_benchmark(data, name):
    matrix = read_etc(data / "etc" / "512x16" / "u_i_hihi.0")
    assert map_by_heuristic(matrix, name).makespan >= 2909326.60

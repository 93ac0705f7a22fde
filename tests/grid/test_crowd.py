import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.grid import EtcMatrix, Mapping
from queuesmith.grid.bounds import Bound, lower_bound
from queuesmith.grid.crowd import CHUNK, Crowd
from queuesmith.grid.etc_generate import generate_etc
from queuesmith.grid.exact_work import greedy
from tests.grid.brute_force import best_of, tiny_instances


def _random(jobs: int = 600, machines: int = 30, seed: int = 0) -> Bound:
    rng = np.random.default_rng(seed)
    times = rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines))
    times[rng.random(times.shape) < 0.1] = np.inf
    times[:, 0] = rng.uniform(1, 500, jobs)
    return lower_bound(EtcMatrix(times, rng.uniform(0, 20, machines)))


def _makespan(bound: Bound, machine: np.ndarray) -> float:
    return Mapping(bound.matrix, machine, "crowd").makespan


def test_the_makespan_stated_is_that_of_the_mapping_returned() -> None:
    bound = _random()
    crowd = Crowd(bound, greedy(bound.matrix))
    stated = crowd.run(20 * CHUNK)
    assert stated == pytest.approx(_makespan(bound, crowd.machine), rel=1e-12)


def test_loads_kept_on_the_way_are_those_computed_afresh() -> None:
    bound = _random()
    crowd = Crowd(bound, greedy(bound.matrix))
    crowd.run(5 * CHUNK)
    state, columns = crowd._state, crowd._columns
    mapping = Mapping(bound.matrix, columns.machine[state.column], "crowd")
    assert state.load == pytest.approx(mapping.completion / bound.value, rel=1e-9)
    assert np.array_equal(columns.owner[state.column], np.arange(bound.matrix.jobs))


def test_it_comes_close_to_the_bound() -> None:
    bound = _random()
    start = greedy(bound.matrix)
    crowd = Crowd(bound, start)
    found = crowd.run(100 * CHUNK)
    assert bound.value <= found < 1.03 * bound.value < _makespan(bound, start)


def test_a_start_is_never_made_worse() -> None:
    bound = _random(40, 5)
    start = greedy(bound.matrix)
    crowd = Crowd(bound, start)
    crowd.run(CHUNK)
    assert _makespan(bound, crowd.machine) <= _makespan(bound, start) * (1 + 1e-12)


def test_jobs_of_the_start_that_take_far_too_long_are_moved() -> None:
    matrix = generate_etc("u_s_hihi", jobs=200, machines=10, seed=0)
    crowd = Crowd(lower_bound(matrix), matrix.times.argmax(axis=1))
    assert crowd.run(20 * CHUNK) < 1.5 * lower_bound(matrix).value


def test_the_same_seed_gives_the_same_mapping() -> None:
    bound = _random()
    one, two = (Crowd(bound, greedy(bound.matrix), seed=4) for _ in range(2))
    one.run(10 * CHUNK)
    two.run(10 * CHUNK)
    assert np.array_equal(one.machine, two.machine)


def test_it_stops_when_told() -> None:
    bound = _random(40, 5)
    start = greedy(bound.matrix)
    crowd = Crowd(bound, start)
    assert crowd.run_for(1e9, stopped=lambda: True) == pytest.approx(_makespan(bound, start))


@settings(max_examples=25, deadline=None)
@given(tiny_instances())
def test_it_finds_no_less_than_the_optimum(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    crowd = Crowd(bound, greedy(matrix))
    crowd.run(CHUNK)
    assert _makespan(bound, crowd.machine) >= best_of(matrix, "makespan")

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.mapping import flowtime
from queuesmith.grid.exact.bounds import Bound, lower_bound
from queuesmith.grid.exact.pair_search import Both, Habits, PairSearch, polish_both
from queuesmith.grid.exact.run import greedy
from tests.grid.brute_force import best_of, tiny_instances
from tests.grid.exact.random_bounds import makespan_of, random_bound


def _flowtime(bound: Bound, machine: np.ndarray) -> float:
    return flowtime(bound.matrix, machine)


def test_the_walk_returns_a_valid_mapping_of_the_makespan_it_states() -> None:
    bound = random_bound(60, 6)
    search = PairSearch(bound, greedy(bound.matrix))
    stated = search.run(3_000)
    assert makespan_of(bound, search.machine) == pytest.approx(stated, rel=1e-12)


def test_the_walk_is_never_worse_than_its_start_and_never_below_the_bound() -> None:
    for seed in range(5):
        bound = random_bound(60, 6, seed)
        start = greedy(bound.matrix)
        search = PairSearch(bound, start, seed=seed)
        search.run(2_000)
        assert bound.value <= makespan_of(bound, search.machine) <= makespan_of(bound, start)


def test_the_walk_comes_close_to_the_bound() -> None:
    bound = random_bound(200, 6)
    search = PairSearch(bound, greedy(bound.matrix))
    assert search.run(20_000) < bound.value * 1.01


def test_the_same_seed_gives_the_same_mapping() -> None:
    bound = random_bound(60, 6)
    twins = [PairSearch(bound, greedy(bound.matrix), seed=7) for _ in range(2)]
    for search in twins:
        search.run(2_000)
    assert np.array_equal(twins[0].machine, twins[1].machine)


def test_a_walk_can_be_continued() -> None:
    bound = random_bound(60, 6)
    whole, parts = (PairSearch(bound, greedy(bound.matrix), seed=3) for _ in range(2))
    whole.run(2_000)
    for _ in range(4):
        parts.run(500)
    assert np.array_equal(whole.machine, parts.machine)


def test_a_restart_keeps_the_best_mapping() -> None:
    bound = random_bound(60, 6)
    search = PairSearch(bound, greedy(bound.matrix))
    best = search.run(3_000)
    search.restart(greedy(bound.matrix))
    assert search.makespan == pytest.approx(best)
    assert makespan_of(bound, search.machine) == pytest.approx(best)
    search.run(500)
    assert search.makespan <= best


def test_a_walk_stops_when_told() -> None:
    bound = random_bound(60, 6)
    search = PairSearch(bound, greedy(bound.matrix))
    before = search.makespan
    assert search.run_for(1e9, stopped=lambda: True) == before


def test_one_flip_at_a_time_is_a_walk_too() -> None:
    bound = random_bound(60, 6)
    search = PairSearch(bound, greedy(bound.matrix), habits=Habits(0.06, 0.01, 100.0, 1.0, 1))
    assert search.run(1_000) <= makespan_of(bound, greedy(bound.matrix))


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_no_walk_finds_less_than_the_optimum(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    search = PairSearch(bound, greedy(matrix))
    search.run(300)
    assert makespan_of(bound, search.machine) >= best_of(matrix, "makespan")


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_annealing_finds_no_less_than_the_least_flowtime(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    machine = polish_both(bound, greedy(matrix), Both(1.0, 0.0, 0.0), steps=500)
    found = _flowtime(bound, machine)
    assert best_of(matrix, "flowtime") * (1 - 1e-12) <= found
    assert found <= _flowtime(bound, greedy(matrix)) * (1 + 1e-12)


def test_annealing_keeps_to_the_cap() -> None:
    bound = random_bound(60, 6)
    start = greedy(bound.matrix)
    aim = Both(1.0, 1000.0, makespan_of(bound, start) * (1 - 1e-12))
    found = polish_both(bound, start, aim, steps=20_000)
    assert makespan_of(bound, found) <= makespan_of(bound, start)
    assert _flowtime(bound, found) < _flowtime(bound, start)


def test_annealing_is_the_same_for_the_same_seed() -> None:
    bound = random_bound(60, 6)
    aim = Both(0.1, 1.0, 0.0)
    one, two = (polish_both(bound, greedy(bound.matrix), aim, steps=5_000) for _ in range(2))
    assert np.array_equal(one, two)

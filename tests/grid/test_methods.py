"""One way in to every method, each result with its bound."""

import importlib.util

import pytest
from hypothesis import given, settings

from queuesmith.base.errors import UsageError
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.methods import METHODS, compare_methods, map_jobs, objective_bound
from tests.grid.brute_force import best_of, tiny_instances

VALUE_OF = {
    "makespan": "makespan",
    "hierarchic": "makespan",
    "flowtime": "flowtime",
    "simultaneous": "fitness",
}


@pytest.mark.parametrize("objective", VALUE_OF)
@settings(max_examples=30, deadline=None)
@given(matrix=tiny_instances())
def test_no_mapping_is_below_the_bound_of_its_objective(objective, matrix):
    least = best_of(matrix, VALUE_OF[objective])
    assert objective_bound(matrix, objective) <= least * (1 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_mapping_with_a_bound(method):
    matrix = generate_etc("u_i_hilo", 30, 4, seed=1)
    shares = []
    mapping = map_jobs(matrix, method, seconds=0.5, progress=shares.append)
    assert mapping.lower_bound is not None
    assert mapping.lower_bound <= mapping.makespan * (1 + 1e-9)
    assert all(0 <= share <= 1 for share in shares)


def test_exact_is_never_above_a_heuristic():
    matrix = generate_etc("u_s_lolo", 60, 5, seed=2)
    found = compare_methods([matrix], METHODS, seconds=1.0)
    exact = next(mapping for mapping in found if mapping.method.startswith("exact"))
    assert all(exact.makespan <= mapping.makespan * (1 + 1e-9) for mapping in found)


def test_an_unknown_method_or_objective_is_answered_with_the_names_that_exist():
    matrix = generate_etc("u_i_hilo", 5, 2, seed=1)
    with pytest.raises(UsageError, match=r"no method 'magic'.*min-min"):
        map_jobs(matrix, "magic")
    with pytest.raises(UsageError, match=r"no objective 'luck'.*makespan"):
        map_jobs(matrix, "mct", objective="luck")


def test_without_scipy_a_heuristic_maps_and_says_why_there_is_no_bound(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    mapping = map_jobs(generate_etc("u_i_hilo", 5, 2, seed=1), "mct")
    assert mapping.lower_bound is None
    assert "queuesmith[exact]" in mapping.to_dict()["bound"]

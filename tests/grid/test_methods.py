"""One way in to every method, each result with its bound."""

import importlib.util
import subprocess
import sys

import pytest
from hypothesis import given, settings

from queuesmith.base.errors import UsageError
from queuesmith.grid.choosing import choose_method
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.etc.mapping import machine_of
from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.heuristics import HEURISTICS
from queuesmith.grid.methods import METHODS, compare_methods, map_jobs, objective_bound
from queuesmith.grid.options import OBJECTIVES, MapOptions
from queuesmith.schedule.verify import verify
from queuesmith.solving.status import Status
from tests.grid.brute_force import best_of, tiny_instances


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=30, deadline=None)
@given(matrix=tiny_instances())
def test_no_mapping_is_below_the_bound_of_its_objective(objective, matrix):
    least = best_of(matrix, objective)
    assert objective_bound(matrix, objective) <= least * (1 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_mapping_with_a_bound(method):
    matrix = generate_etc("u_i_hilo", 30, 4, seed=1)
    shares = []
    options = MapOptions(seconds=0.5)
    mapping = verify(map_jobs(matrix, method, options, progress=shares.append))
    assert mapping.lower_bound is not None
    assert mapping.lower_bound <= mapping.makespan * (1 + 1e-9)
    assert all(0 <= share <= 1 for share in shares)


def test_exact_is_never_above_a_heuristic():
    matrix = generate_etc("u_s_lolo", 60, 5, seed=2)
    *heuristics, exact = compare_methods([matrix], [*HEURISTICS, "exact"], MapOptions(seconds=3))
    assert all(exact.makespan <= mapping.makespan * (1 + 1e-9) for mapping in heuristics)


def test_what_one_method_proves_holds_for_the_mappings_of_all():
    matrix = EtcMatrix([[5, 5, 5]] * 7)  # by its work alone no mapping is below 11.7
    mct, exact = compare_methods([matrix], ["mct", "exact"], MapOptions(seconds=2))
    assert mct.lower_bound == exact.lower_bound == pytest.approx(15)
    assert mct.status is exact.status is Status.OPTIMAL


def test_an_unknown_method_or_objective_is_answered_with_the_names_that_exist():
    matrix = generate_etc("u_i_hilo", 5, 2, seed=1)
    with pytest.raises(UsageError, match=r"no method 'magic'.*min-min"):
        map_jobs(matrix, "magic")
    with pytest.raises(UsageError, match=r"no objective 'luck'.*makespan"):
        map_jobs(matrix, "mct", MapOptions(objective="luck"))


def test_generations_stop_the_genetic_scheduler_and_the_same_seed_gives_the_same_result():
    matrix = generate_etc("u_i_hilo", 30, 4, seed=1)
    options = MapOptions(generations=4, seed=3, preset="carretero")
    one, again = (map_jobs(matrix, "ga", options) for _ in range(2))
    assert machine_of(one).tolist() == machine_of(again).tolist()
    assert one.facts["generations"] == 4
    assert one.facts["stopped"] == "generations"


def test_generations_of_a_method_that_has_none_are_refused():
    with pytest.raises(UsageError, match="generations is 4, but method 'exact' has none"):
        map_jobs(generate_etc("u_i_hilo", 5, 2, seed=1), "exact", MapOptions(generations=4))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seconds": 0}, "seconds is 0"),
        ({"seed": -1}, "the seed is -1"),
        ({"generations": 0}, "generations is 0"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_options_that_cannot_be_are_told(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        MapOptions(**options)


def test_nothing_is_compiled_before_a_call_is_known_to_be_right():
    code = (
        "import sys\n"
        "from queuesmith.base.errors import UsageError\n"
        "from queuesmith.grid import MapOptions, map_jobs\n"
        "from queuesmith.grid.etc import generate_etc, read_etc\n"
        "try:\n"
        "    map_jobs(generate_etc(jobs=4, machines=2), 'ga', MapOptions(preset='none'))\n"
        "except UsageError as error:\n"
        "    assert \"there is no preset 'none'\" in str(error)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_scipy_a_heuristic_maps_and_says_why_there_is_no_bound(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    mapping = map_jobs(generate_etc("u_i_hilo", 5, 2, seed=1), "mct")
    assert mapping.lower_bound is None
    assert "queuesmith[exact]" in mapping.facts["bound"]


@pytest.mark.parametrize(
    ("size", "options", "method", "words"),
    [
        ((64, 8), MapOptions(seconds=1), "ga", "in less than 2 s it was the best"),
        ((64, 8), MapOptions(seconds=5), "exact", "are enough"),
        ((512, 16), MapOptions(seconds=5), "exact", "are enough"),
        ((900, 64), MapOptions(seconds=1), "ga", "too many for the bound"),
        ((64, 8), MapOptions(objective="flowtime"), "exact", "proven"),
        ((64, 8), MapOptions(objective="simultaneous"), "exact", "agree on the machines"),
        ((512, 16), MapOptions(objective="simultaneous"), "ga", "both criteria"),
        ((512, 16), MapOptions(generations=5), "ga", "only ga has"),
        ((512, 16), MapOptions(runs=5), "ga", "only ga has"),
        ((64, 8), MapOptions(preset="carretero", seconds=5), "ga", "only ga has"),
    ],
)
def test_the_method_is_chosen_by_the_instance_and_the_time(size, options, method, words):
    choice = choose_method(generate_etc("u_c_hihi", *size, seed=3), options)
    assert choice.method == method
    assert words in choice.why


def test_a_preset_is_kept_where_the_method_is_chosen():
    matrix = generate_etc("u_i_hilo", 12, 3, seed=1)
    found = map_jobs(matrix, options=MapOptions(preset="carretero", generations=2))
    assert found.facts["preset"] == "carretero"
    with pytest.raises(UsageError, match="there is no preset 'none'"):
        map_jobs(matrix, options=MapOptions(preset="none"))


def test_a_preset_that_no_method_takes_is_refused_also_in_a_comparison():
    matrix, options = generate_etc("u_i_hilo", 5, 2, seed=1), MapOptions(preset="braun")
    with pytest.raises(UsageError, match="preset is braun, but method 'mct' has none"):
        map_jobs(matrix, "mct", options)
    with pytest.raises(UsageError, match="not among the methods mct, met"):
        compare_methods([matrix], ["mct", "met"], options)
    with_ga = MapOptions(preset="braun", generations=1)
    assert len(compare_methods([matrix], ["mct", "ga"], with_ga)) == 2


def test_an_inconsistent_instance_is_told_from_a_consistent_one():
    both = MapOptions(objective="simultaneous")
    assert choose_method(generate_etc("u_c_hihi", 64, 8, seed=3), both).method == "exact"
    assert choose_method(generate_etc("u_i_hihi", 64, 8, seed=3), both).method == "ga"


def test_a_mapping_without_a_method_says_what_was_chosen_and_why():
    matrix = generate_etc("u_c_hihi", 20, 3, seed=3)
    found = map_jobs(matrix, options=MapOptions(objective="flowtime"))
    assert (found.facts["chosen"], found.policy) == ("exact", "exact")
    assert "proven" in found.facts["why"]


def test_independent_runs_give_the_best_of_all_and_their_mean():
    matrix = generate_etc("u_i_hilo", 30, 4, seed=1)
    options = MapOptions(generations=3, preset="carretero", runs=4)
    found = verify(map_jobs(matrix, "ga", options))
    assert found.facts["runs"] == 4
    assert found.makespan <= found.facts["makespan_mean"] * (1 + 1e-9)
    assert found.facts["makespan_std"] > 0
    with pytest.raises(UsageError, match="runs is 4, but method 'mct' has none"):
        map_jobs(matrix, "mct", MapOptions(runs=4))

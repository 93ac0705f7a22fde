import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.base import extras
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.etc.mapping import flowtime, machine_of, mapped
from queuesmith.grid.exact import flowtime as flowtime_module
from queuesmith.grid.exact import makespan as makespan_module
from queuesmith.grid.exact import walker
from queuesmith.grid.exact.both_criteria import bound_both
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.elite import Elite
from queuesmith.grid.exact.pair_search import Both
from queuesmith.grid.exact.run import ExactRequest, greedy, new_run
from queuesmith.grid.exact.solve import OBJECTIVES, solve_exact
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify
from queuesmith.solving.status import Status
from tests.grid.brute_force import best_of, tiny_instances


def _random(jobs: int = 30, machines: int = 4, seed: int = 0) -> EtcMatrix:
    rng = np.random.default_rng(seed)
    times = rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines))
    return EtcMatrix(times, rng.uniform(0, 20, machines))


def _within(percent: float, matrix: EtcMatrix, *, seconds: float, **options: Any) -> Any:
    """Solve in the seconds given, or in ten times as many where others keep the machine busy."""
    for allowed in (seconds, 10 * seconds):
        found = verify(solve_exact(matrix, seconds=allowed, **options))
        assert found.gap_percent is not None
        if found.gap_percent < percent:
            return found
    raise AssertionError(f"{found.gap_percent} % after {allowed} s")


def value_of(schedule: Schedule) -> float:
    assert schedule.proof is not None
    return schedule.proof.value


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_the_makespan_is_that_of_the_best_of_all_mappings(matrix: EtcMatrix) -> None:
    found = verify(solve_exact(matrix, seconds=20, workers=1))
    assert value_of(found) == pytest.approx(best_of(matrix, "makespan"), rel=1e-9)
    assert found.status is Status.OPTIMAL


@settings(max_examples=30, deadline=None)
@given(tiny_instances())
def test_the_flowtime_is_that_of_the_best_of_all_mappings(matrix: EtcMatrix) -> None:
    found = solve_exact(matrix, "flowtime")
    assert value_of(found) == pytest.approx(best_of(matrix, "flowtime"), rel=1e-12)
    assert found.status is Status.OPTIMAL


@settings(max_examples=10, deadline=None)
@given(tiny_instances())
def test_no_mapping_is_below_the_bound_on_both(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    aim = Both(0.25 / matrix.machines, 0.75, 0.0)
    least = best_of(matrix, "simultaneous")
    assert bound_both(matrix, aim, bound, seconds=1, rounds=8).value <= least * (1 + 1e-9)


def test_both_least_values_together_prove_a_mapping_that_has_both() -> None:
    found = solve_exact(EtcMatrix([[3, 4], [2, 5], [4, 4]]), "simultaneous", seconds=60, workers=1)
    assert value_of(found) == pytest.approx(0.75 * 5 + 0.25 * 11 / 2)
    assert found.status is Status.OPTIMAL
    assert found.seconds is not None
    assert found.seconds < 50  # nothing is left to search for


@pytest.mark.parametrize("objective", list(OBJECTIVES))
@pytest.mark.parametrize("workers", [1, 2])
def test_each_objective_keeps_between_its_bound_and_its_start(objective: str, workers: int) -> None:
    matrix = _random()
    start = mapped(matrix, greedy(matrix), "greedy", objective)
    found = verify(solve_exact(matrix, objective, seconds=0.5, workers=workers, start=start))
    assert found.lower_bound is not None
    assert found.lower_bound <= value_of(found) <= value_of(start)
    assert found.proof is not None
    assert found.proof.objective == objective


def test_hierarchic_has_no_more_flowtime_than_its_makespan_needs() -> None:
    matrix = _random(60)
    first = solve_exact(matrix, seconds=0.5)
    one = machine_of(first)
    start = mapped(matrix, one, "exact", "hierarchic")
    two = machine_of(solve_exact(matrix, "hierarchic", seconds=0.5, start=start))
    shorter = matrix.makespan(two) < matrix.makespan(one)
    assert matrix.makespan(two) <= matrix.makespan(one)
    assert shorter or flowtime(matrix, two) <= flowtime(matrix, one)


def test_a_small_instance_is_solved_to_proven_optimality() -> None:
    found = solve_exact(_random(14, 3), seconds=30)
    assert found.status is Status.OPTIMAL
    assert found.facts["cpsat"] == "optimal"


def test_the_mip_gives_a_bound_no_weaker_than_the_lp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makespan_module, "CPSAT_COLUMNS", 0)
    found = _within(0.01, _random(14, 3), seconds=2)
    assert found.lower_bound is not None
    assert found.facts["lp_bound"] <= found.lower_bound <= value_of(found)


def test_too_many_columns_for_the_solvers_are_only_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(makespan_module, "CPSAT_COLUMNS", 0)
    monkeypatch.setattr(makespan_module, "MIP_COLUMNS", 0)
    found = solve_exact(_random(), seconds=0.3)
    assert "mip_bound" not in found.facts
    assert found.lower_bound == pytest.approx(found.facts["lp_bound"])


@pytest.mark.parametrize("objective", ["flowtime", "simultaneous"])
def test_no_assignment_is_begun_that_would_outlast_the_time(
    monkeypatch: pytest.MonkeyPatch, objective: str
) -> None:
    monkeypatch.setattr(flowtime_module, "SMALL", 20)
    monkeypatch.setattr(flowtime_module, "PROBE_JOBS", 10)
    matrix = _random()
    monkeypatch.setattr(flowtime_module, "GROWTH", -99.0)
    quick = solve_exact(matrix, objective, seconds=0.5)
    monkeypatch.setattr(flowtime_module, "GROWTH", 99.0)
    slow = solve_exact(matrix, objective, seconds=0.5)
    assert "assignment" not in quick.facts
    assert "not begun" in slow.facts["assignment"]
    assert slow.lower_bound is not None
    assert quick.lower_bound is not None
    assert slow.lower_bound <= quick.lower_bound <= value_of(slow) * (1 + 1e-9)


def test_the_time_of_an_assignment_is_foretold_from_a_part_of_the_jobs() -> None:
    matrix = _random(1_000, 8)
    foretold = flowtime_module.assignment_seconds(matrix)
    began = time.perf_counter()
    flowtime_module.least_weighted(matrix)
    assert 0.02 < foretold / (time.perf_counter() - began) < 50


def test_a_flowtime_too_large_to_assign_is_annealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flowtime_module, "MOST_CELLS", 10)
    matrix = _random()
    start = mapped(matrix, greedy(matrix), "greedy", "flowtime")
    for objective in ("flowtime", "simultaneous"):
        found = solve_exact(matrix, objective, seconds=0.3, start=start)
        assert found.lower_bound is not None
        assert found.lower_bound <= value_of(found)
    assert value_of(solve_exact(matrix, "flowtime", seconds=0.3, start=start)) < value_of(start)


def test_on_many_machines_jobs_move_along_cheap_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walker, "MANY", 3)
    monkeypatch.setattr(walker, "WIDE", 0.0)
    _within(1.0, _random(400, 4), seconds=1)


def test_walks_begin_from_two_mappings_mixed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walker, "SETTLED", 0.01)
    monkeypatch.setattr(makespan_module, "MIP_COLUMNS", 0)
    crossed: list[bool] = []
    real = Elite.cross

    def watched(elite: Elite, chance: np.random.Generator) -> Any:
        mixed = real(elite, chance)
        crossed.append(mixed is not None)
        return mixed

    monkeypatch.setattr(Elite, "cross", watched)
    _within(0.1, _random(400, 4), seconds=2, workers=2)
    assert any(crossed)


def test_one_machine_takes_all_jobs() -> None:
    for objective in OBJECTIVES:
        found = solve_exact(EtcMatrix([[3.0], [4.0]], ready=[1.0]), objective, seconds=0.2)
        assert found.makespan == 8.0
        assert found.status is Status.OPTIMAL


def test_one_job_takes_the_machine_that_finishes_it_first() -> None:
    found = solve_exact(EtcMatrix([[3.0, 1.0]], ready=[0.0, 1.0]), seconds=1)
    assert machine_of(found).tolist() == [1]
    assert found.status is Status.OPTIMAL


def test_progress_is_told_of_better_values_and_bounds() -> None:
    told: list[tuple[float, float, float]] = []
    found = solve_exact(_random(), seconds=0.5, report=lambda *facts: told.append(facts))
    assert told[-1][1] == value_of(found)
    assert told[-1][2] == found.lower_bound


def test_facts_name_the_time_of_each_part() -> None:
    facts = solve_exact(_random(), seconds=0.5).facts
    assert {"bound_seconds", "search_seconds", "lp_bound"} <= set(facts)


def test_one_worker_and_a_proof_give_the_same_makespan_again() -> None:
    one, two = (solve_exact(_random(14, 3), seconds=30, workers=1, seed=5) for _ in range(2))
    assert one.makespan == pytest.approx(two.makespan, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "speed"}, "there is no objective 'speed'. Choose from: makespan"),
        ({"seconds": 0}, "seconds is 0"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_a_wrong_call_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve_exact(_random(), **options)


def test_a_start_of_another_instance_is_refused() -> None:
    other = _random(5)
    with pytest.raises(UsageError, match="Start from its own"):
        solve_exact(_random(), start=mapped(other, greedy(other), "greedy"))


def test_a_solver_that_fails_ends_its_part_and_not_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(run: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(makespan_module, "solve_cpsat", fail)
    found = verify(solve_exact(_random(14, 3), seconds=1, workers=1))
    assert found.facts["solvers_failed"] == "RuntimeError: out of order"


@pytest.mark.parametrize("missing", ["scipy", "ortools"])
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    real = extras.importlib.import_module

    def refuse(name: str) -> Any:
        if name.startswith(missing):
            raise ImportError(f"No module named '{missing}'")
        return real(name)

    monkeypatch.setattr(extras.importlib, "import_module", refuse)
    with pytest.raises(QueuesmithError, match=rf"{missing}.*pip install 'queuesmith\[exact\]'"):
        solve_exact(_random())


@pytest.mark.data
def test_three_seconds_come_within_one_per_cent(data: Path) -> None:
    matrix = read_etc(data / "etc" / "512x16" / "u_c_hihi.0")
    _within(1.0, matrix, seconds=3)


def test_a_solver_is_given_the_time_on_the_wall_that_is_left() -> None:
    seconds = iter([0.0, *[2.0] * 10])
    run = new_run(ExactRequest(_random(), 6.0, workers=1, clock=lambda: next(seconds)))
    run.wall_began = time.perf_counter() - 10.0
    assert run.wall_seconds_left == pytest.approx(20.0, rel=0.05)

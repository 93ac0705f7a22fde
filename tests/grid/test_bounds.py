from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.errors import QueuesmithError
from queuesmith.grid import EtcMatrix
from queuesmith.grid import bounds as bounds_module
from queuesmith.grid.bounds import (
    least_weighted,
    lower_bound,
    plain_flowtime_bound,
    safe_bound,
)
from queuesmith.grid.etc_files import read_etc
from tests.grid.brute_force import best_of, every_mapping, tiny_instances

SLACK = 1 + 1e-9


def _random(jobs: int, machines: int, seed: int = 0) -> EtcMatrix:
    rng = np.random.default_rng(seed)
    return EtcMatrix(rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines)))


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_no_mapping_is_below_the_bound(matrix: EtcMatrix) -> None:
    assert lower_bound(matrix).value <= best_of(matrix, "makespan") * (1 + 1e-15)


@settings(max_examples=60, deadline=None)
@given(tiny_instances(), st.lists(st.floats(-1, 1e6), min_size=3, max_size=3))
def test_the_bound_holds_with_any_prices(matrix: EtcMatrix, prices: list[float]) -> None:
    bound = safe_bound(matrix, np.array(prices[: matrix.machines]))
    assert bound.value <= best_of(matrix, "makespan") * (1 + 1e-15)


@settings(max_examples=40, deadline=None)
@given(tiny_instances(), st.floats(0.5, 2.0))
def test_the_bound_holds_with_perturbed_prices(matrix: EtcMatrix, factor: float) -> None:
    price = lower_bound(matrix).price * np.array([factor, 1.0, 1 / factor])[: matrix.machines]
    assert safe_bound(matrix, price).value <= best_of(matrix, "makespan") * (1 + 1e-15)


@pytest.mark.parametrize("price", [[0.0, 0.0], [np.nan, np.inf], [-1.0, -2.0]])
def test_senseless_prices_still_give_a_bound(price: list[float]) -> None:
    matrix = EtcMatrix([[2.0, 4.0], [4.0, 2.0]])
    assert 0 < safe_bound(matrix, np.array(price)).value <= 2.0


@settings(max_examples=30, deadline=None)
@given(tiny_instances())
def test_dropped_columns_are_in_no_better_mapping(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    best = best_of(matrix, "makespan")
    kept = bound.columns(best)
    for mapping in every_mapping(matrix):
        if mapping.makespan <= best:
            assert kept[np.arange(matrix.jobs), mapping.machine].all()


def test_the_largest_job_alone_is_a_bound() -> None:
    matrix = EtcMatrix([[100.0, 90.0], [1.0, 1.0]])
    assert lower_bound(matrix).value == 90.0


def test_a_late_machine_is_a_bound() -> None:
    assert lower_bound(EtcMatrix([[1.0, 1.0]], ready=[0.0, 50.0])).value == 50.0


def test_adding_columns_gives_the_bound_of_all_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = _random(60, 12)
    at_once = lower_bound(matrix).value
    monkeypatch.setattr(bounds_module, "AT_ONCE", 10)
    monkeypatch.setattr(bounds_module, "FEW", 2)
    assert lower_bound(matrix).value == pytest.approx(at_once, rel=1e-7)


def test_prices_sum_to_one_and_columns_of_the_solution_cost_nothing_extra() -> None:
    bound = lower_bound(_random(40, 5))
    assert bound.price.sum() == pytest.approx(1.0)
    assert bound.share is not None
    assert np.abs(bound.extra[bound.share > 1e-6]).max() < 1e-6 * bound.value


def test_without_time_the_bound_is_weaker_and_still_valid() -> None:
    matrix = _random(40, 5)
    assert lower_bound(matrix, seconds=0.0).value <= lower_bound(matrix).value * SLACK


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_the_least_flowtime_is_that_of_all_mappings(matrix: EtcMatrix) -> None:
    best = best_of(matrix, "flowtime")
    assert least_weighted(matrix).value == pytest.approx(best, rel=1e-12)
    assert plain_flowtime_bound(matrix) <= best * SLACK


@settings(max_examples=30, deadline=None)
@given(tiny_instances(), st.floats(0.0, 3.0), st.floats(0.1, 2.0))
def test_the_least_weighted_sum_is_that_of_all_mappings(
    matrix: EtcMatrix, weight: float, flow: float
) -> None:
    price = weight * np.arange(1, matrix.machines + 1)
    best = min(flow * m.flowtime + price @ m.completion for m in every_mapping(matrix))
    assert least_weighted(matrix, flow=flow, price=price).value == pytest.approx(best, rel=1e-9)


def test_positions_grow_where_too_few_were_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = _random(30, 3)
    true = least_weighted(matrix).value
    monkeypatch.setattr(
        bounds_module, "_likely_positions", lambda matrix: np.ones(matrix.machines, np.int64)
    )
    assert least_weighted(matrix).value == pytest.approx(true, rel=1e-12)


def test_an_assignment_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds_module, "MOST_CELLS", 10)
    with pytest.raises(QueuesmithError, match="Use the method ga"):
        least_weighted(_random(30, 3))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "bound"),
    [("u_c_hihi.0", 7346524.18), ("u_i_lohi.0", 101063.39), ("u_s_lolo.0", 3414.81)],
)
def test_the_lp_bound_is_that_of_the_benchmarks(data: Path, name: str, bound: float) -> None:
    matrix = read_etc(data / "etc" / "512x16" / name)
    assert lower_bound(matrix).value == pytest.approx(bound, abs=0.01)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "flowtime"),
    [("u_c_hihi.0", 1028205830.92), ("u_i_lohi.0", 12223171.69), ("u_s_lolo.0", 589698.22)],
)
def test_the_least_flowtime_is_that_of_the_benchmarks(
    data: Path, name: str, flowtime: float
) -> None:
    matrix = read_etc(data / "etc" / "512x16" / name)
    assert least_weighted(matrix).value == pytest.approx(flowtime, abs=0.01)

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.exact import bounds as bounds_module
from queuesmith.grid.exact.bounds import lower_bound, safe_bound, trivial_bound
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
    for machine in every_mapping(matrix):
        if matrix.makespan(machine) <= best:
            assert kept[np.arange(matrix.jobs), machine].all()


def test_a_job_is_not_spread_over_machines_that_cannot_run_it_in_time() -> None:
    # With half a job on each of the two slow machines, all would be done by 4.
    matrix = EtcMatrix([[8.0, 8.0, 4.0], [8.0, 8.0, 4.0]])
    plain = float((matrix.times * [0.25, 0.25, 0.5]).min(axis=1).sum())
    assert plain == 4.0
    assert lower_bound(matrix).value == pytest.approx(8.0, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(tiny_instances(), st.lists(st.floats(0, 10), min_size=3, max_size=3))
def test_leaving_out_long_columns_never_proves_less(matrix: EtcMatrix, prices: list[float]) -> None:
    price = np.array(prices[: matrix.machines]) + 1e-3
    price /= price.sum()
    costs = np.where(matrix.compatible, matrix.times * price, np.inf)
    plain = costs.min(axis=1).sum() + (price * matrix.ready).sum()
    assert safe_bound(matrix, price).value >= max(plain, trivial_bound(matrix)) * (1 - 1e-12)


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


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "bound"),
    [("u_c_hihi.0", 7346524.18), ("u_i_lohi.0", 101063.39), ("u_s_lolo.0", 3414.81)],
)
def test_the_lp_bound_is_that_of_the_benchmarks(data: Path, name: str, bound: float) -> None:
    matrix = read_etc(data / "etc" / "512x16" / name)
    assert lower_bound(matrix).value == pytest.approx(bound, abs=0.01)


def test_a_bound_by_a_limit_reaches_the_end_of_the_next_column() -> None:
    matrix = EtcMatrix([[10, 5], [20, 10]], ready=[5, 0])
    assert lower_bound(matrix).value == pytest.approx(15, rel=1e-12)

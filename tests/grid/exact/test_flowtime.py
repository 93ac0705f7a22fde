from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import QueuesmithError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.etc.mapping import flowtime
from queuesmith.grid.exact import flowtime as flowtime_module
from queuesmith.grid.exact.flowtime import least_weighted, plain_flowtime_bound
from tests.grid.brute_force import best_of, every_mapping, tiny_instances


def _random(jobs: int, machines: int) -> EtcMatrix:
    rng = np.random.default_rng(0)
    return EtcMatrix(rng.uniform(1, 100, (jobs, 1)) * rng.uniform(1, 10, (jobs, machines)))


@settings(max_examples=40, deadline=None)
@given(tiny_instances())
def test_the_least_flowtime_is_that_of_all_mappings(matrix: EtcMatrix) -> None:
    best = best_of(matrix, "flowtime")
    assert least_weighted(matrix).value == pytest.approx(best, rel=1e-12)
    assert plain_flowtime_bound(matrix) <= best * (1 + 1e-9)


def test_the_plain_bound_is_the_least_flowtime_where_machines_differ_in_speed_alone() -> None:
    rng = np.random.default_rng(0)
    matrix = EtcMatrix(np.outer(rng.uniform(1, 100, 90), [1.0, 1.5, 4.0]), [2.0, 2.0, 2.0])
    assert plain_flowtime_bound(matrix) == pytest.approx(least_weighted(matrix).value, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(tiny_instances(), st.floats(0.0, 3.0), st.floats(0.1, 2.0))
def test_the_least_weighted_sum_is_that_of_all_mappings(
    matrix: EtcMatrix, weight: float, flow: float
) -> None:
    price = weight * np.arange(1, matrix.machines + 1)
    best = min(
        flow * flowtime(matrix, machine) + price @ matrix.completion(machine)
        for machine in every_mapping(matrix)
    )
    assert least_weighted(matrix, flow=flow, price=price).value == pytest.approx(best, rel=1e-9)


def test_positions_grow_where_too_few_were_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = _random(30, 3)
    true = least_weighted(matrix).value
    monkeypatch.setattr(
        flowtime_module, "_likely_positions", lambda matrix: np.ones(matrix.machines, np.int64)
    )
    assert least_weighted(matrix).value == pytest.approx(true, rel=1e-12)


def test_an_assignment_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flowtime_module, "MOST_CELLS", 10)
    with pytest.raises(QueuesmithError, match="Use the method ga"):
        least_weighted(_random(30, 3))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "least"),
    [("u_c_hihi.0", 1028205830.92), ("u_i_lohi.0", 12223171.69), ("u_s_lolo.0", 589698.22)],
)
def test_the_least_flowtime_is_that_of_the_benchmarks(data: Path, name: str, least: float) -> None:
    matrix = read_etc(data / "etc" / "512x16" / name)
    assert least_weighted(matrix).value == pytest.approx(least, abs=0.01)

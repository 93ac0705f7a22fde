import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid.brute_force import tiny_instances

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.exact.bounds import lower_bound, safe_bound
from queuesmith.grid.exact.kernels.prices import REACH, divide_jobs
from queuesmith.grid.exact.prices import balanced_prices


def _slow_loads(times: np.ndarray, log_price: np.ndarray, cold: float) -> np.ndarray:
    """Divide each job over the machines within reach by its costs, one job at a time."""
    load = np.zeros(times.shape[1])
    for own in times:
        possible = np.isfinite(own)
        costs = np.log(own[possible]) + log_price[possible]
        share = np.exp((costs.min() - costs) / cold)
        share[costs >= costs.min() + REACH * cold] = 0.0
        load[possible] += share / share.sum() * own[possible]
    return load


@settings(max_examples=50, deadline=None)
@given(
    tiny_instances(),
    st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    st.floats(0.01, 2.0),
)
def test_jobs_divide_themselves_as_in_the_slow_version(
    matrix: EtcMatrix, log_prices: list[float], cold: float
) -> None:
    log_price = np.array(log_prices[: matrix.machines])
    load = np.zeros(matrix.machines)
    log_times = np.log(matrix.times)
    log_times.setflags(write=False)
    divide_jobs(log_times, log_price, cold, load)
    slow = _slow_loads(matrix.times, log_price, cold)
    assert load == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize("model", ["u_c_hihi", "u_s_hihi", "u_i_hihi", "u_c_lolo"])
def test_prices_prove_nearly_the_bound_of_the_lp(model: str) -> None:
    matrix = generate_etc(model, jobs=300, machines=20, seed=1)
    proven = safe_bound(matrix, balanced_prices(matrix)).value
    assert 0.99 * lower_bound(matrix).value < proven


def test_prices_are_positive_and_sum_to_one() -> None:
    price = balanced_prices(EtcMatrix([[1.0, np.inf, 3.0], [2.0, np.inf, 1.0], [1.0, 50.0, 2.0]]))
    assert (price > 0).all()
    assert price.sum() == pytest.approx(1.0)

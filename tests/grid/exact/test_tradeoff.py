import json

import numpy as np
import pytest
from hypothesis import given, settings

from queuesmith.base.errors import UsageError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.mapping import flowtime
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.flowtime import least_weighted
from queuesmith.grid.exact.tradeoff import ProvenLine, TradeOff, _under, trade_off
from queuesmith.schedule.verify import verify
from tests.grid.brute_force import every_mapping, tiny_instances


@pytest.fixture(scope="module")
def forty() -> EtcMatrix:
    rng = np.random.default_rng(1)
    times = rng.uniform(1, 100, (40, 1)) * rng.uniform(1, 10, (40, 4))
    return EtcMatrix(times, name="forty")


@pytest.fixture(scope="module")
def front(forty: EtcMatrix) -> TradeOff:
    return trade_off(forty, points=6, seconds=2)


def test_makespan_rises_while_flowtime_falls(front: TradeOff) -> None:
    data = front.data()
    assert len(front.points) >= 2  # how many lie between hangs on the speed of the machine
    for point in front.points:
        verify(point)
    assert data["makespan"] == sorted(data["makespan"])
    assert data["flowtime"] == sorted(data["flowtime"], reverse=True)


def test_a_cap_on_the_makespan_costs_flowtime(forty: EtcMatrix) -> None:
    short = least_weighted(forty).machine
    cap = 0.95 * forty.makespan(short)
    between = _under(lower_bound(forty), cap, [short], seconds=0, seed=0)
    assert forty.makespan(between) <= cap
    assert flowtime(forty, short) < flowtime(forty, between) < 1.05 * flowtime(forty, short)


def test_no_point_is_below_what_is_proven(front: TradeOff) -> None:
    data = front.data()
    for found, proven in zip(data["flowtime"], data["flowtime_bound"], strict=True):
        assert proven <= found * (1 + 1e-9)


def test_the_last_point_has_the_least_flowtime(front: TradeOff) -> None:
    data = front.data()
    assert data["flowtime"][-1] == pytest.approx(data["flowtime_bound"][-1])


@settings(max_examples=5, deadline=None)
@given(tiny_instances())
def test_no_mapping_is_below_a_line(matrix: EtcMatrix) -> None:
    front = trade_off(matrix, points=3, seconds=0.3, workers=1)
    for machine in every_mapping(matrix):
        least = front.least_flowtime(matrix.makespan(machine))
        assert least <= flowtime(matrix, machine) * (1 + 1e-6) + 1e-6


def test_a_line_tells_the_flowtime_at_a_makespan() -> None:
    assert ProvenLine(2.0, 4.0, 100.0).flowtime_at(10.0) == 30.0


def test_one_machine_has_one_point() -> None:
    front = trade_off(EtcMatrix([[2.0], [3.0]]), points=4, seconds=0.3)
    assert [point.makespan for point in front.points] == [5.0]


def test_the_front_is_drawn(front: TradeOff) -> None:
    figure = front.draw()
    assert [trace.name for trace in figure.data] == ["found", "proven bound"]
    assert list(figure.data[0].x) == front.data()["makespan"]


def test_the_front_is_ready_for_json(front: TradeOff) -> None:
    assert json.loads(json.dumps(front.to_dict()))["instance"] == "forty"


def test_a_front_of_one_point_is_refused() -> None:
    with pytest.raises(UsageError, match="points is 1"):
        trade_off(EtcMatrix([[2.0]]), points=1)

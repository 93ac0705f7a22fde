"""What a setting is worth among its neighbours."""

import numpy as np
import pytest

from queuesmith.knobs.neighbours import among_neighbours

AXES = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, 0, 0]])


def test_it_is_the_mean_over_directions_by_their_cosines():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    weights = np.exp((np.array([1, 0, 0, -1, 0]) - 1) / 0.5)
    found = among_neighbours(AXES, values, 0.5)
    assert found[0] == pytest.approx(np.average(values, weights=weights))


def test_without_reach_each_stands_by_itself():
    values = np.arange(5.0)
    assert np.array_equal(among_neighbours(AXES, values, 0.0), values)


@pytest.mark.parametrize("reach", [1e-300, 1e-20, 1e-3])
def test_hardly_any_reach_is_as_none(reach):
    random = np.random.default_rng(6)
    settings, values = random.normal(size=(20, 3)), random.random(20)
    assert among_neighbours(settings, values, reach) == pytest.approx(values, rel=0.05)


def test_a_lonely_lucky_value_loses_to_a_good_region():
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    settings = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(60)])
    values = 10 - np.cos(angles)  # best around the first
    values[30] = 8.5  # the luckiest of all, on the wrong side
    assert values.argmin() == 30
    assert among_neighbours(settings, values, 0.4).argmin() in (58, 59, 0, 1, 2)


def test_equal_values_stay_exactly_equal():
    found = among_neighbours(AXES, np.full(5, 0.1), 0.4)
    assert (found == 0.1).all()


def test_a_direction_counts_once_however_often_it_is_there():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    doubled = np.vstack([AXES, AXES[:1] * 0.3, AXES[:1] * 7])
    found = among_neighbours(doubled, np.append(values, [1.0, 1.0]), 0.4)
    assert found[:5] == pytest.approx(among_neighbours(AXES, values, 0.4))
    assert found[5] == pytest.approx(found[0])


def test_what_has_no_value_has_none_and_counts_for_nobody():
    values = np.array([1.0, np.nan, 3.0, np.inf, 5.0])
    found = among_neighbours(AXES, values, 0.4)
    assert np.isnan(found[1]) and np.isinf(found[3])
    finite = [0, 2, 4]
    assert found[finite] == pytest.approx(among_neighbours(AXES[finite], values[finite], 0.4))
    assert np.isnan(among_neighbours(AXES, np.full(5, np.nan), 0.4)).all()


def test_more_settings_than_are_compared_at_once_give_the_same():
    random = np.random.default_rng(5)
    settings, values = random.normal(size=(2500, 3)), random.random(2500)
    found = among_neighbours(settings, values, 0.4)
    unit = settings / np.linalg.norm(settings, axis=1)[:, None]
    weights = np.exp((unit[2400] @ unit.T - 1) / 0.4)
    assert found[2400] == pytest.approx(np.average(values, weights=weights))

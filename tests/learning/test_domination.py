"""Which points are dominated, and how much of the space they dominate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from queuesmith.compiled.pareto import undominated
from queuesmith.learning.domination import dominated_by, dominated_volume

moocore = pytest.importorskip("moocore")

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(0, 3).map(float),
)


@given(tables)
def test_the_undominated_are_those_that_no_other_beats(points):
    kept = undominated(points)
    beaten = [dominated_by(point, points).any() for point in points]
    unbeaten = {tuple(point) for point, bad in zip(points, beaten, strict=True) if not bad}
    assert {tuple(point) for point in points[kept]} == unbeaten
    assert len(kept) == len(unbeaten)  # of equal points, one


@given(tables)
def test_the_area_on_two_axes_is_exact(points):
    two = points[:, :2] / 3.5
    assert dominated_volume(two) == pytest.approx(moocore.hypervolume(two, ref=[1.0, 1.0]))


@pytest.mark.parametrize("columns", [3, 5, 7])
def test_the_volume_is_near_the_exact_one(columns):
    generator = np.random.default_rng(columns)
    points = generator.random((30, columns)) ** 2
    exact = moocore.hypervolume(points, ref=np.ones(columns))
    assert dominated_volume(points) == pytest.approx(exact, rel=0.03)


def test_points_beyond_the_corner_dominate_nothing():
    assert dominated_volume(np.array([[0.5, 1.0], [2.0, 0.1]])) == 0.0

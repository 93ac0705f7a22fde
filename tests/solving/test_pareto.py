import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.solving.pareto import undominated


def slowly(points):
    """Look at every pair."""
    kept = []
    for place, point in enumerate(points):
        others = [other for k, other in enumerate(points) if k != place]
        beaten = any(
            all(a <= b for a, b in zip(other, point, strict=True)) and other != point
            for other in others
        )
        if not beaten and point not in points[:place]:
            kept.append(place)
    return kept


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, 5)] * n), min_size=1))
)
@settings(max_examples=200, deadline=None)
def test_what_is_kept_is_what_no_other_beats(points):
    assert undominated(points).tolist() == slowly(points)


def test_of_equal_points_the_first_is_kept():
    assert undominated([[1, 5], [2, 2], [3, 4], [2, 2]]).tolist() == [0, 1]


def test_points_may_be_rows_of_a_table():
    assert undominated(np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 2.0]])).tolist() == [0, 1]

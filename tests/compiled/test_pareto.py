"""The front: what no other point equals or beats in every column."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.compiled.pareto import undominated


@given(st.integers(1, 4), st.data())
def test_the_front_is_what_no_other_point_beats(columns, data):
    row = st.lists(st.integers(0, 4), min_size=columns, max_size=columns)
    points = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype=np.float64)
    unbeaten = [
        i
        for i, point in enumerate(points)
        if not ((points <= point).all(1) & (points < point).any(1)).any()
        and not (points[:i] == point).all(1).any()
    ]
    assert undominated(points).tolist() == unbeaten

"""Words that sentences are made of."""

import numpy as np
import pytest

from queuesmith.base.words import so_many


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("core",), "0 cores"),
        (1, ("core",), "1 core"),
        (2_000, ("core",), "2,000 cores"),
        (1, ("policy", "policies"), "1 policy"),
        (3, ("policy", "policies"), "3 policies"),
        (1, ("job is", "jobs are"), "1 job is"),
        (2, ("job is", "jobs are"), "2 jobs are"),
        (np.int64(1), ("node",), "1 node"),
        (np.int64(1_024), ("node",), "1,024 nodes"),
        (1.0, ("day",), "1 day"),
        (0.5, ("day",), "0.5 days"),
    ],
)
def test_a_count_is_said_as_people_say_it(count, words, said):
    assert so_many(count, *words) == said


def test_what_is_no_number_is_no_count():
    with pytest.raises(TypeError):
        so_many("2", "core")

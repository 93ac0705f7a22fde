"""Runtimes drawn from the past."""

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.prediction.past import ENOUGH, PastRuntimes


def past(*jobs):
    user, walltime, runtime = (np.array(column) for column in zip(*jobs, strict=True))
    labels = {"user": ("ann", "bob", "eve")}
    return PastRuntimes(
        Workload(np.arange(len(jobs)), runtime, walltime, [1] * len(jobs), user=user, labels=labels)
    )


def drawn(known, user, walltime, **more):
    chance = np.random.default_rng(1)
    return {known.draw(chance, user, walltime, **more) for _ in range(200)}


def test_a_job_runs_as_those_of_its_user_and_request_did():
    known = past(*[(0, 100, 10 + i) for i in range(ENOUGH)], *[(1, 100, 90)] * 9)
    assert drawn(known, "ann", 100) == {10, 11, 12, 13, 14}


def test_where_there_are_too_few_the_user_decides_then_the_request_then_all():
    known = past(*[(0, 100, 50)] * ENOUGH, *[(1, 200, 20)] * ENOUGH)
    assert drawn(known, "ann", 300) == {150}  # half of the request, as always
    assert drawn(known, "eve", 200) == {20}
    assert drawn(known, "eve", 1000) == {100, 500}


def test_what_runs_already_runs_longer_than_it_has():
    known = past(*[(0, 100, 10 * i) for i in range(1, 11)])
    assert drawn(known, "ann", 100, beyond=45) == {50, 60, 70, 80, 90, 100}
    assert drawn(known, "ann", 100, beyond=100) == {101}


@pytest.mark.parametrize("history", [None, Workload([], [], [], [])])
def test_where_nothing_is_known_a_job_runs_to_its_limit(history):
    known = PastRuntimes(history)
    assert known.known == 0 and drawn(known, "ann", 100) == {100}

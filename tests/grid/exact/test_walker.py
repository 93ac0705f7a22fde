"""A worker that walks over mappings, by a clock that counts how often it is looked at."""

import itertools

import numpy as np
import pytest

from queuesmith.grid.etc import generate_etc
from queuesmith.grid.exact.bounds import lower_bound
from queuesmith.grid.exact.run import ExactRequest, ExactRun, new_run
from queuesmith.grid.exact.walker import MANY, Walker

#: So many jobs and machines that each of the two ways to walk is taken.
SIZES = [(60, 6), (400, MANY + 1)]


def _run(jobs: int, machines: int) -> ExactRun:
    ticks = itertools.count()
    matrix = generate_etc("u_i_hihi", jobs, machines, seed=1)
    run = new_run(ExactRequest(matrix, 1.0, workers=1, clock=lambda: 0.001 * next(ticks)))
    run.bound = lower_bound(matrix)
    return run


@pytest.mark.parametrize("size", SIZES)
def test_a_walk_finds_a_shorter_makespan_and_the_same_one_from_the_same_seed(
    size: tuple[int, int],
) -> None:
    runs = [_run(*size) for _ in range(2)]
    before = runs[0].incumbent.value
    for run in runs:
        Walker(run, place=0, ends=0.9, seed=7).walk()
    assert runs[0].bound.value <= runs[0].incumbent.value < before
    assert np.array_equal(runs[0].incumbent.best, runs[1].incumbent.best)


@pytest.mark.parametrize("size", SIZES)
def test_a_walk_ends_at_once_where_the_best_mapping_is_proven(size: tuple[int, int]) -> None:
    run = _run(*size)
    run.incumbent.prove(run.incumbent.value)
    Walker(run, place=0, ends=1e6, seed=0).walk()
    assert run.incumbent.spent < 1.0


@pytest.mark.parametrize("size", SIZES)
def test_a_walk_whose_time_is_over_keeps_the_mapping(size: tuple[int, int]) -> None:
    run = _run(*size)
    before = run.incumbent.value
    Walker(run, place=1, ends=0.0, seed=0).walk()
    assert run.incumbent.value == before


def test_a_part_of_the_time_leaves_all_else_as_it_was_asked_for() -> None:
    matrix = generate_etc("u_i_hihi", 4, 2, seed=1)
    asked = ExactRequest(matrix, 10.0, seed=5, workers=3)
    part = asked.in_part_of_the_time(0.3)
    assert (part.seconds, part.seed, part.workers) == (3.0, 5, 3)
    assert part.matrix is matrix

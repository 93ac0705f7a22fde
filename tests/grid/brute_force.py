"""Every mapping of a tiny instance: the slow, obvious answer."""

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.mapping import Machines, objective_value


@st.composite
def tiny_instances(draw: st.DrawFn) -> EtcMatrix:
    """Up to six jobs on up to three machines, with ready times and incompatible pairs."""
    jobs, machines = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    time = st.one_of(st.integers(1, 20).map(float), st.floats(0.01, 1e4), st.just(np.inf))
    rows = []
    for _ in range(jobs):
        row = draw(st.lists(time, min_size=machines, max_size=machines))
        if not np.isfinite(row).any():
            row[draw(st.integers(0, machines - 1))] = 5.0
        rows.append(row)
    ready = draw(st.lists(st.floats(0, 50), min_size=machines, max_size=machines))
    return EtcMatrix(rows, ready, name="tiny")


def every_mapping(matrix: EtcMatrix) -> Iterator[Machines]:
    choices = [np.flatnonzero(row) for row in matrix.compatible]
    for machine in itertools.product(*choices):
        yield np.array(machine)


def best_of(matrix: EtcMatrix, objective: str) -> float:
    return min(objective_value(matrix, machine, objective) for machine in every_mapping(matrix))

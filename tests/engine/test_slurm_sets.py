"""Sets of nodes as bits: the same as sets of numbers."""

import numpy as np
import pytest

from queuesmith.engine.kernels.slurm_sets import has, lowest, put, remove

pytestmark = pytest.mark.uncompiled


def test_nodes_are_put_in_and_taken_out_across_the_ends_of_numbers():
    nodes, wanted = np.zeros(3, np.int64), {0, 31, 32, 62, 63, 64, 127, 128, 190}
    for node in [*wanted, 5, 63, 100]:
        put(nodes, node)
    for node in (5, 100):
        remove(nodes, node)
    assert {node for node in range(192) if has(nodes, node)} == wanted


@pytest.mark.parametrize("place", [0, 1, 31, 32, 47, 63])
def test_the_lowest_bit_is_found_wherever_it_is(place):
    nodes = np.zeros(1, np.int64)
    for node in {place, min(place + 9, 63), 63}:
        put(nodes, node)
    assert lowest(nodes[0]) == place

import numpy as np
import pytest

from queuesmith.grid.etc.mapping import Machines
from queuesmith.grid.exact.elite import Elite


def _mapping(*machines: int) -> Machines:
    return np.array(machines, np.int64)


def test_the_best_are_kept_and_none_twice() -> None:
    elite = Elite(size=2)
    for makespan, machine in (
        (3.0, (0, 0, 0)),
        (1.0, (1, 1, 1)),
        (1.0, (1, 1, 1)),
        (2.0, (2, 2, 2)),
    ):
        elite.offer(_mapping(*machine), makespan)
    chance = np.random.default_rng(0)
    crossed = [elite.cross(chance) for _ in range(20)]
    assert {int(own) for mapping in crossed if mapping is not None for own in mapping} == {1, 2}


def test_nothing_is_crossed_while_there_is_room() -> None:
    elite = Elite(size=2)
    chance = np.random.default_rng(0)
    assert elite.cross(chance) is None
    elite.offer(_mapping(0, 1), 1.0)
    elite.offer(_mapping(0, 1), 1.0)
    assert elite.cross(chance) is None


@pytest.mark.parametrize("seed", range(5))
def test_what_two_agree_on_is_kept(seed: int) -> None:
    elite = Elite(size=2)
    elite.offer(_mapping(0, 3, 1, 3, 2), 1.0)
    elite.offer(_mapping(1, 3, 1, 3, 0), 2.0)
    crossed = elite.cross(np.random.default_rng(seed))
    assert crossed is not None
    assert crossed[[1, 2, 3]].tolist() == [3, 1, 3]
    assert crossed[0] in (0, 1)
    assert crossed[4] in (2, 0)

"""Random numbers are those of the generator's definition: seeds must give the same for ever."""

import numpy as np
import pytest

from queuesmith.compiled.chance import below, next_random, uniform

pytestmark = pytest.mark.uncompiled

BITS = 2**64 - 1


def defined(state: int) -> int:
    """Marsaglia, Xorshift RNGs (2003), with the triple 13, 7, 17."""
    state ^= state << 13 & BITS
    state ^= state >> 7
    return state ^ state << 17 & BITS


def test_the_generator_is_xorshift64() -> None:
    seed, state = np.array([88172645463325252], np.uint64), 88172645463325252
    for _ in range(1000):
        state = defined(state)
        assert next_random(seed) == state
        assert seed[0] == state


def test_numbers_are_from_0_up_to_1_and_of_53_bits() -> None:
    seed, state = np.array([1], np.uint64), 1
    for _ in range(1000):
        state = defined(state)
        assert uniform(seed) == (state >> 11) / 2**53


def test_whole_numbers_are_below_the_count_and_all_come() -> None:
    seed = np.array([1], np.uint64)
    drawn = [below(seed, 6) for _ in range(1000)]
    assert set(drawn) == set(range(6))

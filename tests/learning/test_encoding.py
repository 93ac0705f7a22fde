"""Rules as vectors, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.learning.encoding import INDIFFERENT, SHARPEST, Encoding
from queuesmith.policy.features import FEATURES, SEVEN
from queuesmith.policy.rules import WEIGHTS

SHAPES = st.builds(
    Encoding,
    st.integers(1, 6),
    st.lists(st.sampled_from(tuple(FEATURES)), min_size=1, max_size=5, unique=True).map(tuple),
    st.integers(1, 7),
)


def test_the_papers_rule_bases_have_270_and_180_numbers():
    assert len(Encoding(10, SEVEN, 13)) == 270
    assert len(Encoding(10, SEVEN, 4)) == 180


@given(SHAPES, st.integers(0, 2**32))
def test_a_vector_survives_decoding_and_encoding(encoding, seed):
    vector = encoding.random(np.random.default_rng(seed))
    assert len(vector) == len(encoding)
    assert np.array_equal(encoding.encode(encoding.decode(vector)), vector)


def test_a_rule_is_its_pairs_of_centre_and_width_then_its_weights():
    encoding = Encoding(2, ("utilization", "slowdown"), 3)
    rules = encoding.decode(np.arange(1.0, 15.0))
    assert rules.centre.tolist() == [[1, 3], [8, 10]]
    assert rules.width.tolist() == [[2, 4], [9, 11]]
    assert rules.weight.tolist() == [[5, 6, 7], [12, 13, 14]]


@given(SHAPES, st.integers(0, 2**32))
def test_rules_by_chance_lie_within_the_ranges(encoding, seed):
    rules = encoding.decode(encoding.random(np.random.default_rng(seed)))
    share = (rules.centre - encoding.low) / encoding.span
    assert ((share >= 0) & (share <= 1)).all()
    assert ((rules.width > 0) & (rules.width <= encoding.span)).all()
    assert set(rules.weight.ravel()) <= set(WEIGHTS)


@given(SHAPES, st.integers(0, 2**32))
def test_a_repaired_vector_is_possible_and_stays_as_it_is(encoding, seed):
    wild = np.random.default_rng(seed).normal(0, 100, len(encoding))
    vector = encoding.repaired(wild)
    rules = encoding.decode(vector)
    share = (rules.centre - encoding.low) / encoding.span
    assert ((share >= -1e-9) & (share <= 1 + 1e-9)).all()
    assert (rules.width >= SHARPEST * encoding.span * (1 - 1e-9)).all()
    assert (rules.width <= INDIFFERENT * encoding.span * (1 + 1e-9)).all()
    assert np.array_equal(vector[encoding.is_weight], wild[encoding.is_weight])
    assert np.allclose(encoding.repaired(vector), vector)


def test_a_centre_that_left_its_range_is_reflected():
    encoding = Encoding(1, ("utilization",), 1)
    centres = [encoding.repaired(np.array([c, 0.5, 0.0]))[0] for c in (0.3, 1.2, -0.1, 2.25)]
    assert centres == pytest.approx([0.3, 0.8, 0.1, 0.25])


@given(SHAPES, st.integers(0, 2**32), st.data())
def test_rules_that_play_a_choice_choose_it_in_all_states(encoding, seed, data):
    chance = np.random.default_rng(seed)
    choice = data.draw(st.integers(0, encoding.choices - 1))
    rules = encoding.decode(encoding.playing(choice, chance))
    for _ in range(20):
        state = encoding.low + encoding.span * chance.uniform(-1, 2, len(encoding.features))
        assert rules.choose(state) == choice


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"rules": 0}, UsageError, "the number of rules is 0"),
        ({"choices": 0}, UsageError, "the number of choices is 0"),
        ({"features": ()}, UsageError, "none is named"),
        ({"features": ("luck",)}, PolicyError, "there is no feature 'luck'"),
    ],
)
def test_what_cannot_be_encoded_is_refused(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        Encoding(**wrong)

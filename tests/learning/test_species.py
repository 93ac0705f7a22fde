"""Mutation and selection."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.learning.encoding import Encoding
from queuesmith.learning.species import Brood, Mutation, Species, mutated_weights
from queuesmith.policy.rules import WEIGHTS
from queuesmith.study.judgement import admitted

SMALL = Encoding(2, ("utilization", "slowdown"), 3)


def founded(parents=2, losses=(1.0, 2.0), **mutation):
    species = Species(SMALL, Mutation(**mutation), parents)
    chance = np.random.default_rng(0)
    species.adopt(species.founders([SMALL.random(chance) for _ in losses]), admitted(losses))
    return species


def test_the_learning_rates_are_those_of_the_paper():
    assert Mutation().rates(270) == pytest.approx((0.043, 0.174), abs=5e-4)
    assert Mutation().rates(180) == pytest.approx((0.053, 0.193), abs=5e-4)
    assert Mutation(global_rate=0, own_rate=0.5).rates(270) == (0, 0.5)


def test_steps_begin_as_shares_of_the_ranges():
    species = founded(step=0.2, weight_step=0.7)
    steps = species.parents.steps[0].reshape(2, -1)
    assert steps[0].tolist() == pytest.approx([0.2, 0.2, 0.2 * 9, 0.2 * 9, 0.7, 0.7, 0.7])


def test_children_are_possible_and_differ_in_their_own_steps():
    species = founded()
    brood = species.children(50, np.random.default_rng(1))
    assert len(brood) == 50
    assert len(np.unique(brood.steps)) == brood.steps.size
    for vector in brood.vectors:
        assert np.allclose(SMALL.repaired(vector), vector)
        assert set(vector[SMALL.is_weight]) <= set(WEIGHTS)


def test_steps_change_by_a_log_normal_factor_with_a_common_part():
    species = founded(parents=1, losses=(1.0,), least_step=0.0)
    brood = species.children(4000, np.random.default_rng(2))
    logarithm = np.log(brood.steps / species.parents.steps[0])
    tau_0, tau_1 = Mutation().rates(len(SMALL))
    assert logarithm.mean() == pytest.approx(0, abs=0.02)
    assert logarithm.std() == pytest.approx(math.hypot(tau_0, tau_1), rel=0.03)
    assert logarithm.mean(axis=1).std() == pytest.approx(
        math.hypot(tau_0, tau_1 / math.sqrt(len(SMALL))), rel=0.05
    )


def test_steps_do_not_vanish():
    species = founded(parents=1, losses=(1.0,), least_step=0.9)
    brood = species.children(100, np.random.default_rng(3))
    assert (brood.steps >= 0.9 * species.parents.steps[0] * (1 - 1e-12)).all()


def test_a_child_may_differ_in_a_share_of_its_numbers_only():
    species = founded(parents=1, losses=(1.0,), changed=0.1)
    brood = species.children(2000, np.random.default_rng(5))
    parent = species.parents
    moved, adapted = brood.vectors != parent.vectors[0], brood.steps != parent.steps[0]
    # One changes in any case, where all would stay.
    assert adapted.mean() == pytest.approx(0.1 + 0.9 ** len(SMALL) / len(SMALL), rel=0.1)
    assert not (moved & ~adapted).any()  # a weight may stay though its turn has come
    assert moved.any(axis=0).all()


def test_fewer_and_fewer_numbers_change_but_always_one():
    species = founded(parents=1, losses=(1.0,), changed=0.5, changed_last=0.001)
    shares = []
    for done in (0.0, 0.5, 1.0):
        brood = species.children(500, np.random.default_rng(5), done)
        adapted = brood.steps != species.parents.steps[0]
        assert adapted.any(axis=1).all()
        shares.append(adapted.mean())
    assert shares[0] == pytest.approx(0.5, rel=0.1)
    assert shares == sorted(shares, reverse=True)


def test_all_numbers_are_changed_unless_said_otherwise():
    same = [
        founded(**settings).children(5, np.random.default_rng(6))
        for settings in ({}, {"changed": 1})
    ]
    assert np.array_equal(same[0].vectors, same[1].vectors)
    assert (same[0].steps != founded().parents.steps[0]).all()


@given(st.integers(0, 2**32), st.floats(0.01, 5))
def test_mutated_weights_stay_on_the_ladder(seed, step):
    chance = np.random.default_rng(seed)
    weights = chance.choice(WEIGHTS, 50).astype(float)
    moved = mutated_weights(weights, np.full(50, step), chance)
    assert set(moved) <= set(WEIGHTS)


@pytest.mark.parametrize("step", [0.05, 0.1, 0.5])
def test_a_weight_moves_as_far_as_its_step_says(step):
    weights = np.zeros(200_000)
    moved = mutated_weights(weights, np.full(len(weights), step), np.random.default_rng(4))
    places = np.searchsorted(WEIGHTS, moved) - 2
    assert places.mean() == pytest.approx(0, abs=0.02)
    # Reflection at the ends only shortens the longest moves.
    assert np.abs(places).mean() == pytest.approx(step, rel=0.12)


def test_the_best_of_parents_and_children_survive_and_of_equals_the_younger():
    species = founded(parents=2, losses=(1.0, 2.0))
    old = species.parents
    brood = Brood(old.vectors + 0.01, old.steps)
    species.compete(brood, admitted([1.0, 1.5]))
    assert species.judged == admitted([1.0, 1.0])
    assert np.array_equal(species.parents.vectors, [brood.vectors[0], old.vectors[0]])


def test_a_species_without_parents_says_so():
    with pytest.raises(UsageError, match="first parents"):
        Species(SMALL, Mutation(), 3).children(1, np.random.default_rng(0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": 0},
        {"weight_step": -1},
        {"least_step": 2},
        {"global_rate": -1},
        {"own_rate": 99},
        {"changed": 0},
        {"changed": 1.5},
        {"changed_last": 0},
    ],
)
def test_wrong_strengths_are_refused(wrong):
    with pytest.raises(UsageError):
        Mutation(**wrong)

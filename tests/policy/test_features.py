"""What rules can look at: each feature on a state made by hand."""

import numpy as np
import pytest

from queuesmith.base.errors import PolicyError
from queuesmith.policy.features import FEATURES, SEVEN, State, find_features

STATE = State(
    now=2 * 86_400 + 7200,
    cores=100,
    free=25,
    waiting=4,
    oldest_submit=2 * 86_400 + 3600,
    narrowest=10,
    waiting_work=720_000.0,
    group_work=np.array([72_000.0, 360_000.0, 180_000.0, 108_000.0, 0.0, 0.0]),
    slowdown=3.5,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slowdown", 3.5),
        ("utilization", 0.75),
        ("group_1_share", 0.5),
        ("group_2_share", 0.25),
        ("group_3_share", 0.15),
        ("group_4_share", 0.0),
        ("group_5_share", 0.0),
        ("queue_length", 4),
        ("queue_work", 2.0),
        ("head_wait", 1.0),
        ("free_share", 2.5),
        ("time_of_day", 2.0),
        ("day_of_week", 2 + 2 / 24),
    ],
)
def test_a_feature_has_its_value(name, value):
    assert FEATURES[name].function(STATE) == pytest.approx(value)


def test_every_feature_is_tested_above_and_says_what_it_is():
    for name, feature in FEATURES.items():
        assert feature.name == name == feature.function.__name__
        assert feature.function.__doc__.endswith(".")
        assert feature.low < feature.high
        assert feature.words


def test_the_seven_are_those_of_the_paper():
    assert ("slowdown", "utilization", *(f"group_{i}_share" for i in range(1, 6))) == SEVEN


def test_what_could_grow_without_end_is_cut():
    extreme = STATE._replace(slowdown=1e6, free=10_000, narrowest=1)
    assert FEATURES["slowdown"].function(extreme) == 100
    assert FEATURES["free_share"].function(extreme) == 10


def test_features_are_found_by_name():
    assert [feature.name for feature in find_features(["head_wait", "slowdown"])] == [
        "head_wait",
        "slowdown",
    ]


def test_an_unknown_feature_is_answered_with_those_there_are():
    with pytest.raises(PolicyError, match=r"no feature 'utilisation'\. Did you mean 'utilization'"):
        find_features(["utilisation"])
    with pytest.raises(PolicyError, match=r"no feature 'xyz'\. Choose from: slowdown, utilization"):
        find_features(["xyz"])

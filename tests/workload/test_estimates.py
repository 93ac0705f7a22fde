"""Walltimes: never below the runtime, mostly round, the longest allowed the most popular."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.workload.estimates import estimate_walltimes, popularity, round_limit
from queuesmith.workload.lublin import lublin


def drawn(runtime, seed=0, **options):
    return estimate_walltimes(runtime, np.random.default_rng(seed), **options)


def top_share(walltime, values=20):
    counts = np.sort(np.unique(walltime, return_counts=True)[1])[::-1]
    return counts[:values].sum() / len(walltime)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2_000_000), max_size=50), st.integers(0, 1000), st.floats(0, 1))
def test_a_walltime_is_never_below_its_runtime(runtime, seed, round_share):
    walltime = drawn(runtime, seed, round_share=round_share)
    assert walltime.dtype == np.int64
    assert np.all(walltime >= np.asarray(runtime, dtype=np.int64))
    assert walltime.max(initial=0) <= round_limit(max(runtime, default=1))


def test_the_same_generator_state_gives_the_same_walltimes():
    assert np.array_equal(drawn(np.arange(1000), 5), drawn(np.arange(1000), 5))


def test_about_twenty_values_cover_nine_jobs_in_ten():
    walltime = lublin(20_000, 256, seed=0).walltime
    assert 0.87 < top_share(walltime) < 0.96


def test_the_longest_allowed_is_the_most_popular():
    walltime = lublin(20_000, 256, seed=0).walltime
    values, counts = np.unique(walltime, return_counts=True)
    assert values[np.argmax(counts)] == values.max()
    assert 0.1 < counts.max() / len(walltime) < 0.35


def test_with_round_values_only_there_are_twenty_of_them():
    walltime = drawn(np.ones(20_000), round_share=1.0, maximum=36 * 3600)
    assert len(np.unique(walltime)) == 20


def test_without_round_values_walltimes_are_multiples_of_five_minutes():
    walltime = drawn(np.ones(2000), round_share=0.0, maximum=36 * 3600)
    assert np.all(walltime % 300 == 0)
    assert len(np.unique(walltime)) > 100


def test_a_maximum_shorter_than_five_minutes_works():
    assert set(drawn(np.full(50, 60), maximum=100)) == {100}


def test_popularity_sums_to_one_and_rises_in_value():
    values, shares = popularity(18 * 3600)
    assert shares.sum() == pytest.approx(1)
    assert np.all(np.diff(values) > 0)
    assert values[np.argmax(shares)] == 18 * 3600


@pytest.mark.parametrize(
    ("longest", "limit"), [(1, 3600), (3600, 3600), (3601, 7200), (8 * 86400 - 5, 8 * 86400)]
)
def test_a_site_sets_a_round_limit(longest, limit):
    assert round_limit(longest) == limit


def test_no_runtimes_give_no_walltimes():
    assert len(drawn([])) == 0


@pytest.mark.parametrize(
    ("runtime", "options", "words"),
    [
        ([-1], {}, "a runtime is not a number"),
        ([float("nan")], {}, "a runtime is not a number"),
        (["long"], {}, "a runtime is not a number"),
        ([[1, 2]], {}, "a runtime is not a number"),
        ([7200], {"maximum": 3600}, "the longest walltime is 3600 s, but a job runs for 7200 s"),
        ([1], {"maximum": 0}, "the longest walltime is 0"),
        ([1], {"round_share": 1.5}, "round_share is 1.5"),
        ([1], {"round_share": float("nan")}, "round_share is nan"),
        ([1], {"decay": 0}, "the decay of popularity is 0"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(runtime, options, words):
    with pytest.raises(UsageError, match=words):
        drawn(runtime, **options)


@pytest.mark.data
def test_walltimes_are_spread_as_in_a_trace_made_by_the_model_of_tsafrir(data):
    with gzip.open(data / "traces" / "lublin_256_est_gensched.swf.gz", "rt") as lines:
        rows = np.array([line.split() for line in lines if line[0] != ";"], dtype=np.float64)
    runtime, theirs = rows[:, 3], rows[:, 8]
    mine = drawn(runtime)
    assert top_share(mine) == pytest.approx(top_share(theirs), abs=0.06)
    for walltime in (mine, theirs):
        assert 0.15 < np.mean(walltime == walltime.max()) < 0.3
    assert np.mean(runtime / mine) == pytest.approx(np.mean(runtime / theirs), abs=0.03)

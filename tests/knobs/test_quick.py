"""The quick search: nearly the exhaustive best for a few per cent of the replays."""

import numpy as np
import pytest

from queuesmith import lublin
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.knobs import quick_search, sweep
from tests.knobs.conftest import CORES


@pytest.fixture(scope="module")
def busy():
    return lublin(250, 64, load=1.2, seed=4)


def test_it_comes_within_one_per_cent_of_the_exhaustive_best(busy):
    everything = sweep(busy, cores=64, ranges="-2:2:0.2", backfill="easy")
    found = quick_search(
        busy,
        cores=64,
        ranges="-2:2:0.2",
        backfill="easy",
        objectives=["mean_wait", "RT"],
    )
    assert len(found) <= 0.03 * len(everything)
    for name in ("mean_wait", "makespan"):
        assert found.best()[name]["value"] <= 1.01 * everything.best()[name]["value"]


def test_every_setting_it_returns_was_replayed_and_costs_what_the_sweep_says(busy):
    everything = sweep(busy, cores=64, ranges="-1:1:0.5")
    found = quick_search(busy, cores=64, ranges="-1:1:0.5", budget=0.3)
    row = {tuple(values): i for i, values in enumerate(everything.settings.tolist())}
    same = [row[tuple(values)] for values in found.settings.tolist()]
    assert np.array_equal(found.costs, everything.costs[same])
    assert found.replayed.all()


def test_the_same_seed_finds_the_same(busy):
    one, two = (quick_search(busy, cores=64, ranges="-1:1:0.2", seed=5, workers=n) for n in (1, 2))
    assert np.array_equal(one.settings, two.settings)


def test_a_budget_of_everything_is_a_sweep_of_all_directions(log):
    found = quick_search(log, cores=CORES, ranges="-1:1:1", budget=1.0)
    assert len(found) == 27
    everything = sweep(log, cores=CORES, ranges="-1:1:1")
    assert found.best()["A"]["value"] == everything.best()["A"]["value"]


def test_progress_ends_at_one(log):
    shares = []
    quick_search(log, cores=CORES, ranges="-1:1:0.5", budget=0.5, progress=shares.append)
    assert shares[-1] == pytest.approx(1, abs=0.3)
    assert shares == sorted(shares)


def test_what_it_cannot_look_for_is_an_error(log):
    with pytest.raises(UsageError, match="the budget is 2"):
        quick_search(log, cores=CORES, budget=2)
    with pytest.raises(MetricError, match="there is no metric"):
        quick_search(log, cores=CORES, ranges="-1:1:1", objectives=["luck"])
    with pytest.raises(MetricError, match="no value under any setting"):
        quick_search(log, cores=CORES, ranges="-1:1:1", objectives=["log(0 - A)"])

"""Sequences of strategies: what the search finds can be reached, and nothing exceeds the bound."""

import numpy as np
import pytest
from papers.genetic_fuzzy_sequences import (
    Window,
    changed_in_rows,
    improved,
    least_objective,
    measured,
    sequence,
    table,
)
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.kept_pieces import KeptPieces

from papers import genetic_fuzzy_sequences
from queuesmith import Workload, verify
from queuesmith.policy.strategies import STRATEGIES, THIRTEEN

CORES = 32


def window(seed, jobs=60, gap=400):
    chance = np.random.default_rng(seed)
    submit = np.cumsum(chance.integers(0, gap, jobs))
    runtime = chance.integers(60, 7_000, jobs)
    cores = chance.integers(1, CORES, jobs)
    group = chance.integers(1, 6, jobs)
    group[:2] = 1, 2
    jobs = Workload(submit - submit[0], runtime, 2 * runtime, cores, group=group)
    return Window(jobs, CORES)


def test_one_strategy_in_all_intervals_is_that_strategy():
    on = window(1)
    for number, strategy in enumerate(THIRTEEN):
        one = on.value(on.bounds(8), [number] * 8)
        assert one == pytest.approx(on.schedule(strategy).value(OBJECTIVE))


@pytest.mark.parametrize("gap", [40, 400, 40_000])
def test_no_strategy_is_below_the_bound(gap):
    for seed in range(5):
        on = window(seed, gap=gap)
        bound = least_objective(on.jobs, on.cores)
        for strategy in THIRTEEN:
            assert on.schedule(strategy).value(OBJECTIVE) >= bound * (1 - 1e-12)


def test_the_bound_is_met_where_nobody_has_to_wait():
    on = window(1, gap=10**6)
    best = on.schedule(STRATEGIES["fcfs+easy"]).value(OBJECTIVE)
    assert least_objective(on.jobs, on.cores) == pytest.approx(best)


def test_the_bound_knows_that_work_takes_its_time():
    """Jobs as wide as the machine, all there at once: one after another is the best there is."""
    jobs = Workload([0, 0, 0], [10, 10, 10], [10, 10, 10], [4, 4, 4], group=[1, 1, 2])
    assert least_objective(jobs, 4) == pytest.approx(10 * 15 + 4 * 30)


def test_a_change_is_kept_only_where_it_is_better(monkeypatch):
    on = window(2)
    bounds = on.bounds(4)
    before = on.value(bounds, [0] * 4)
    after = improved(on, bounds, [0] * 4, np.random.default_rng(0))
    assert on.value(bounds, after) <= before
    monkeypatch.setattr(genetic_fuzzy_sequences, "TRIES", 20)
    further = changed_in_rows(on, bounds, after, np.random.default_rng(0))
    assert on.value(bounds, further) <= on.value(bounds, after)
    verify(on.schedule(sequence(bounds, after)))


def test_what_is_found_is_at_least_as_good_as_the_best_fixed_strategy(monkeypatch, tmp_path):
    monkeypatch.setattr(genetic_fuzzy_sequences, "INTERVALS", (2, 4))
    monkeypatch.setattr(genetic_fuzzy_sequences, "BEGINNINGS", 1)
    monkeypatch.setattr(genetic_fuzzy_sequences, "TRIES", 20)
    piece = measured(window(3))
    assert piece["bound"] <= piece["found"] <= min(piece["fixed"].values())
    kept = KeptPieces(tmp_path / "kept.json")
    assert table(kept) == ""
    kept.add("CTC, at 50%", piece)
    assert "| CTC, at 50% |" in table(kept)

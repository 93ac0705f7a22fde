"""The study of RLScheduler: its table is met, and what was learned is worth what is said."""

import json

import numpy as np
import pytest
from papers.rl_scheduler import agree, interval
from papers.rl_scheduler_paper import LOGS, PUBLISHED
from papers.rl_scheduler_runs import (
    HEURISTICS,
    JobSequence,
    Kept,
    judged,
    learn,
    published_sequences,
    split_starts,
)

from queuesmith.policy.orders import ORDERS


@pytest.mark.data
@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("rules", PUBLISHED)
def test_cells_of_the_published_table_are_met(rules, log, data):
    on = published_sequences(log)
    for name in ("FCFS", "SJF", "F1"):
        value = judged(HEURISTICS[name], rules, on).mean()
        assert agree(value, PUBLISHED[rules][log][name]), (name, value)


def made_up(seed):
    generator = np.random.default_rng(seed)
    submit = np.cumsum(generator.integers(0, 60, 60))
    runtime = generator.integers(1, 2_000, 60)
    request = generator.integers(1, 2_000, 60)  # some jobs outlive it
    jobs = np.stack([submit, runtime, request, generator.integers(1, 9, 60)], axis=1)
    return JobSequence(jobs, cores=8)


def test_jobs_may_outlive_their_request_under_their_rules_and_orders_see_the_request():
    on = made_up(1)
    assert on.waits(ORDERS["sjf"], "none").min() >= 0
    assert on.waits(ORDERS["sjf"], "easy").min() >= 0


def test_learning_gives_the_same_for_the_same_seed_and_keeps_it(tmp_path):
    on = [made_up(1), made_up(2)]
    first = learn("early", on, seed=3, generations=2)
    again = learn("early", on, seed=3, generations=2)
    assert first.parameters == again.parameters
    assert judged(first.order, "early", on).mean() == pytest.approx(first.value)
    file = tmp_path / "kept.json"
    file.write_text(json.dumps({"Lublin-1, published, their backfill, seed 3": vars(first)}))
    kept = Kept(file, only_kept=True)
    assert kept.learned("Lublin-1", "published", "early", on, 3) == first
    assert kept.learned("Lublin-1", "published", "early", on, 4) is None


def test_what_is_judged_is_later_than_what_was_learned_from():
    starts = split_starts(10_000)
    assert max(starts["learned"]) + 1024 <= 3_500
    assert min(starts["chosen"]) >= 3_500
    assert max(starts["chosen"]) + 1024 <= 5_000 <= min(starts["judged"])
    assert len(starts["judged"]) == 50


def test_an_interval_of_equal_values_is_no_change():
    values = np.arange(1.0, 20.0)
    assert interval(values, values) == (0.0, 0.0)

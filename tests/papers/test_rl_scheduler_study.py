"""The study of RLScheduler: its table is met, and what was learned is worth what is said."""

import numpy as np
import pytest
from papers.kept_pieces import KeptPieces
from papers.rl_scheduler import agree
from papers.rl_scheduler_foretold import AREA, LEARNED, ORDER, Past, chosen
from papers.rl_scheduler_later import Outcome, interval, reached, verdict
from papers.rl_scheduler_learning import (
    BLEND,
    Learned,
    Way,
    for_these,
    learn,
    period_starts,
    split_starts,
)
from papers.rl_scheduler_paper import LOGS, PUBLISHED
from papers.rl_scheduler_runs import FIXED, HEURISTICS, JobSequence, judged, published_sequences
from papers.rl_scheduler_validated import (
    CHOSEN,
    QUARTERS,
    TRIED,
    VALIDATED,
    Rule,
    mean_weights,
    on_quarters,
    on_whole,
    orders_of,
    other_log_rows,
    quarter_starts,
    rule_rows,
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


WAYS = [Way("chance", 1.0, "mean", "best", 2), Way("smallest area", 0.3, "ratio", "centre", 2)]


@pytest.mark.parametrize("way", WAYS)
def test_learning_gives_the_same_for_the_same_seed(way):
    on = [made_up(1), made_up(2)]
    first = learn("early", on, 3, way)
    assert first.parameters == learn("early", on, 3, way).parameters
    assert judged(first.order, "early", on).mean() == pytest.approx(first.value)


def test_what_was_learned_is_read_again_and_nothing_else_is_made_up(tmp_path):
    kept = KeptPieces(tmp_path / "kept.json")
    learned = learn("early", [made_up(1)], 0, WAYS[0])
    kept.add("Lublin-1, published, their backfill, seed 0", vars(learned))
    again = KeptPieces(kept.path)
    assert for_these("Lublin-1", "early", again, only_kept=True) == learned
    assert for_these("Lublin-2", "early", again, only_kept=True) is None


def test_what_is_judged_is_later_than_what_was_learned_from():
    starts = split_starts(10_000)
    assert max(starts["learned"]) + 1024 <= 5_000 <= min(starts["judged"])
    assert len(starts["judged"]) == 50


def test_each_period_is_judged_by_what_was_learned_before_it():
    periods = period_starts(10_000)
    assert [one for each in periods for one in each["judged"]] == split_starts(10_000)["judged"]
    for each in periods:
        assert max(each["learned"]) + 1024 <= min(each["judged"])
        assert min(each["judged"]) - min(each["learned"]) == 5_000


def test_what_is_asked_of_later_jobs_is_reached_only_where_it_is():
    assert "lower on 3 of 4, reached" in verdict({"easy": [-9.0, -1.0, -5.0, 1.9]})
    assert "lower on 3 of 4, not reached" in verdict({"easy": [-9.0, -1.0, -5.0, 2.1]})
    assert "lower on 3 of 3, not reached" in verdict({"easy": [-9.0, -1.0, -5.0]})


def test_an_interval_of_equal_values_is_no_change():
    values = np.arange(1.0, 20.0)
    assert interval(values, values) == (0.0, 0.0)


def past_jobs():
    """Jobs of two users: one uses a tenth of what it asks for, the other all of it."""
    submit = np.arange(3_000) * 10
    user = np.arange(3_000) % 2
    request = np.full(3_000, 1_000)
    runtime = np.where(user == 0, 100, 1_000)
    return np.stack([submit, runtime, request, np.ones(3_000, int), user], axis=1)


def test_what_is_foretold_is_learned_from_jobs_before_the_sequence_alone():
    jobs = past_jobs()
    foretold = np.exp(Past(jobs).foretold(1_500))
    assert np.allclose(foretold[jobs[1_500:2_524, 4] == 0], 100)
    assert np.allclose(foretold[jobs[1_500:2_524, 4] == 1], 1_000)
    changed = jobs.copy()
    changed[1_500:, 1] = 7
    assert np.array_equal(np.exp(Past(changed).foretold(1_500)), foretold)


def test_nothing_is_foretold_but_the_request_where_nothing_is_known():
    assert np.allclose(np.exp(Past(past_jobs()).foretold(0)), 1_000)


def with_foretold(seed):
    generator = np.random.default_rng(seed)
    runtime = generator.integers(1, 2_000, 80)
    jobs = np.stack(
        [np.cumsum(generator.integers(0, 60, 80)), runtime, runtime, generator.integers(1, 9, 80)],
        axis=1,
    )
    return JobSequence(jobs, 8, np.log(runtime))


def test_the_earlier_half_chooses_the_order_that_was_better_there():
    on = [with_foretold(seed) for seed in range(3)]
    worst = ORDER.having(walltime=5, cores=5)  # the largest first
    assert chosen(worst, on)[0] == AREA
    assert chosen(ORDER.having(cores=-1.0001), on)[0] in (AREA, LEARNED)
    saf = judged(ORDERS["saf"], "easy", on)
    assert judged(ORDER, "easy", on) == pytest.approx(saf)  # where requests are exact


def test_an_outcome_with_nothing_in_it_claims_nothing():
    assert "reached" not in str(Outcome())


# -- the fourth way --------------------------------------------------------------------------------


def test_quarters_lie_apart_and_end_before_what_is_judged():
    first, second = quarter_starts(10_000, 16).values()
    assert min(first) == 0
    assert max(first) + 1024 <= 2_500 <= min(second)
    assert max(second) + 1024 <= min(split_starts(10_000)["judged"])


def slowdowns(seen, not_seen):
    """SAF has a slowdown of 10 everywhere, the other fixed orders more; what is learned on a
    quarter has some on it, and some on the quarter that it has not seen.
    """
    same = {name: {part: np.full(4, 10.0 + (name != "SAF")) for part in QUARTERS} for name in FIXED}
    first, second = QUARTERS
    learned = {
        "learned on first quarter": {first: np.array(seen), second: np.array(not_seen)},
        "learned on second quarter": {first: np.array(not_seen), second: np.array(seen)},
    }
    return same | learned


def test_what_is_learned_is_taken_where_jobs_that_it_has_not_seen_are_for_it():
    rule = TRIED[CHOSEN]
    assert rule.chosen(slowdowns([10.0] * 4, [9.0] * 4)) == "learned on earlier half"
    assert rule.chosen(slowdowns([1.0] * 4, [10.5] * 4)) == "SAF"


def test_what_is_learned_must_be_lower_by_the_margin():
    found = slowdowns([1.0] * 4, [9.8] * 4)
    assert Rule(statistic="ratio").chosen(found) == "learned on earlier half"
    assert Rule(statistic="ratio", margin=0.03).chosen(found) == "SAF"
    assert Rule(statistic="mean", margin=0.03).chosen(found) == "SAF"


def test_one_bad_sequence_decides_the_mean_and_not_the_ratio():
    found = slowdowns([1.0] * 4, [5.0, 5.0, 5.0, 40.0])
    assert Rule(statistic="mean").chosen(found) == "SAF"
    assert Rule(statistic="ratio").chosen(found) == "learned on earlier half"
    assert Rule(statistic="both").chosen(found) == "SAF"


def test_rules_that_do_not_validate_take_what_they_are_told_to():
    found = slowdowns([1.0] * 4, [99.0] * 4)
    assert Rule(validated_on=()).chosen(found) == "learned on earlier half"
    assert Rule(shape=None).chosen(found) == "SAF"


def test_the_weights_of_seeds_are_averaged_and_halfway_lies_between_them_and_the_beginning():
    learned = [Learned(dict.fromkeys(BLEND.parameters, x), 1.0, 1, 1.0) for x in (1.0, 2.0)]
    assert set(mean_weights(learned).values()) == {1.5}
    orders = orders_of(dict(zip(QUARTERS, learned, strict=True)), learned, foretold=False)
    halfway = orders["halfway on earlier half"].parameters
    assert halfway["walltime"] == pytest.approx(0.25)
    assert halfway["fits"] == pytest.approx(0.75)


def test_nothing_is_validated_of_what_was_not_learned(tmp_path):
    kept = KeptPieces(tmp_path / "kept.json")
    assert on_quarters(kept, "KTH", past_jobs(), 8, only_kept=True) is None
    assert on_whole(kept, "KTH", past_jobs(), 8, only_kept=True) is None


def test_rules_are_told_apart_by_what_they_are_worth_on_other_logs(tmp_path):
    kept = KeptPieces(tmp_path / "kept.json")
    for log, ours in {"KTH": 9.0, "CTC": 10.5}.items():
        rules = {rule: {"chosen": "SAF", "ours": ours} for rule in TRIED}
        kept.add(VALIDATED + log, {"five": 10.0, "six": 9.0, "rules": rules})
    row = rule_rows(kept)[0]
    assert row["lower than the five"] == "1 of 2"
    assert row["higher by 2%, five"] == 1
    assert row["worst to the five, %"] == "+5.0"
    assert [one["change to the six, %"] for one in other_log_rows(kept)] == ["+0.0", "+16.7"]


def test_what_came_out_in_short_has_a_row_for_each_of_the_rules(monkeypatch):
    monkeypatch.setattr("papers.rl_scheduler_later.later_sequences", lambda log: [made_up(1)])
    outcome = Outcome()
    for log in LOGS:
        outcome.add(log, "early", np.array([0.5]), {})
    (row,) = outcome.in_short("some way")
    assert row["rules"] == "their backfill"
    assert row["lower than the five"] == "4 of 4"
    assert row["reached, the six"] == "yes"


def test_lower_on_three_of_four_logs_and_nowhere_higher_by_two_per_cent_is_what_is_asked():
    assert reached([-9.0, -1.0, -5.0, 1.9])
    assert not reached([-9.0, -1.0, -5.0, 2.0])
    assert not reached([-9.0, -1.0, 0.0, 1.0])
    assert not reached([-9.0, -1.0, -5.0])

"""Knobs that are searched anew on the way: only from what is known, and judged on what is not."""

import re

import numpy as np
import pytest

from queuesmith import lublin, simulate
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.knobs import Knobs, retune
from queuesmith.knobs.retuning import HeldOut, held_out
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.verify import verify

HALF_DAY = 43_200


@pytest.fixture(scope="module")
def busy():
    return lublin(400, 64, load=1.1, seed=2)


def test_the_schedule_is_feasible_and_the_knobs_were_turned(busy):
    found = retune(busy, cores=64, every=HALF_DAY, window=4 * HALF_DAY)
    verify(found.schedule)
    assert len(found.turns) > 1
    assert [turn.second for turn in found.turns] == sorted(turn.second for turn in found.turns)
    assert {"second", "alpha", "beta", "gamma", "value", "favours"} == set(found.rows()[0])


def test_knobs_never_turned_are_a_plain_policy(busy):
    found = retune(busy, cores=64, every=HALF_DAY, margin=1.0, initial=Knobs(1, 0.5, -1))
    assert len(found.turns) == 1
    plain = simulate(busy, cores=64, policy=Knobs(1, 0.5, -1).policy("easy"))
    assert np.array_equal(found.schedule.start, plain.start)


def test_the_past_does_not_depend_on_the_future(busy):
    border = int(busy.submit[300])
    other = busy.runtime.copy()
    other[300:] = 1
    changed = busy.replaced(runtime=other)
    options = {"cores": 64, "every": HALF_DAY, "window": 4 * HALF_DAY}
    one, two = retune(busy, **options), retune(changed, **options)
    early = one.schedule.start < border
    assert np.array_equal(one.schedule.start[early], two.schedule.start[early])


def test_the_comparison_holds_a_part_of_the_log_out(busy):
    rows = held_out(busy, cores=64, every=HALF_DAY, window=4 * HALF_DAY).rows
    values = {row["policy"]: row["held out"] for row in rows}
    assert set(values) == {
        "self-tuning",
        "best fixed",
        "best fixed among neighbours",
        "best fixed in hindsight",
        "first come, first served",
    }
    assert all(row["first part"] >= 0 for row in rows)
    assert all(row["longest wait"] >= row["held out"] for row in rows)


def test_a_class_that_is_missing_in_a_window_leaves_the_knobs_alone(busy):
    found = retune(busy, cores=64, objective="A", every=HALF_DAY, window=600)
    verify(found.schedule)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"every": 0}, "time between turns"),
        ({"window": -1}, "window"),
        ({"margin": 2}, "margin"),
        ({"neighbourhood": -0.1}, "neighbourhood"),
        ({"backfill": "plan"}, "there is no backfill 'plan'"),
    ],
)
def test_options_that_cannot_be_are_refused(busy, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        retune(busy, cores=64, **options)


def test_an_unknown_objective_is_refused_before_the_work(busy):
    with pytest.raises(MetricError, match="there is no metric"):
        retune(busy, cores=64, objective="luck")


def test_a_split_must_leave_jobs_on_both_sides(busy):
    with pytest.raises(UsageError, match=r"leaves no jobs on one side.*Give another split"):
        held_out(busy, cores=64, split=0.0)


def test_the_gain_is_that_of_the_held_out_part_with_its_interval():
    log = lublin(3_000, 64, load=0.8, seed=3)
    often = {"every": 4 * HALF_DAY, "window": 14 * HALF_DAY, "ranges": "-1:1:1"}
    judged = held_out(log, cores=64, **often)
    tuned, fixed = (row["held out"] for row in judged.rows[:2])
    assert judged.gain.value == pytest.approx(100 * (1 - tuned / fixed))
    assert judged.gain.weeks >= 2
    assert judged.gain.low <= judged.gain.value <= judged.gain.high
    assert f"({judged.gain.low:.1f} to {judged.gain.high:.1f})" in judged.verdict


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        (Interval(10.0, 4.0, 15.0, 9), r"10.0 % better \(4.0 to 15.0\) than .* hardly chance"),
        (Interval(10.0, -4.0, 15.0, 9), r"better \(-4.0 to 15.0\) than .* That may be chance"),
        (Interval(10.0, None, None, 1), r"10.0 % better than .* The log is too short"),
        (Interval(10.0, None, None, 0), r"10.0 % better than .* weeks .* cannot be redrawn"),
        (Interval(-20.0, -30.0, 1.0, 9), r"20.0 % worse \(-30.0 to 1.0\) than .* Keep alpha=1,"),
        (Interval(0.0, 0.0, 0.0, 9), r"no better than .* Keep alpha=1,beta=0,gamma=-1"),
        (None, r"no better than .* Keep alpha=1,beta=0,gamma=-1"),
    ],
)
def test_the_verdict_does_not_sell_a_loss_or_chance(gain, sentence):
    rows = (
        {"policy": "self-tuning", "knobs": "3 turns", "held out": 20.0},
        {"policy": "best fixed", "knobs": "alpha=1,beta=0,gamma=-1", "held out": 20.0},
        {"policy": "best fixed among neighbours", "knobs": "gamma=-1", "held out": 25.0},
        {"policy": "first come, first served", "knobs": "beta=1", "held out": 30.0},
    )
    assert re.search(sentence, HeldOut(rows, gain, None).verdict)


@pytest.mark.parametrize(
    ("ours", "plain", "sentence"),
    [
        (40.0, 10.0, "But first come, first served did better than both there. Keep that"),
        (40.0, 20.0, "did as well as the better of both there. Keep that"),
        (10.0, 10.0, "did as well as the better of both there. Keep that"),
        (10.0, 5.0, "But first come, first served did better than both there. Keep that"),
    ],
)
def test_the_verdict_keeps_no_setting_that_is_no_better_than_first_come(ours, plain, sentence):
    rows = (
        {"policy": "self-tuning", "knobs": "3 turns", "held out": ours},
        {"policy": "best fixed", "knobs": "alpha=1", "held out": 20.0},
        {"policy": "best fixed among neighbours", "knobs": "alpha=2", "held out": 30.0},
        {"policy": "first come, first served", "knobs": "beta=1", "held out": plain},
    )
    gain = 100 * (1 - ours / 20.0)
    verdict = HeldOut(rows, Interval(gain, None, None, 1), None).verdict
    assert sentence in verdict
    assert "Keep alpha" not in verdict and "hardly chance" not in verdict


def test_the_verdict_keeps_one_search_where_many_do_no_better():
    rows = (
        {"policy": "self-tuning", "knobs": "3 turns", "held out": 10.0},
        {"policy": "best fixed", "knobs": "alpha=1", "held out": 20.0},
        {"policy": "best fixed among neighbours", "knobs": "gamma=-1", "held out": 9.0},
        {"policy": "first come, first served", "knobs": "beta=1", "held out": 30.0},
    )
    verdict = HeldOut(rows, Interval(50.0, 40.0, 60.0, 9), None).verdict
    assert "50.0 % better" in verdict
    assert "the best fixed among neighbours did better than both" in verdict
    assert "Keep gamma=-1: it needs one search" in verdict


def test_a_turn_goes_to_what_is_good_among_its_neighbours(busy):
    options = {"cores": 64, "every": HALF_DAY, "window": 40 * HALF_DAY}
    alone = retune(busy, neighbourhood=0.0, **options)
    found = retune(busy, **options)
    assert [turn.knobs for turn in alone.turns] != [turn.knobs for turn in found.turns]


def test_a_range_of_one_setting_is_turned_to_where_it_is_better(busy):
    options = {"cores": 64, "every": HALF_DAY, "ranges": ["-1", "0", "-1"], "margin": 0.0}
    found = retune(busy, initial=Knobs(1, 0, 1), **options)
    assert found.turns[-1].knobs == Knobs(-1, 0, -1)

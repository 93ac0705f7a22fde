"""Knobs that are searched anew on the way: only from what is known, and judged on what is not."""

import numpy as np
import pytest

from queuesmith import lublin, simulate
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.knobs import Knobs, retune
from queuesmith.knobs.retuning import held_out, verdict
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
    rows = held_out(busy, cores=64, every=HALF_DAY, window=4 * HALF_DAY)
    values = {row["policy"]: row["held out"] for row in rows}
    assert set(values) == {
        "self-tuning",
        "best fixed",
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


def test_the_verdict_does_not_sell_a_loss():
    def rows(tuned, fixed):
        return [
            {"policy": "self-tuning", "knobs": "3 turns", "held out": tuned},
            {"policy": "best fixed", "knobs": "alpha=1,beta=0,gamma=-1", "held out": fixed},
        ]

    assert "10.0 % better" in verdict(rows(90.0, 100.0))
    lost = verdict(rows(120.0, 100.0))
    assert "20.0 % worse" in lost
    assert "Keep alpha=1,beta=0,gamma=-1" in lost
    assert "no better" in verdict(rows(0.0, 0.0))

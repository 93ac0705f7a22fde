import math

import pytest

from queuesmith.campaign.ranking import (
    chi_squared_tail,
    critical_difference,
    friedman,
    range_quantile,
    rank_policies,
)
from queuesmith.campaign.results import Results
from queuesmith.campaign.study_file import Log, Study
from queuesmith.campaign.units import Unit


def results(values, metric="mean_wait", policies=("a", "b", "c"), loads=(1.0,)):
    """``values[log][load][policy]``; None for what is not done."""
    logs = tuple(Log(f"log {i}", file="x") for i in range(len(values)))
    study = Study("s", logs, policies, metrics=(metric,), load_factors=loads)
    units, found = [], []
    for log, by_load in zip(logs, values, strict=True):
        for load, row in zip(loads, by_load, strict=True):
            for policy, value in zip(policies, row, strict=True):
                units.append(
                    Unit("", log, "", 1, load, None, policy, None, (metric,), None, 0.0, 0.0)
                )
                found.append(None if value is None else {"values": [value], "seconds": 0.0})
    return Results(study, tuple(units), tuple(found))


# Demsar (2006), table 5a: critical values of Nemenyi's test at 0.05.
@pytest.mark.parametrize(
    ("policies", "value"), [(2, 1.960), (3, 2.343), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_critical_values_are_those_of_the_printed_table(policies, value):
    assert range_quantile(policies, 0.95) / math.sqrt(2) == pytest.approx(value, abs=1e-3)


def test_the_critical_difference_of_demsars_example():
    # Section 3.2.2 of the same: 4 classifiers on 14 data sets differ from 1.25 ranks on.
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    assert critical_difference(1, 14) is None and critical_difference(4, 1) is None


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (18.307, 10, 0.05), (0.0, 4, 1.0)],
)
def test_tails_of_chi_squared_are_those_of_tables(value, freedom, tail):
    assert chi_squared_tail(value, freedom) == pytest.approx(tail, abs=1e-4)


def test_equal_ranks_tell_nothing():
    assert friedman([[1, 2], [2, 1]]) == pytest.approx(1.0)
    assert friedman([[1, 2]]) is None


def test_ranks_are_means_over_logs_and_equals_share():
    ranking = rank_policies(results([[[1, 2, 3]], [[2, 2, 9]], [[1, 5, 4]]]))
    assert ranking.policies == ("a", "b", "c")
    assert ranking.ranks == pytest.approx((3.5 / 3, 6.5 / 3, 8 / 3))


def test_every_log_has_one_vote_however_many_loads():
    two = results([[[1, 2, 3], [1, 2, 3]], [[3, 2, 1], [3, 2, 1]]], loads=(0.8, 1.0))
    ranking = rank_policies(two)
    assert ranking.logs == 2 and ranking.ranks == pytest.approx((2, 2, 2))


def test_where_higher_is_better_the_highest_ranks_first():
    ranking = rank_policies(results([[[0.5, 0.6, 0.7]]] * 3, metric="utilization"))
    assert ranking.policies == ("c", "b", "a")
    best = next(duel for duel in ranking.duels if duel.policy == "c")
    assert best.wins == 3 and best.percent == pytest.approx(100 * (1 - 0.5 / 0.7))


def test_wins_losses_ties_and_the_gain_against_the_first():
    ranking = rank_policies(results([[[2, 1, 2]], [[4, 2, 4]], [[1, 2, 1]]]))
    by_policy = {duel.policy: duel for duel in ranking.duels}
    b = by_policy["b"]
    assert (b.wins, b.losses, b.ties) == (2, 1, 0)
    assert b.percent == pytest.approx(100 * (1 - (0.5 * 0.5 * 2) ** (1 / 3)))
    assert b.low <= b.percent <= b.high
    c = by_policy["c"]
    assert (c.wins, c.losses, c.ties, c.percent, c.low) == (0, 0, 3, 0, 0)


def test_a_value_of_zero_has_no_ratio_but_wins():
    duel = rank_policies(results([[[2, 0, 1]], [[2, 1, 1]]])).duels[0]
    assert duel.wins == 2 and duel.counted == 1 and duel.low is None


def test_a_log_that_lacks_a_value_is_left_out():
    ranking = rank_policies(results([[[1, 2, 3]], [[1, None, 3]]]))
    assert ranking.logs == 1 and ranking.left_out == 1 and ranking.friedman is None


def test_bars_join_those_that_do_not_differ_and_only_the_widest():
    many = rank_policies(results([[[1, 2, 9]], [[2, 1, 9]]] * 10))
    assert many.alike() == [(0, 1)]
    few = rank_policies(results([[[1, 2, 3]]] * 2))
    assert few.alike() == [(0, 2)]


def test_nothing_done_is_told_in_a_sentence():
    from queuesmith.base.errors import UsageError

    with pytest.raises(UsageError, match="has a value of 'mean_wait' for every policy"):
        rank_policies(results([[[None, None, None]]]))
    with pytest.raises(UsageError, match="there is no metric of the study 'awrt'"):
        rank_policies(results([[[1, 2, 3]]]), "awrt")

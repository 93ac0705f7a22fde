from dataclasses import replace

import pytest

from queuesmith.report import Comparison
from queuesmith.report.wording import (
    common_time_scale,
    duration,
    metric_title,
    plain,
    round_duration,
    scale_of,
    verdict,
)
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (5, "5"),
        (0.1234, "0.123"),
        (1.005, "1.00"),
        (9.996, "10.0"),
        (12.34, "12.3"),
        (99.96, "100"),
        (1234567.8, "1,234,568"),
        (float("nan"), "–"),
    ],
)
def test_numbers_have_three_digits_that_count(number, text):
    assert plain(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (90, "90 s"), (600, "10 min"), (9000, "2.50 h"), (864000, "10 d")],
)
def test_a_duration_is_told_in_a_unit_that_suits_it(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(86_400, "1 d"), (5400, "90 min"), (61, "61 s")])
def test_a_round_duration_is_told_exactly(seconds, text):
    assert round_duration(seconds) == text


def test_a_column_has_one_unit_in_which_all_its_values_can_be_read():
    assert common_time_scale([5_760, 388_800]).unit == "h"
    assert common_time_scale([0, 0]).unit == "s"
    assert scale_of(Objective("utilization"), [0.5]).text(0.5) == "50 %"
    assert scale_of(Objective("mean_backlog"), [1]).text(7200) == "2 core-h"
    assert scale_of(Objective("awrt + awrt"), [7200]).text(7200) == "7,200"


@pytest.mark.parametrize(
    ("expression", "title"),
    [("mean_wait", "mean wait"), ("awrt[1]", "AWRT[1]"), ("10*awrt+1", "10 * awrt + 1")],
)
def test_metrics_are_titled_for_reading(expression, title):
    assert metric_title(expression) == title


def test_the_verdict_says_how_much_less_the_best_waits(schedules):
    said = verdict(Comparison(schedules))
    waits = [each.value("mean_wait") for each in schedules]
    percent = f"{100 * (1 - waits[1] / waits[0]):.0f}"
    assert said.startswith(f"fcfs+list waits {percent} % less than fcfs on average.")


def test_the_verdict_compares_replays_with_replays_and_not_with_history(schedules, workload):
    real = Schedule(workload, schedules[0].cluster, workload.submit + 10**6, "history")
    assert verdict(Comparison((*schedules, real))) == verdict(Comparison(schedules))


def test_the_verdict_compares_the_first_policy_with_the_second_best(schedules):
    slow = replace(schedules[0], start=schedules[0].start + 10**6, policy="slow")
    said = verdict(Comparison((schedules[1], slow, schedules[0]), ("awrt",)))
    assert said.startswith("fcfs+list has the best AWRT: ")
    assert "less than fcfs." in said


def test_the_verdict_says_so_where_intervals_overlap(long_schedules):
    nearly = replace(long_schedules[1], start=long_schedules[1].start + 1, policy="nearly")
    assert "intervals overlap" in verdict(Comparison((long_schedules[1], nearly)))


def test_the_verdict_of_equal_policies_and_of_one_alone(schedules):
    twin = replace(schedules[0], policy="twin")
    assert "the same mean wait" in verdict(Comparison((schedules[0], twin)))
    assert "nothing to compare" in verdict(Comparison(schedules[:1]))


def test_of_equal_policies_none_is_best_and_nothing_is_chance(long_schedules):
    twin = replace(long_schedules[0], policy="twin")
    said = verdict(Comparison((long_schedules[0], twin)))
    assert said == f"{long_schedules[0].policy} and twin have the same mean wait."


def test_the_verdict_does_not_divide_by_a_wait_of_zero(schedules, workload):
    real = Schedule(workload, schedules[0].cluster, workload.submit, "at once")
    said = verdict(Comparison((real, *schedules)))
    assert said.startswith("at once waits 100 % less than fcfs+list on average.")


def test_the_verdict_names_who_is_best_at_the_rest(schedules):
    comparison = Comparison(schedules, ("mean_wait", "p95_wait", "-1*mean_wait", "-1*awrt"))
    said = verdict(comparison)
    assert "It is also best in p95 wait." in said
    assert said.endswith("fcfs is best in -1 * mean_wait and -1 * awrt.")


def test_all_policies_that_share_the_best_value_are_named(long_schedules):
    best, other = sorted(long_schedules[:2], key=lambda each: each.value("mean_wait"))
    twins = (replace(best, policy="second"), replace(best, policy="third"))
    said = verdict(Comparison((other, best, *twins), ("mean_wait",)))
    assert said.startswith(f"{best.policy}, second and third wait ")
    said = verdict(Comparison((best, other, *twins), ("mean_wait",)))
    assert said == f"{best.policy}, second and third have the same, best mean wait."
    said = verdict(Comparison((best, *twins), ("mean_wait",)))
    assert said == f"{best.policy}, second and third have the same mean wait."

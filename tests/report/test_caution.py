"""What is said where history stands beside replays, and when nothing is recommended."""

import pytest

from queuesmith.cluster import Cluster
from queuesmith.report import Comparison, write_report
from queuesmith.report.caution import conclusion, history_caution, is_untrue, recommended
from queuesmith.schedule import Schedule


@pytest.fixture
def real(workload, schedules):
    return Schedule(workload, schedules[0].cluster, workload.submit + 3600, "history")


def test_history_beside_replays_comes_with_a_word_of_caution(schedules, real):
    said = history_caution(Comparison((*schedules, real)))
    assert "a mean wait of 60 min" in said
    assert "no nodes, partitions, limits or downtimes" in said


def test_history_that_the_machine_cannot_hold_is_named(workload):
    crowded = Schedule(workload, Cluster(64), workload.submit * 0 + workload.submit[-1], "history")
    said = history_caution(Comparison((crowded,)))
    assert "cores were really busy at once, but it has 64" in said


def test_without_history_nothing_is_said(schedules):
    assert history_caution(Comparison(schedules)) is None


def as_it_happened(schedules, shift):
    """Let history be the first replay, each job later by a share of its wait."""
    first = schedules[0]
    later = first.submit + (first.wait * (1 + shift)).astype(int)
    return Comparison((Schedule(first.workload, first.cluster, later, "history"), *schedules))


def test_replays_that_are_far_from_what_happened_recommend_nothing(schedules):
    untrue = as_it_happened(schedules, 0.5)
    assert is_untrue(untrue.fidelity)
    said = conclusion(untrue)
    assert said.startswith("No policy is recommended: the replay of fcfs agrees")
    assert "--although-untrue" in said
    assert recommended(untrue) is None
    best = untrue.best("mean_wait")
    assert recommended(untrue, although_untrue=True) == best
    assert conclusion(untrue, although_untrue=True).startswith(best)


def test_replays_that_are_near_to_what_happened_recommend_and_say_their_grade(schedules):
    true = as_it_happened(schedules, 0.01)
    assert conclusion(true).endswith("The replays have grade A against what happened.")
    assert recommended(true) == true.best("mean_wait")


def test_without_history_the_conclusion_says_that_nothing_shows_how_true_replays_are(schedules):
    assert "does not tell what really happened" in conclusion(Comparison(schedules))


def test_the_grade_is_that_of_the_policy_that_really_ran(schedules):
    first, second = schedules[:2]
    real = Schedule(second.workload, second.cluster, second.start, "history")
    assert is_untrue(Comparison((real, first, second)).fidelity)
    graded = Comparison((real, first, second), today=second)
    assert graded.fidelity.error_percent == 0
    assert graded.to_dict()["fidelity"]["grade"] == "A"


def test_the_report_refuses_as_the_table_does(schedules, tmp_path):
    untrue = as_it_happened(schedules, 0.5)
    page = write_report(untrue, tmp_path / "page.html").read_text()
    assert '<p class="verdict">No policy is recommended' in page
    page = write_report(untrue, tmp_path / "page.html", although_untrue=True).read_text()
    assert '<p class="verdict">No policy is recommended' not in page


def test_the_report_has_the_caution_and_measures_replays_by_replays(schedules, real, tmp_path):
    page = write_report(Comparison((*schedules, real)), tmp_path / "page.html").read_text()
    assert 'class="caution"' in page
    assert "Relative to fcfs<" in page

import pytest

from queuesmith.cluster import Cluster
from queuesmith.report import Comparison, write_report
from queuesmith.report.caution import history_caution
from queuesmith.schedule import Schedule


@pytest.fixture
def real(workload, schedules):
    return Schedule(workload, schedules[0].cluster, workload.submit + 3600, "history")


def test_history_beside_replays_comes_with_a_word_of_caution(schedules, real):
    said = history_caution((*schedules, real))
    assert "a mean wait of 60 min" in said
    assert "no nodes, partitions, limits or downtimes" in said


def test_history_that_the_machine_cannot_hold_is_named(workload):
    crowded = Schedule(workload, Cluster(64), workload.submit * 0 + workload.submit[-1], "history")
    assert "cores were really busy at once, but it has 64" in history_caution([crowded])


def test_without_history_nothing_is_said(schedules):
    assert history_caution(schedules) is None


def test_the_report_has_the_caution_and_measures_replays_by_replays(schedules, real, tmp_path):
    page = write_report(Comparison((*schedules, real)), tmp_path / "page.html").read_text()
    assert 'class="caution"' in page
    assert "Relative to fcfs<" in page

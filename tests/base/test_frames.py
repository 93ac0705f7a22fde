"""Results are shown as tables in a notebook, and become pandas tables with one call."""

from dataclasses import dataclass

import pytest

from queuesmith import compare, demo_workload, from_frame, history, simulate, solve, sweep
from queuesmith.base.frames import MOST_SHOWN, Framed
from queuesmith.planning.gap import gap
from queuesmith.schedule.fidelity import Fidelity
from tests.planning.twins import random_snapshot


@dataclass
class Counted(Framed):
    count: int

    def rows(self):
        return [{"number <n>": i} for i in range(self.count)]


def test_rows_become_a_table_and_html_without_a_thousand_rows():
    result = Counted(1000)
    assert result.to_frame()["number <n>"].tolist() == list(range(1000))
    html = result._repr_html_()
    assert html.startswith("<p>Counted(count=1000)</p>") and "number &lt;n&gt;" in html
    assert html.count("<tr>") < MOST_SHOWN + 3


@pytest.fixture(scope="module")
def results():
    log = demo_workload().head(60)
    schedule = simulate(log)
    step = random_snapshot(4, seed=1)
    return {
        "workload": (log, 60),
        "schedule": (schedule, 60),
        "plan": (solve(step), 4),
        "comparison": (compare(log, policies=["fcfs", "fcfs+easy"]), 2),
        "sweep": (sweep(log, ranges="-1:1:1"), 27),
        "gap": (gap([step]), 1),
        "fidelity": (Fidelity(schedule, simulate(log, policy="sjf+easy")), 1),
    }


@pytest.mark.parametrize(
    "name", ["workload", "schedule", "plan", "comparison", "sweep", "gap", "fidelity"]
)
def test_every_result_of_a_verb_is_a_table_with_one_call_and_shows_itself(results, name):
    result, rows = results[name]
    assert len(result.to_frame()) == rows
    assert "<table" in result._repr_html_()
    assert repr(result).startswith("<") and len(repr(result)) < 400


def test_the_frame_of_a_log_is_read_back(results):
    log, _ = results["workload"]
    assert from_frame(log.to_frame()).submit.tolist() == log.submit.tolist()
    assert history(log) is None

"""A learned policy in the report: figures from numbers, sentences from verdicts."""

import re
from functools import partial

import numpy as np
import pytest

from queuesmith import lublin
from queuesmith.learning import tune as tune_for
from queuesmith.learning.coevolution import Coevolution
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.offline_front import Front, Point
from queuesmith.learning.probability import Probability
from queuesmith.report.front_figure import draw_front, front_data
from queuesmith.report.learned import tuning_sections, write_tuning_report
from queuesmith.report.learning_figures import (
    convergence_data,
    draw_convergence,
    draw_group_changes,
    group_changes,
)
from queuesmith.schedule.measures import awrt_by_group

tune = partial(tune_for, objective="10*awrt[1] + 4*awrt[2]")


@pytest.fixture(scope="module")
def jobs():
    return lublin(300, 64, load=1.0, users=30, seed=2)


@pytest.fixture(scope="module")
def tuned(jobs):
    return tune(jobs, method=Coevolution(generations=2, rules=3), seed=1)


@pytest.fixture
def front(tuned):
    schedule = tuned.held_out.learned
    names = ("awrt[1]", "awrt[2]", "awrt", "utilization")

    def point(name, *values):
        return Point(name, dict(zip(names, values, strict=True)), 10 * values[0] + 4 * values[1])

    return Front(
        log="x",
        jobs=len(schedule),
        cores=64,
        objective=tuned.objective,
        objectives=names,
        left_out=("awrt[3]",),
        points=(
            point("b", 10, 30, 20, 0.6),
            point("a", 20, 10, 20, 0.5),
            point("c", 25, 9, 30, 0.7),
        ),
        policies=(point("fcfs+easy", 40, 40, 40, 0.5), point("<coevolution>", 15, 35, 30, 0.6)),
        settings={},
        evaluations=9,
        seconds=1.0,
    )


def html_of(section):
    _, content = section
    parts = content if isinstance(content, list) else [content]
    return "".join(part for part in parts if isinstance(part, str))


def test_the_sections_tell_both_parts_of_the_log_side_by_side(tuned):
    sections = tuning_sections(tuned)
    assert [title for title, _ in sections] == [
        "The learned policy",
        "How it was learned",
        "What it does",
        "Groups before and after",
    ]
    worth = html_of(sections[0])
    gain = tuned.held_out.improvement["baseline"].value
    word = "better" if gain >= 0 else "worse"
    assert f"On jobs it did not see, the learned policy is {abs(gain):.1f} % {word}" in worth
    assert worth.count("<small>learned on</small>") == worth.count("<small>not seen</small>") == 3
    assert "first 70 %" in worth
    rules = html_of(sections[2])
    assert "<h3>For the order</h3>" in rules and "<h3>For the algorithm</h3>" in rules
    assert "Rules overlap" in rules and "Chosen most often" in rules
    assert re.search(r"group 1 \d+ % (shorter|longer)", html_of(sections[3]))


def test_a_policy_learned_on_all_is_said_to_be_unproven(jobs):
    tuned = tune(jobs, method=Pittsburgh(generations=1, rules=2), split=None)
    worth = html_of(tuning_sections(tuned)[0])
    assert "It was not judged on other jobs." in worth
    assert "this does not show what it is worth on other jobs" in worth
    assert "not seen" not in worth


def test_rigid_rules_are_told_as_such(jobs):
    method = Probability(participations=1, partition={"utilization": (0.5,)})
    rules = html_of(tuning_sections(tune(jobs, method=method))[2])
    assert "Every state belongs to one rule." in rules


def test_groups_are_compared_with_easy(tuned):
    verdict = tuned.held_out
    before, after = awrt_by_group(verdict.baseline), awrt_by_group(verdict.learned)
    changes = group_changes(verdict)
    assert list(changes) == [f"group {group}" for group in before]
    first = changes["group 1"]
    assert (first.before, first.after) == (before[1], after[1])
    assert first.better_percent == pytest.approx(100 * (1 - after[1] / before[1]))
    figure = draw_group_changes({"learned from": tuned.learning, "not seen": verdict})
    assert [trace.name for trace in figure.data] == ["FCFS with EASY", "learned policy"] * 2


def test_the_convergence_shows_every_round_and_what_is_to_beat(tuned):
    data = convergence_data(tuned)
    assert data.evaluations.tolist() == [step.evaluations for step in tuned.history]
    admitted = data.best[~np.isnan(data.best)]  # a round has none where all starve somebody
    assert len(admitted)
    assert np.all(np.diff(admitted) <= 0)
    figure = draw_convergence(tuned)
    lines = {trace.name: trace.y for trace in figure.data}
    assert set(lines["FCFS with EASY"]) == {tuned.baseline.value}


def test_the_front_is_projected_with_its_edge_and_the_policies(front):
    data = front_data(front)
    assert data.axes == ("awrt[1]", "awrt[2]")
    assert (data.x.tolist(), data.y.tolist()) == ([10, 20, 25], [30, 10, 9])
    assert (data.edge_x.tolist(), data.edge_y.tolist()) == ([10, 20, 25], [30, 10, 9])
    assert data.policies["fcfs+easy"] == (40, 40)
    figure = draw_front(front, {"<coevolution>": "learned: <coevolution>"})
    assert figure.data[-1].name == "learned: &lt;coevolution&gt;"


def test_the_front_has_a_section_that_names_what_is_left_out(tuned, front):
    title, content = tuning_sections(tuned, front)[-1]
    assert title == "The off-line front"
    assert "No job belongs to awrt[3]." in content[0]
    assert "&lt;coevolution&gt;: 31.8 % above" in content[0]
    assert "<coevolution>" not in content[0]


def test_a_page_about_a_learned_policy_stands_alone(tuned, front, tmp_path):
    page = write_tuning_report(
        tuned, tmp_path / "tuned.html", front=front, command="queuesmith tune"
    )
    text = page.read_text()
    assert "a policy learned by coevolution" in text
    assert "What is compared below are the jobs it did not see." in text
    for title in ("The learned policy", "The off-line front", "Gantt chart"):
        assert f">{title}</h2>" in text


def test_the_page_says_what_became_of_metrics_that_must_get_no_worse(jobs):
    method = Pittsburgh(generations=1, offspring=3, rules=2)
    tuned = tune(jobs, method=method, seed=1, no_worse="utilization")
    page = str(tuning_sections(tuned)[0][1])
    assert "<p>utilization, no worse than under fcfs+easy: kept on the jobs learned from" in page


def test_a_run_in_which_nothing_is_admitted_at_first_has_a_figure_too(jobs):
    method = Pittsburgh(
        generations=1, offspring=2, parents=2, rules=2, strategies=("wide", "narrow"), seeded=0
    )
    tuned = tune(jobs, method=method, no_worse=["utilization", "awrt", "mean_wait"])
    assert np.isnan(convergence_data(tuned).best[0])
    draw_convergence(tuned)

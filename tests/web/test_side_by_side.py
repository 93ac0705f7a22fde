import pytest

import queuesmith as qs
from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster
from queuesmith.report.plain_figures import groups_figure, over_time_figure, waits_figure
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective
from queuesmith.web.side_by_side import SideBySide, facts_of, sentence_of_change
from queuesmith.workload import Workload
from tests.web.conftest import small_log


def by_hand(wait, name):
    jobs = Workload([0, 10], [5, 5], [5, 5], [1, 1], group=[1, 2])
    return Schedule(jobs, Cluster(9), [wait[0], 10 + wait[1]], name)


def test_who_gains_and_who_pays_is_said_with_its_price():
    week = 8 * 86_400
    said = sentence_of_change(by_hand((100, 100), "old"), by_hand((50, week), "new"), "group")
    assert said.startswith("new instead of old: jobs wait")
    assert "group 1 gains most (-50 %), group 2 pays most" in said
    assert "jobs wait 3,456 times as long on average" in said
    assert "The longest wait is 8 d instead of 100 s; 1 instead of 0 jobs wait over a week." in said


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        ((100, 100), "Nobody noticeably gains or pays"),
        ((50, 100), "nobody noticeably pays"),
        ((100, 200), "nobody noticeably gains"),
    ],
)
def test_where_nobody_gains_or_pays_it_says_so(wait, words):
    assert words in sentence_of_change(by_hand((100, 100), "old"), by_hand(wait, "new"), "group")


def test_columns_may_differ_in_load_and_machine_and_keep_their_colours():
    jobs = small_log(epoch=1_700_000_000)
    plain = qs.simulate(jobs)
    narrow = qs.simulate(jobs.with_load_factor(2.0), cores=16)
    from dataclasses import replace

    narrow = replace(narrow, policy="narrow")
    shown = SideBySide((plain, narrow), ("mean_wait",), columns=("fcfs+easy", "failed", "narrow"))
    assert len(narrow) < len(plain)
    assert shown.dated.epoch is None
    colours = {line["name"]: line["line"]["color"] for line in waits_figure(shown)["data"]}
    assert colours == {"fcfs+easy": "#0072b2", "narrow": "#009e73"}
    for by in ("group", "size", "partition"):
        assert len(groups_figure(shown, by)["data"]) == 2
    assert len(over_time_figure(shown)["data"]) == 6
    with pytest.raises(UsageError, match="twice"):
        SideBySide((plain, plain), ("mean_wait",))


def test_facts_are_those_of_the_schedule():
    schedule = by_hand((100, 300), "by-hand")
    facts = facts_of(schedule, Objective("makespan"))
    assert (facts.mean_wait, facts.longest_wait, facts.jobs) == (200.0, 300.0, 2)
    assert facts.objective.value == 315
    assert facts.objective.low is None

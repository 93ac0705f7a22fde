from dataclasses import replace

import numpy as np
import pytest

import queuesmith as qs
from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster
from queuesmith.report.figure_data import common_parts, mean_waits
from queuesmith.report.plain_figures import groups_figure, over_time_figure, waits_figure
from queuesmith.schedule import Schedule
from queuesmith.schedule.fidelity import codes_by
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


def test_who_did_not_wait_before_is_seen_to_pay():
    said = sentence_of_change(by_hand((0, 0), "old"), by_hand((0, 9000), "new"), "group")
    assert "jobs wait 75 min on average instead of not at all." in said
    assert "group 2 pays most (it did not wait before), and nobody noticeably gains." in said
    said = sentence_of_change(by_hand((100, 0), "old"), by_hand((50, 9000), "new"), "group")
    assert "group 1 gains most (-50 %), group 2 pays most (it did not wait before)." in said
    said = sentence_of_change(by_hand((0, 0), "old"), by_hand((0, 0), "new"), "group")
    assert "about as long as before" in said and "Nobody noticeably gains or pays." in said


WIDE = Workload([0, 0, 0, 5], [100, 100, 100, 50], [100] * 4, [8, 2, 1, 2], group=[1, 2, 3, 3])


@pytest.mark.parametrize("by", ["group", "size", "user"])
def test_the_waits_of_jobs_that_fit_only_one_of_two_machines_are_nobody_elses(by):
    few, many = (replace(qs.simulate(WIDE, cores=n), policy=str(n)) for n in (2, 8))
    for one, other in ((few, many), (many, few)):
        parts = common_parts([one.workload, other.workload], by)
        for schedule in (one, other):
            codes, means = codes_by(schedule.workload, by)[0], mean_waits(schedule, parts)
            by_hand = [schedule.wait[codes == code].mean() for code in np.unique(codes)]
            assert means.mean[means.jobs > 0].tolist() == pytest.approx(by_hand)
        assert len(groups_figure(SideBySide((one, other), ("mean_wait",)), by)["data"]) == 2
        said = sentence_of_change(one, other, by)
        assert f"{len(other)} instead of {len(one)} jobs fit its machine." in said
        assert "group 1" not in said


@pytest.mark.parametrize("epoch", [None, 1_700_000_000])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_months_of_a_moved_load_are_counted_from_the_first_job_on(epoch, factor):
    day = 86_400
    jobs = Workload([30 * day * i for i in range(6)], [60] * 6, [60] * 6, [1] * 6, epoch=epoch)
    plain = replace(qs.simulate(jobs, cores=1), policy="plain")
    moved = replace(qs.simulate(jobs.with_load_factor(factor), cores=1), policy="moved")
    parts = common_parts([plain.workload, moved.workload], "month", 100)
    assert parts.labels[0] == "month 0"
    last = (moved.workload.submit[-1] - moved.workload.submit[0]) // (30 * day)
    assert mean_waits(moved, parts).jobs.sum() == 6 and mean_waits(moved, parts).jobs[0] < 6
    assert len(parts.labels) >= min(last, 6)
    for pair in ((plain, moved), (moved, plain)):
        assert (
            len(groups_figure(SideBySide(pair, ("mean_wait",), columns=()), "month")["data"]) == 2
        )
        assert sentence_of_change(*pair, "month")


def test_columns_may_differ_in_load_and_machine_and_keep_their_colours():
    jobs = small_log(epoch=1_700_000_000)
    plain = qs.simulate(jobs)
    narrow = qs.simulate(jobs.with_load_factor(2.0), cores=16)
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

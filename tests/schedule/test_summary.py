import json

import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.summary import FIRST_LOOK, summarize
from queuesmith.workload import Change, Workload


def test_a_summary_holds_the_metrics_that_one_looks_at_first(tiny):
    summary = summarize(tiny)
    assert summary["policy"] == "by-hand"
    assert summary["jobs"] == 3
    assert summary["dropped"] == 0
    assert summary["seconds"] == 0.25
    assert summary["awrt_by_group"] == {1: 26.0, 2: 40.0}
    assert {name: summary[name] for name in FIRST_LOOK} == {
        name: tiny.value(name) for name in FIRST_LOOK
    }


def test_a_summary_counts_the_jobs_that_were_left_out(tiny):
    noted = tiny.workload.noting(Change("too wide", 5, dropped=True))
    assert Schedule(noted, tiny.cluster, tiny.start, "x").summary()["dropped"] == 5


def test_a_summary_prints_as_an_aligned_table(tiny):
    lines = repr(summarize(tiny)).splitlines()
    assert len({len(line) for line in lines}) == 1
    text = " ".join(" ".join(lines).split())
    for part in ("policy by-hand", "mean_wait 3.3 s", "utilization 50.0%", "awrt[1] 26.0 s"):
        assert part in text


def test_groups_appear_under_their_names(tiny):
    named = tiny.workload.replaced(labels={"group": ("none", "physics", "<b>iology")})
    summary = summarize(Schedule(named, tiny.cluster, tiny.start, "by-hand"))
    assert "awrt[physics]" in repr(summary)
    assert "awrt[&lt;b&gt;iology]" in summary._repr_html_()


def test_a_summary_becomes_json_and_comes_back_the_same(tiny):
    plain = summarize(tiny).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["awrt_by_group"] == {"1": 26.0, "2": 40.0}


def test_a_summary_is_read_only(tiny):
    summary = summarize(tiny)
    with pytest.raises(TypeError):
        summary["jobs"] = 4
    with pytest.raises(TypeError):
        summary["awrt_by_group"][1] = 4
    assert len(summary) == len(list(summary))


def test_metrics_that_a_schedule_does_not_have_are_none():
    schedule = Schedule(Workload([0], [0], [5], [1]), Cluster(1), [0], "by-hand")
    summary = summarize(schedule)
    assert summary["awrt"] is None and summary["utilization"] is None
    assert summary["mean_wait"] == 0 and summary["seconds"] is None
    assert "-" in repr(summary).split()
    json.dumps(summary.to_dict(), allow_nan=False)


def test_an_empty_schedule_has_no_summary(empty):
    with pytest.raises(ScheduleError, match="has no jobs"):
        summarize(empty)

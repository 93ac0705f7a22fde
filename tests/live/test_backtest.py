"""Forecasts along a log, beside what really happened."""

import numpy as np
import pytest

from queuesmith import Workload, simulate
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.cli import main
from queuesmith.live import outcomes as module
from queuesmith.live.backtest import Backtest, backtest
from queuesmith.policy import as_policy
from queuesmith.workload.files import write
from queuesmith.workload.group_names import GroupNames


def past(count=400, cores=8, seed=3, share=0.25):
    """Jobs of EASY's own making that use about a quarter of what they ask for."""
    random = np.random.default_rng(seed)
    runtime = random.integers(600, 6000, count)
    asked = (runtime / (share * random.uniform(0.8, 1.2, count))).astype(int)
    width = random.integers(1, 7, count)
    submit = np.sort(random.uniform(0, (runtime * width).sum() / cores / 0.95, count).astype(int))
    jobs = Workload(
        submit, runtime, asked, width, user=random.integers(0, 5, count), machine_cores=cores
    )
    real = simulate(jobs, cores=cores, policy="fcfs+easy").start
    return jobs.replaced(extra={"real_start": real})


def test_forecasts_are_nearer_than_what_the_requests_say_and_marks_hold():
    found = backtest(past(), 8, most=60, replays=8)
    assert found.error < 0.7 * found.requested_error
    assert 0.75 <= found.held <= 1
    assert 40 < found.moments <= 60
    again = backtest(past(), 8, most=60, replays=8)
    assert np.array_equal(found.median, again.median)


def test_a_policy_for_named_groups_finds_them_in_the_log():
    jobs = past(80)
    accounts = {"account": jobs.user % 2, **jobs.extra}
    jobs = jobs.replaced(extra=accounts, labels={"account": ("bio", "chem")})
    bio, chem = (
        as_policy("group+easy").for_groups(GroupNames("account", ("none", *names)))
        for names in (("bio", "chem"), ("chem", "bio"))
    )
    one, other = (backtest(jobs, 8, policy, most=10, replays=2) for policy in (bio, chem))
    as_written = backtest(jobs.grouped(by="account"), 8, "group+easy", most=10, replays=2)
    assert np.array_equal(one.median, as_written.median)
    assert not np.array_equal(one.median, other.median)


def test_the_forecasts_of_one_job_share_its_vote():
    late, really = np.array([5.0, 5.0, 5.0, 5.0]), np.array([9.0, 8.0, 7.0, 1.0])
    found = Backtest("log", 3, late, late, late, really, np.array([4, 4, 4, 6]))
    assert found.held == 0.25
    assert found.held_by_job == pytest.approx(0.5)
    assert found.held_at_first == pytest.approx(0.5)  # of job 4 that of 9 seconds counts


def test_marks_are_learned_from_forecasts_that_came_true(monkeypatch):
    # Whatever is replayed, here by an order that never ruled, outcomes say how far off it is.
    jobs = past()
    monkeypatch.setattr(module, "ENOUGH", 10**9)
    believed = backtest(jobs, 8, "ljf+easy", most=120, replays=3)
    monkeypatch.setattr(module, "ENOUGH", 60)
    learned = backtest(jobs, 8, "ljf+easy", most=120, replays=3)
    assert 0.8 < learned.held < 0.97
    assert learned.error < believed.error


def test_nothing_after_the_moment_is_known(monkeypatch):
    jobs = past(200)
    monkeypatch.setattr(module, "ENOUGH", 60)
    last = np.arange(200) >= 160
    changed = jobs.replaced(runtime=np.where(last, 1, jobs.runtime))
    one, other = (backtest(each, 8, most=100, replays=2) for each in (jobs, changed))
    early = len(one.median) // 2
    assert np.array_equal(one.median[:early], other.median[:early])
    assert np.array_equal(one.late[:early], other.late[:early])
    assert not np.array_equal(one.median, other.median)


def test_a_log_without_a_history_or_a_queue_is_refused():
    jobs = Workload([0, 10], [5, 5], [5, 5], [1, 1])
    with pytest.raises(WorkloadError, match="does not tell when its jobs really started"):
        backtest(jobs, 4)
    idle = jobs.replaced(extra={"real_start": jobs.submit})
    with pytest.raises(WorkloadError, match="no job of"):
        backtest(idle, 4, every=1)
    with pytest.raises(UsageError, match="between moments"):
        backtest(idle, 4, every=0)


def test_the_command_prints_a_line(tmp_path, capsys):
    path = tmp_path / "log.swf"
    write(past(200), path)
    words = ["slurm", "backtest", str(path), "--most", "8", "--replays", "2", "-q"]
    assert main([*words, "--format", "csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("log,moments,forecasts,mean error (min),by requests (min)")
    assert 1 <= int(row.split(",")[1]) <= 8

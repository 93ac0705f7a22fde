"""The loop that steers, on a made-up Slurm."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from queuesmith import Workload, simulate
from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.live.changes import AllowList, Change
from queuesmith.live.commands import NoAnswerError, SlurmError
from queuesmith.live.grading import STOCK, grade_of
from queuesmith.live.journal import Journal, default_folder
from queuesmith.live.restoring import restore
from queuesmith.live.state import look
from queuesmith.live.steering import Steering, SteerOptions
from queuesmith.policy import as_policy
from queuesmith.workload.group_names import GroupNames

SJF = as_policy("sjf+easy")


def steered(**options):
    said = []
    steering = Steering(
        SJF, default_folder(), SteerOptions(every=0.05, **{"cycles": 1} | options), say=said.append
    )
    return steering, said


def during(steering, act):
    """Run a steering and act in the middle of each of its waits; return what restored it."""
    wait = steering._stop.wait

    def acting(seconds):
        act()
        return wait(seconds)

    steering._stop.wait = acting
    return steering.run()


def test_the_queue_gets_the_order_and_is_put_back(slurm):
    seen = {}
    steering, said = steered(cycles=2)
    during(steering, lambda: seen.update(slurm.priorities))
    assert seen[4] > seen[3] > seen[2]
    assert set(slurm.sites.values()) == {0}
    assert said == [
        "fidelity grade unknown",
        "2 jobs changed, 0 refused",
        "stopped: 2 jobs put back, 0 have ended since",
    ]
    assert not (default_folder() / "atlas.journal").exists()


def test_only_differences_are_sent(slurm):
    steering, _ = steered(cycles=5)
    steering.run()
    assert len([line for line in slurm.told if "SiteFactor=0" not in line]) == 2


def test_a_long_journal_is_shortened(slurm, monkeypatch):
    monkeypatch.setattr("queuesmith.live.steering.ENDED", -100)
    steering, _ = steered(cycles=2)
    during(steering, lambda: slurm.job(9, parts=50, walltime="0:30"))
    assert set(slurm.sites.values()) == {0}


def test_no_more_than_so_many_are_changed_in_a_cycle(slurm):
    steering, _ = steered(most_changes=1)
    steering.run()
    assert len([line for line in slurm.told if "SiteFactor=0" not in line]) == 1


def test_nobody_beside_the_allow_list_is_touched(slurm):
    slurm.job(4, account="chem")
    steering, _ = steered(allowed=AllowList(accounts=frozenset({"bio"})))
    steering.run()
    assert not [line for line in slurm.told if "JobId=4 " in line]


@pytest.mark.parametrize(
    "facts", [{"reason": "JobHeldUser"}, {"direct": 5000}, {"site": 7}, {"nice": -10}]
)
def test_what_others_have_set_is_never_touched(slurm, facts):
    slurm.job(4, **facts)
    steering, _ = steered()
    steering.run()
    assert not [line for line in slurm.told if "JobId=4 " in line]
    assert slurm.content["jobs"]["4"].get("site", 0) == facts.get("site", 0)


def test_jobs_that_somebody_else_changes_are_left_alone_from_then_on(slurm):
    steering, said = steered(cycles=3)
    during(steering, lambda: slurm.job(4, site=77))
    assert slurm.sites == {1: 0, 2: 0, 3: 0, 4: 77}
    assert "somebody else has changed 1 job, 4 first: left alone" in said


def test_it_pauses_where_somebody_else_changes_many(slurm):
    steering, said = steered(cycles=3, conflicts=1)
    during(steering, lambda: slurm.job(4, site=77))
    assert steering.counts.paused and "paused for 600 s" in said


def test_a_controller_that_does_not_answer_is_waited_for(slurm):
    slurm_is_back = []

    def act():
        slurm.set(down=not slurm_is_back)
        slurm_is_back.append(1)

    steering, said = steered(cycles=3)
    during(steering, act)
    assert steering.counts.no_answer == 1
    assert any(line.startswith("no change in this cycle: slurmctld does not") for line in said)
    assert set(slurm.sites.values()) == {0}


def test_without_rights_nothing_is_changed(slurm):
    slurm.set(admin="None")
    with pytest.raises(SlurmError, match="adminlevel=operator"):
        steered()[0].run()
    assert slurm.told == []


def test_a_site_without_accounting_grants_no_rights(slurm):
    slurm.set(admin=None)
    with pytest.raises(SlurmError, match="may not set SiteFactor"):
        steered()[0].run()


def test_more_rights_than_needed_must_be_allowed(slurm):
    slurm.set(admin="Administrator")
    with pytest.raises(SlurmError, match="has all rights"):
        steered()[0].run()
    steered(as_administrator=True)[0].run()
    assert slurm.told


def test_rights_that_are_lost_on_the_way_end_it(slurm, monkeypatch):
    monkeypatch.setattr("queuesmith.live.steering.check_rights", lambda *_, **__: None)
    slurm.set(admin="None")
    with pytest.raises(SlurmError, match="refused every one"):
        steered()[0].run()


def test_a_cluster_without_factors_cannot_be_steered(slurm):
    slurm.set(config=slurm.content["config"] | {"PriorityType": "priority/basic"})
    with pytest.raises(SlurmError, match="needs priority/multifactor"):
        steered()[0].run()


@pytest.mark.parametrize(
    "options", [{"every": 0}, {"most_changes": 0}, {"cycles": 0}, {"pause": -1}, {"conflicts": 0}]
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(UsageError):
        SteerOptions(**options)


def test_an_error_on_the_way_still_puts_every_job_back(slurm, monkeypatch):
    steering, _ = steered(cycles=3)

    def fail():
        raise QueuesmithError("on purpose")

    with pytest.raises(QueuesmithError, match="on purpose"):
        during(steering, fail)
    assert set(slurm.sites.values()) == {0}


def test_a_run_that_was_cut_off_is_put_back_first(slurm):
    with Journal(default_folder(), "atlas") as journal:
        from queuesmith.live.changes import Change

        journal.remember([Change(2, "ann", 1_700_000_000, 11, 311)])
    slurm.job(2, site=11)
    steering, said = steered()
    steering.run()
    assert said[0].startswith("an earlier run was cut off: 1 job put back")


def test_what_somebody_else_set_after_a_kill_stays(slurm):
    with Journal(default_folder(), "atlas") as journal:
        journal.remember([Change(j, "ann", 1_700_000_000, 11, 311) for j in (2, 3, 4, 9)])
        slurm.job(2, site=11)
        slurm.job(3, site=12)
        slurm.job(4, user="bob", site=11)  # another job under an old number
        done = restore(journal)
    assert (done.reset, done.gone, done.foreign) == (1, 2, (3,))
    assert slurm.sites == {1: 0, 2: 0, 3: 12, 4: 11}


def journal_of(*jobs):
    journal = Journal(default_folder(), "atlas")
    journal.remember([Change(job, "ann", 1_700_000_000, 11, 311) for job in jobs])
    return journal


@pytest.mark.parametrize("jobs", [(3,), (1, 3)])
def test_held_and_running_jobs_that_slurm_refuses_to_put_back_stay_in_the_journal(slurm, jobs):
    slurm.set(admin="None")
    slurm.job(3, site=11, reason="JobHeldUser")
    with (
        journal_of(*jobs) as journal,
        pytest.raises(SlurmError, match=r"still ha.*journal is kept"),
    ):
        restore(journal)
    assert journal.path.exists() and slurm.sites[3] == 11


def test_held_jobs_are_not_put_back_where_nobody_hears_it(slurm, monkeypatch):
    slurm.job(3, site=11, reason="JobHeldUser")
    said = "Unable to contact slurm controller (connect failure) for job 3"
    monkeypatch.setattr("queuesmith.live.restoring.run", lambda *_, **__: said)
    with journal_of(3) as journal, pytest.raises(NoAnswerError, match="did not hear"):
        restore(journal)
    assert journal.path.exists()


PROGRAM = """
import os
os.geteuid = lambda: 12345
from pathlib import Path
from queuesmith.live.steering import Steering, SteerOptions
from queuesmith.policy import as_policy
Steering(as_policy("sjf+easy"), Path(os.environ["QUEUESMITH_STATE"]),
         SteerOptions(every=0.05)).run()
"""


def started():
    return subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE, text=True)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_a_signal_stops_it_in_good_order(slurm_commands):
    slurm = slurm_commands
    process = started()
    until(lambda: slurm.told)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, process.stderr.read()
    process.stderr.close()
    assert set(slurm.sites.values()) == {0}
    assert not (default_folder() / "atlas.journal").exists()


def test_after_a_kill_at_any_moment_every_job_can_be_put_back(slurm_commands):
    slurm = slurm_commands
    chance = random.Random(5)
    for number in range(5, 40):
        slurm.job(number, parts=100 + number, walltime=f"{chance.randrange(10, 50)}:00")
    slurm.set(delay=0.01)
    process = started()
    until(lambda: len(slurm.told) > 3)
    time.sleep(chance.random() * 0.2)
    process.kill()
    process.wait()
    process.stderr.close()
    assert any(slurm.sites.values())
    with Journal(default_folder(), "atlas") as journal:
        restore(journal)
    time.sleep(0.1)  # no late command of the killed one
    assert set(slurm.sites.values()) == {0}
    assert [path.name for path in default_folder().iterdir()] == ["atlas.lock"]


@pytest.mark.parametrize("late", [0, 40_000])
def test_where_replays_are_not_to_be_believed_nothing_is_changed(slurm, monkeypatch, late):
    submit = np.arange(200) * 100
    jobs = Workload(submit, [90] * 200, [90] * 200, [16] * 200, extra={"real_start": submit + late})
    monkeypatch.setattr("queuesmith.live.steering.accounting", lambda *_, **__: jobs)
    steering, said = steered()
    if late:
        with pytest.raises(SlurmError, match=r"grade D.*--any-grade"):
            steering.run()
        assert slurm.told == []
        steered(any_grade=True)[0].run()
    else:
        steering.run()
        assert said[0] == "fidelity grade A"
    assert slurm.told


def test_a_grade_that_becomes_bad_pauses_and_puts_back_until_it_is_good_again(slurm, monkeypatch):
    late = {"now": 0}

    def past(*_, **__):
        submit = np.arange(200) * 100
        real = {"real_start": submit + late["now"]}
        return Workload(submit, [90] * 200, [90] * 200, [16] * 200, extra=real)

    monkeypatch.setattr("queuesmith.live.steering.accounting", past)
    seen = []

    def meanwhile():
        seen.append((steering.counts.paused, any(slurm.sites.values())))
        late["now"] = 40_000 if len(seen) == 1 else 0

    steering, said = steered(cycles=3, grade_every=1e-9)
    during(steering, meanwhile)
    assert seen == [(False, True), (True, False)]
    assert [line for line in said if "grade" in line] == [
        *("fidelity grade A", "fidelity grade A", "fidelity grade D", "fidelity grade A")
    ]
    assert any(
        line.startswith("paused until replays can be believed again: 2 jobs") for line in said
    )
    assert not steering.counts.paused
    assert set(slurm.sites.values()) == {0}


def test_a_policy_for_named_groups_is_graded_on_accounts_of_the_past(slurm):
    """Jobs of chem came last and ran first, as the policy wants it and Slurm does not."""
    names = GroupNames("account", ("none", "chem", "zoo"))
    policy = as_policy("group+easy").for_groups(names)
    account = np.repeat([0, 1], 100)
    past = Workload(
        *([0] * 200, [90] * 200, [90] * 200, [16] * 200),
        extra={"account": account},
        labels={"account": ("bio", "chem")},
    )
    start = simulate(names.grouped(past), look().machine, policy).start
    past = past.replaced(extra={**past.extra, "real_start": start})
    assert grade_of(look(), past, (STOCK,)).grade == "D"
    assert grade_of(look(), past, (STOCK, policy)).grade == "A"


def test_too_few_jobs_leave_the_grade_as_it_was(slurm, monkeypatch):
    monkeypatch.setattr("queuesmith.live.steering.accounting", lambda *_, **__: None)
    steering, said = steered(cycles=3, grade_every=1e-9)
    steering.run()
    assert said[0] == "fidelity grade unknown"
    assert not any("paused" in line for line in said)
    with pytest.raises(UsageError, match="between grades"):
        SteerOptions(grade_every=0)

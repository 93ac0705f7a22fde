"""Jobs as squeue and sprio tell them."""

import pytest

from queuesmith.live.jobs import ENDLESS, Priority, jobs_of, tasks_in
from queuesmith.live.queries import JOB_FIELDS, SEPARATOR


def line(**facts):
    values = dict.fromkeys(JOB_FIELDS, "(null)") | {
        "id": "5",
        "array": "5",
        "tasks": "N/A",
        "state": "PENDING",
        "reason": "Priority",
        "priority": "100",
        "nice": "0",
        "cores": "4",
        "nodes": "1",
        "walltime": "10:00",
        "elapsed": "0:00",
        "start": "N/A",
        "submit": "1700000000",
        "user": "ann",
    }
    return SEPARATOR.join((values | facts).values())


def test_a_waiting_job_is_read():
    (job,) = jobs_of(line(account="bio", nodes="2-4"))
    assert (job.id, job.user, job.account, job.cores, job.nodes) == (5, "ann", "bio", 4, 2)
    assert (job.walltime, job.submit, job.start) == (600, 1_700_000_000, None)
    assert job.ready and not job.held and not job.running


@pytest.mark.parametrize("reason", ["JobHeldUser", "JobHeldAdmin", "BeginTime", "Dependency"])
def test_who_is_held_or_not_yet_due_is_not_ready(reason):
    (job,) = jobs_of(line(reason=reason))
    assert job.waiting and not job.ready


def test_priority_zero_is_a_hold():
    assert jobs_of(line(priority="0"))[0].held


@pytest.mark.parametrize("text", ["UNLIMITED", "INVALID", "NOT_SET", ""])
def test_a_job_without_a_limit_may_run_for_a_year(text):
    assert jobs_of(line(walltime=text))[0].walltime == ENDLESS


def test_what_is_no_job_is_passed_over():
    assert jobs_of("slurm_load_jobs: warning\n\n" + line() + "\n" + line(id="x")) == jobs_of(line())


def test_features_may_hold_any_sign():
    assert jobs_of(line(features="[a|b]&c*2"))[0].features == "[a|b]&c*2"


@pytest.mark.parametrize(
    ("text", "tasks"), [("1-5", 5), ("7", 1), ("1-9:4%1", 3), ("1,3-4,9", 4), ("N/A", 1), ("", 1)]
)
def test_tasks_of_an_array_are_counted(text, tasks):
    assert tasks_in(text) == tasks


def test_a_priority_is_taken_apart():
    (job,) = jobs_of(line(), "5|1120|1000|50|0|60|0|0|0|-10|cpu=2,mem=1\n")
    assert job.made_of == Priority(value=1120, site=1000, parts=123)
    assert job.made_of.natural == 120 and not job.made_of.by_hand


def test_a_priority_that_its_parts_do_not_make_up_was_set_by_hand():
    (job,) = jobs_of(line(), "5|1000005|0|0|0|0|0|0|0|0|\n")
    assert job.made_of.by_hand


def test_of_a_job_in_several_partitions_the_highest_priority_counts():
    (job,) = jobs_of(line(), "5|100|0|100|0|0|0|0|0|0|\n5|300|0|300|0|0|0|0|0|0|\n")
    assert job.made_of.value == 300


def test_a_line_of_priorities_that_makes_no_sense_is_passed_over():
    assert jobs_of(line(), "JOBID|x\n5|1|2\n")[0].made_of is None

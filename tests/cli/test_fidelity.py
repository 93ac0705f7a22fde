import json

import pytest

LOG = """id,submit,runtime,walltime,cores,wait
1,0,100,100,2,0
2,0,100,100,2,100
3,50,50,50,1,150
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_a_replay_is_graded_against_what_really_happened(run, log):
    outcome = run("fidelity", log, "--cores", "2", "--policy", "fcfs")
    assert outcome.code == 0
    assert "all jobs" in outcome.said and "grade A" in outcome.said


def test_the_answer_as_json_has_the_grade_at_its_top(run, log):
    answer = json.loads(run("fidelity", log, "--cores", "3", "--format", "json").out)
    assert answer["mean_wait_history"] == pytest.approx(250 / 3)
    assert answer["grade"] == "D" and not answer["trustworthy"]


def test_what_explains_the_rest_is_told(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "id,submit,runtime,walltime,cores,wait,eligible_after\n1,0,9,9,2,0,0\n2,0,9,9,1,900,880\n"
    )
    said = run("fidelity", path, "--cores", "3", "--policy", "fcfs").said
    assert "1 job, 100% of the waiting: held, or not to begin before a time" in said
    answer = json.loads(run("fidelity", path, "--cores", "3", "--format", "json").out)
    assert [row["jobs"] for row in answer["explained"]] == [1]


def test_the_figures_can_be_divided_and_listed(run, log):
    outcome = run("fidelity", log, "--cores", "2", "--by", "size", "--format", "csv")
    assert outcome.out.splitlines()[0].startswith("part,jobs,mean_wait_history")
    assert run("fidelity", log, "--cores", "2", "--by", "moon").code == 1


def test_a_month_of_a_log_without_dates_is_named_once(run, tmp_path):
    path = tmp_path / "undated.csv"
    path.write_text("submit,runtime,cores,start\n0,10,1,0\n5,10,1,20\n")
    out = run("fidelity", path, "--cores", "4").out
    assert "month 0" in out and "month month" not in out


def test_the_page_shows_wait_against_wait(run, log, tmp_path):
    assert run("fidelity", log, "--cores", "2", "--report", tmp_path / "page.html").code == 0
    assert "real wait (min)" in (tmp_path / "page.html").read_text()


def test_a_log_without_starts_cannot_be_graded(run, tmp_path):
    (tmp_path / "log.csv").write_text("submit,runtime,cores\n0,10,1\n")
    outcome = run("fidelity", tmp_path / "log.csv", "--cores", "2")
    assert outcome.code == 1
    assert "does not tell when its jobs really began" in outcome.err


def test_on_slurms_machine_its_own_schedulers_are_replayed(run, log, tmp_path):
    nodes = "NodeName=n1 CPUs=2\nPartitionName=all Nodes=n1 Default=YES\n"
    (tmp_path / "slurm.conf").write_text(f"SchedulerType=sched/backfill\n{nodes}")
    answer = json.loads(run("fidelity", log, "--machine", tmp_path, "--format", "json").out)
    assert answer["policy"] == "slurm()" and answer["jobs"] == 3
    assert answer["mean_wait_replayed"] == pytest.approx(250 / 3)
    assert answer["grade"] == "A"


def test_any_policy_is_graded_on_the_nodes_of_the_machine(run, tmp_path):
    # Job 2 waited although half of the cores were free: they are of another partition.
    log, machine = tmp_path / "log.csv", tmp_path / "machine.toml"
    log.write_text(
        "id,submit,runtime,walltime,cores,wait,partition\n1,0,100,100,2,0,a\n2,0,100,100,2,100,a\n"
    )
    machine.write_text(
        '[[nodes]]\nnames = "n[1-2]"\ncores = 2\n'
        '[[partitions]]\nname = "a"\nnodes = "n1"\n[[partitions]]\nname = "b"\nnodes = "n2"\n'
    )
    call = ("fidelity", log, "--machine", machine, "--format", "json")
    answer = json.loads(run(*call, "--policy", "fcfs+easy").out)
    assert answer["policy"] == "fcfs+easy" and answer["mean_wait_replayed"] == 50
    assert json.loads(run(*call).out)["policy"] == "slurm()"
    both = run(*call, "--cores", 4)
    assert both.code == 2 and "--machine and --cores are both given" in both.err
    pool = json.loads(run("fidelity", log, "--cores", 4, "--format", "json").out)
    assert pool["policy"] == "fcfs+easy" and pool["mean_wait_replayed"] == 0


def test_several_replays_look_at_other_instants_and_their_mean_is_graded(run, log, tmp_path):
    nodes = "NodeName=n1 CPUs=2\nPartitionName=all Nodes=n1 Default=YES\n"
    settings = "SchedulerType=sched/backfill\nPreemptType=preempt/job_prio\n"
    (tmp_path / "slurm.conf").write_text(settings + nodes)
    call = ("fidelity", log, "--machine", tmp_path, "--draws", "3")
    answer = json.loads(run(*call, "--format", "json").out)
    assert answer["replays"] == 3 and answer["not_followed"] == ["PreemptType=preempt/job_prio"]
    said = run(*call).said
    assert "Replayed 3 times with other clocks under slurm()" in said
    assert "Not followed: PreemptType=preempt/job_prio." in said


def test_a_policy_without_clocks_is_not_replayed_several_times(run, log):
    outcome = run("fidelity", log, "--cores", "2", "--draws", "3")
    assert outcome.code == 2
    assert "fcfs+easy has no clocks" in outcome.err


def test_jobs_cancelled_while_they_waited_are_counted_in_where_the_log_tells(run, tmp_path):
    # Job 2 needs all cores and is cancelled at 30, when job 3 behind it really began.
    rows = ["1 0 0 100 2 -1 -1 2 120 -1 1", "2 1 29 -1 4 -1 -1 4 60 -1 5"]
    rows.append("3 2 28 50 2 -1 -1 2 180 -1 1")
    path = tmp_path / "log.swf"
    path.write_text("".join(f"{row} 1 1 -1 -1 -1 -1 -1\n" for row in rows))
    shown = run("fidelity", path, "--cores", "4")
    assert "1 job that was cancelled while waiting: stood in the replayed queue" in shown.said
    assert "grade A" in shown.said
    answer = run("fidelity", path, "--cores", "4", "--no-cancelled", "--format", "json").out
    assert json.loads(answer)["mean_wait_replayed"] == 0
    chosen = run("fidelity", path, "--cores", "4", "--policy", "dynp")
    assert "left out of the replayed queue" in chosen.said


def test_jobs_can_be_bound_to_nodes_like_those_they_ran_on(run, tmp_path):
    # Job 2 waited for n1 although m1 was free: it was bound to n1, and nobody told.
    rows = ["1|1000|1000|1300|05:00|5|COMPLETED|2|n1", "2|1000|1300|1360|01:00|2|COMPLETED|2|n1"]
    path = tmp_path / "log.sacct"
    path.write_text(
        "\n".join(["JobID|Submit|Start|End|Elapsed|Timelimit|State|NCPUS|NodeList", *rows, ""])
    )
    (tmp_path / "slurm.conf").write_text(
        "SchedulerType=sched/backfill\nNodeName=n1 CPUs=2 Feature=a\nNodeName=m1 CPUs=2 Feature=b\n"
        "PartitionName=all Nodes=n1,m1 Default=YES\n"
    )
    call = ("fidelity", path, "--machine", tmp_path)
    said = run(*call).said
    assert "grade D" in said and "--as-placed" in said
    said = run(*call, "--as-placed").said
    assert "grade A" in said and "--as-placed" not in said


def test_jobs_without_nodes_are_not_placed_as_they_were(run, log, tmp_path):
    assert "only on nodes" in run("fidelity", log, "--cores", "2", "--as-placed").err
    (tmp_path / "slurm.conf").write_text(
        "SchedulerType=sched/backfill\nNodeName=n1 CPUs=2\nPartitionName=all Nodes=n1 Default=YES\n"
    )
    outcome = run("fidelity", log, "--machine", tmp_path, "--as-placed")
    assert outcome.code == 1 and "does not tell on which nodes its jobs ran" in outcome.err


def test_how_many_jobs_the_replay_stopped_is_said(run, tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nNodeName=n1 CPUs=4\n"
        "PartitionName=low Nodes=n1 Default=YES\nPartitionName=high Nodes=n1 PriorityTier=2\n"
    )
    log = tmp_path / "jobs.sacct"
    log.write_text(
        "JobID|Submit|Eligible|Start|End|Timelimit|NCPUS|State|Partition\n"
        "7|1000|1000|1000|1100|00:10:00|4|PREEMPTED|low\n"
        "8|1100|1100|1100|1150|00:10:00|4|COMPLETED|high\n"
        "7|1100|1221|1221|1521|00:10:00|4|COMPLETED|low\n"
    )
    call = ("fidelity", log, "--machine", tmp_path)
    answer = json.loads(run(*call, "--format", "json").out)
    assert (answer["stopped_jobs"], answer["not_followed"]) == (1, [])
    assert (answer["jobs"], answer["mean_wait_history"]) == (2, 110.5)
    assert answer["mean_wait_replayed"] == 110.5
    shown = run(*call)
    assert "The replay stopped 1 job so that others could start." in shown.said

"""Runs of jobs that were preempted, joined to one job each."""

import numpy as np

from queuesmith import NodeCluster, fidelity, read, simulate, verify
from queuesmith.cluster import NodeKind, Partition
from queuesmith.workload.preempted import joined_runs

#: Job 7 is preempted by job 8, runs again; job 9 is preempted and never seen again.
LOG = """JobID|Submit|Eligible|Start|End|Timelimit|NCPUS|State|Partition
7|1000|1000|1000|1100|00:10:00|4|PREEMPTED|low
8|1100|1100|1103|1150|00:10:00|4|COMPLETED|high
7|1100|1221|1221|1521|00:10:00|4|COMPLETED|low
9|1600|1600|1600|1610|00:10:00|4|PREEMPTED|low
"""


def log_at(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(LOG)
    return read(path, format="sacct")


def test_runs_of_one_job_are_joined_and_counted(tmp_path):
    log = log_at(tmp_path)
    joined = joined_runs(log)
    assert joined.id.tolist() == [7, 8, 9]
    assert joined.submit.tolist() == [0, 100, 600]
    assert joined.real_start.tolist() == [221, 103, 600]
    assert joined.runtime.tolist() == [300, 47, 10]
    assert joined.extra["eligible_after"].tolist() == [0, 0, 0]
    assert "1 run left out: preempted, and its job ran again" in map(str, joined.changes)
    assert joined_runs(joined) is joined


def test_a_log_without_states_or_attempts_is_as_it_was(tmp_path):
    log = log_at(tmp_path)
    for name in ("state", "attempt"):
        less = {key: column for key, column in log.extra.items() if key != name}
        plain = log.replaced(extra=less)
        assert joined_runs(plain) is plain


def test_runs_are_joined_on_a_machine_that_stops_jobs_for_others(tmp_path):
    partitions = Partition("low", "n1", default=True), Partition("high", "n1", tier=2)
    settings = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    log, kinds = log_at(tmp_path), (NodeKind("n1", 4),)
    found = fidelity(log, NodeCluster(kinds, partitions=partitions, settings=settings))
    verify(found.replayed)
    assert found.history.wait.tolist() == [221, 3, 0]
    assert np.abs(found.replayed.wait - found.history.wait).max() <= 3
    assert len(simulate(log, found.replayed.cluster, "fcfs+easy")) == 3
    without = fidelity(log, NodeCluster(kinds, partitions=partitions))
    assert len(without.history) == 4

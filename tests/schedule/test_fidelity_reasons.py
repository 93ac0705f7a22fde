"""What explains the rest: held jobs, dependencies, requeues, outages seen in the log."""

import numpy as np
import pytest

from queuesmith.cluster import Cluster
from queuesmith.schedule import history
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.schedule.fidelity_reasons import reasons
from queuesmith.schedule.schedule import Schedule
from queuesmith.workload import Workload


def judged(submit, starts, replayed, **extra):
    columns = {name: np.array(values) for name, values in extra.items()}
    log = Workload(
        submit,
        [100] * len(submit),
        [100] * len(submit),
        [1] * len(submit),
        extra={"real_start": np.array(starts), **columns},
    )
    cluster = Cluster(10)
    real = history(log, cluster)
    return Fidelity(real, Schedule(log, cluster, np.array(replayed), "fcfs"))


def test_a_job_that_was_held_explains_the_wait_that_a_replay_does_not_have():
    found = judged([0, 0, 0], [100, 100, 1000], [100, 100, 0], eligible_after=[0, 0, 900])
    assert reasons(found) == [
        {
            "reason": "held, or not to begin before a time",
            "jobs": 1,
            "share_of_waiting": pytest.approx(1000 / 1200),
            "error_percent_without": 0.0,
        }
    ]


def test_requeues_and_throttled_arrays_are_counted_by_themselves():
    found = judged([0, 0], [50, 50], [50, 50], attempt=[1, 2], array_limit=[4, -1])
    assert [(row["reason"].split()[0], row["jobs"]) for row in reasons(found)] == [
        ("task", 1),
        ("ran", 1),
    ]


def test_an_outage_seen_in_the_log_explains_the_jobs_that_waited_through_it():
    # Nothing runs from 100 to 8000, though job 1 waits.
    found = judged([0, 50, 9000], [0, 8000, 9000], [0, 50, 9000])
    (row,) = reasons(found)
    assert row["reason"].startswith("waited through an outage") and row["jobs"] == 1
    assert row["error_percent_without"] is None  # nobody else waited


def test_where_jobs_waited_for_nodes_alone_there_is_nothing_to_explain():
    assert reasons(judged([0, 0], [0, 60], [0, 60])) == []

"""Columns that a log has of its own are fields of a job, for orders and backfills of one's own."""

import os

import numpy as np
import pytest

from queuesmith import Backfill, Cluster, Order, OwnBackfill, Policy, Workload, read, simulate
from queuesmith.base.errors import PolicyError
from queuesmith.policy.orders import ORDERS
from queuesmith.testing.slowly import simulate_slowly

pytestmark = pytest.mark.uncompiled
needs_the_compiler = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1",
    reason="without the compiler the order fails as plain Python, with its own traceback",
)


def urgent_first(job):
    return job.urgency


def urgent_and_old(job, now, weight=0.5):
    return job.urgency + weight * (now - job.submit)


@pytest.fixture
def log():
    chance = np.random.default_rng(5)
    return Workload(
        submit=np.sort(chance.integers(0, 400, 60)),
        runtime=chance.integers(1, 90, 60),
        walltime=np.full(60, 90),
        cores=chance.integers(1, 5, 60),
        extra={"urgency": chance.random(60), "state": np.arange(60)},
    )


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize("function", [urgent_first, urgent_and_old])
def test_an_order_reads_them_as_the_twin_does(log, function, backfill):
    policy = Policy(Order(function), backfill)
    slow = simulate_slowly(log, Cluster(4), policy)
    assert simulate(log, cores=4, policy=policy).start.tolist() == slow.start.tolist()


def test_a_backfill_reads_them_too(log):
    def only_urgent(job, head):
        return job.urgency > 0.5

    mixed = OwnBackfill(ORDERS["fcfs"], Backfill(only_urgent))
    slow = simulate_slowly(log, Cluster(4), mixed)
    assert simulate(log, cores=4, policy=mixed).start.tolist() == slow.start.tolist()


def test_it_decides_who_starts():
    both = Workload(
        submit=[0, 1, 1],
        runtime=[10, 10, 10],
        walltime=[10, 10, 10],
        cores=[1, 1, 1],
        extra={"urgency": np.array([0.0, 0.25, 0.75])},
    )
    assert simulate(both, cores=1, policy=Policy(Order(urgent_first))).start.tolist() == [0, 20, 10]


def test_a_column_of_a_file_is_a_field(tmp_path):
    (tmp_path / "mine.py").write_text("def mine(job):\n    return job.urgency\n")
    (tmp_path / "log.csv").write_text(
        "submit,runtime,walltime,cores,urgency\n0,10,10,1,0\n1,10,10,1,0.25\n1,10,10,1,0.75\n"
    )
    schedule = simulate(
        read(tmp_path / "log.csv"), cores=1, policy=f"{tmp_path / 'mine.py'}:mine+easy"
    )
    assert schedule.start.tolist() == [0, 20, 10]


@needs_the_compiler
def test_what_is_known_only_afterwards_is_hidden(log):
    def peeking(job):
        return job.state

    with pytest.raises(PolicyError, match="a job has no field 'state'"):
        simulate(log, cores=4, policy=Policy(Order(peeking), "easy"))


@needs_the_compiler
def test_a_log_without_the_column_says_so():
    other = Workload(submit=[0], runtime=[1], walltime=[1], cores=[1])
    with pytest.raises(PolicyError) as raised:
        simulate(other, cores=1, policy=Policy(Order(urgent_first)))
    assert "a job has no field 'urgency'." in str(raised.value)
    assert "Columns that the log has of its own are fields, too." in str(raised.value)

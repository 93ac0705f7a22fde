"""Windows of maintenance: nothing runs in them, under any backfill, on cores and on nodes."""

import numpy as np
import pytest

from queuesmith import Cluster, Schedule, Workload, pareto_front, simulate, sweep
from queuesmith.base.errors import ClusterError, UsageError
from queuesmith.cluster import NodeCluster, NodeKind, with_maintenance
from queuesmith.planning.solve import solve_workload
from queuesmith.policy import BACKFILLS
from queuesmith.schedule.verify import verify, violations
from queuesmith.testing.policy import random_workload
from queuesmith.testing.slowly import simulate_slowly

JOBS = random_workload(np.random.default_rng(2), 40, 16)
WINDOWS = [(100, 160), (400, 410)]


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_nothing_runs_in_a_window_under_any_backfill(backfill):
    machine = with_maintenance(Cluster(16), JOBS, WINDOWS)
    found = simulate(JOBS, machine, f"sjf+{backfill}")
    verify(found)
    assert np.array_equal(found.start, simulate_slowly(JOBS, machine, f"sjf+{backfill}").start)
    nodes = NodeCluster((NodeKind(("a",), 16),))
    bare = JOBS.replaced(extra={})
    there = simulate(bare, with_maintenance(nodes, bare, WINDOWS), f"sjf+{backfill}")
    assert np.array_equal(found.start, there.start)


def test_a_schedule_that_runs_in_a_window_is_told():
    without = simulate(JOBS, Cluster(16), "fcfs+easy")
    machine = with_maintenance(Cluster(16), JOBS, WINDOWS)
    told = violations(Schedule(JOBS, machine, without.start, "fcfs+easy"))
    assert "runs in the maintenance from second 100 to 160" in told[0]


def test_dates_mean_moments_of_the_log():
    log = Workload(submit=[0], runtime=[9], walltime=[9], cores=[1], epoch=1_700_000_000)
    machine = with_maintenance(Cluster(1), log, [("2023-11-14T22:13:25", "2023-11-14T22:13:30")])
    assert machine.maintenance == ((5, 10),)
    assert simulate(log, machine).start.tolist() == [10]
    with pytest.raises(UsageError, match="does not say on which day"):
        with_maintenance(Cluster(1), JOBS, [("2023-11-14", "2023-11-15")])
    with pytest.raises(ClusterError, match="Let it end later"):
        with_maintenance(Cluster(1), JOBS, [(9, 9)])


@pytest.mark.parametrize("verb", [sweep, pareto_front, solve_workload])
def test_what_does_not_know_maintenance_says_so(verb):
    with pytest.raises(ClusterError, match=r"has windows of maintenance, which .* does not know"):
        verb(JOBS, with_maintenance(Cluster(16), JOBS, WINDOWS))

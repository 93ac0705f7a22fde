"""Jobs that were cancelled while they waited: they stand in the queue until then."""

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.cluster import NodeCluster, NodeKind
from queuesmith.testing import simulate_slowly
from queuesmith.workload.workload import CANCELLED_AFTER
from tests.engine.on_nodes import jobs

pytestmark = pytest.mark.uncompiled

PAIR = NodeCluster((NodeKind("n[1-2]", 4),))
# Job 2 needs the whole machine and is cancelled at 30, while job 1 runs until 100; job 3 would run
# beyond the end of job 1 and stands behind job 2.
ROWS = (0, 100, 120, 4), (2, 50, 180, 4)


def log(rows=ROWS, *cancelled):
    """Jobs, and others that are cancelled: (submit, walltime, cores, after how many seconds)."""
    ran = jobs(*rows, eligible_after=[0] * len(rows))
    submit, walltime, cores, after = np.array(cancelled, np.int64).T
    gone = Workload(
        *(submit, np.zeros_like(submit), walltime, cores),
        id=np.arange(100, 100 + len(submit)),
        extra={CANCELLED_AFTER: after},
    )
    return ran.replaced(cancelled=gone)


WAITS = log(ROWS, (1, 60, 8, 29))


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "plan"])
@pytest.mark.parametrize("machine", [PAIR, Cluster(8)])
def test_who_stands_behind_a_job_starts_when_that_is_cancelled(backfill, machine):
    schedule = verify(simulate(WAITS, machine, f"fcfs+{backfill}"))
    assert len(schedule) == 2  # who was cancelled is in no schedule
    assert schedule.start.tolist() == [0, 30]
    assert simulate(WAITS.replaced(cancelled=None), machine, f"fcfs+{backfill}").start[1] == 2


def test_a_job_overtakes_one_that_is_cancelled_where_it_may():
    assert simulate(WAITS, PAIR, "fcfs+list").start.tolist() == [0, 2]


def test_slurm_plans_for_a_job_until_it_is_cancelled():
    # The backfill looks at 30 anyway, the main scheduler does not because a job has left.
    schedule = verify(simulate(WAITS, PAIR, "slurm()"))
    assert schedule.start.tolist() == [0, 30]
    longer = log(ROWS, (1, 60, 8, 70))  # is cancelled at 71; the next pass is that at 90
    assert simulate(longer, PAIR, "slurm(sched_interval=1000)").start.tolist() == [0, 90]


def test_one_that_would_get_room_before_it_is_cancelled_leaves_at_once():
    rows = (0, 20, 60, 8), (1, 10, 60, 8)
    assert simulate(log(rows, (0, 60, 8, 500)), PAIR, "fcfs+easy").start.tolist() == [0, 20]


def test_one_that_fits_no_node_or_could_never_start_is_left_out():
    assert simulate(log(ROWS, (1, 60, 9, 29)), PAIR, "fcfs+easy").start.tolist() == [0, 2]
    held = log(ROWS, (1, 60, 8, 29))
    gone = held.cancelled.replaced(extra={**held.cancelled.extra, "eligible_after": np.array([29])})
    assert simulate(held.replaced(cancelled=gone), PAIR, "slurm()").start.tolist() == [0, 3]


def test_who_waits_for_a_job_that_is_cancelled_comes_then():
    work = log(((0, 100, 120, 4), (2, 50, 180, 4)), (1, 60, 8, 29))
    work = work.replaced(extra={"after": np.array([-1, 100])})
    for policy in ("fcfs+list", "slurm(batch_sched_delay=0)"):
        assert simulate(work, PAIR, policy).start.tolist() == [0, 30]
        assert simulate_slowly(work, PAIR, policy).start.tolist() == [0, 30]


@pytest.mark.parametrize(
    "policy", ["fcfs+easy", "sjf+conservative", "saf+plan", "wfp3+easy", "slurm()"]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_and_the_slow_twin_agree(policy, seed):
    random = np.random.default_rng(seed)

    def drawn(count):
        submit = np.sort(random.integers(0, 900, count))
        runtime = random.integers(1, 200, count)
        walltime = runtime + random.integers(0, 200, count)
        return submit, runtime, walltime, random.integers(1, 9, count)

    submit, _, walltime, cores = drawn(12)
    gone = zip(submit, walltime, cores, random.integers(1, 300, 12), strict=True)
    work = log(list(zip(*drawn(40), strict=True)), *gone)
    fast = verify(simulate(work, PAIR, policy))
    assert fast.start.tolist() == simulate_slowly(work, PAIR, policy).start.tolist()


def test_parts_of_a_log_keep_the_cancelled_jobs_of_their_time():
    work = log(ROWS, (1, 60, 8, 29), (9, 60, 8, 29))
    assert len(work.head(2).cancelled) == 1
    assert work.head(1).cancelled is None
    assert work.shift(5).cancelled.submit.tolist() == [6, 14]
    assert work.with_load_factor(2).cancelled is None
    assert work.where("cores < 5").cancelled is None

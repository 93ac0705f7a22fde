"""What a schedule does to nodes and links, worked out by hand."""

import pytest

from queuesmith.base.errors import ScheduleError
from queuesmith.cluster import Cluster
from queuesmith.federation import Federation, FederationCluster, FederationJobs, as_schedule
from queuesmith.federation.model import placed
from queuesmith.schedule import Schedule
from queuesmith.schedule.export import save_pieces
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify
from queuesmith.solving.status import Status
from queuesmith.workload import Workload


@pytest.fixture
def schedule():
    """Job a on node 0 and, slower, on node 2; then job b alone on node 1."""
    federation = Federation(
        [FederationCluster("fast", 2, 1.0, 100), FederationCluster("slow", 2, 0.5, 50)]
    )
    jobs = FederationJobs([2, 1], [100, 50], [40, 40], [0.5, 1.0], submit=[0, 20], id=["a", "b"])
    times = [0, 150], [150, 200]
    return as_schedule(federation, jobs, *times, [0, 2, 1], "by hand", lower_bound=150)


def test_its_figures_are_those_worked_out_by_hand(schedule):
    verify(schedule)
    assert schedule.makespan == placed.last_end(schedule) == 200
    assert placed.busy_seconds(schedule).tolist() == [150, 50, 150, 0]
    assert placed.compaction_percent(schedule) == pytest.approx(100 * 350 / (4 * 200))
    assert placed.power_utilization(schedule) == pytest.approx((150 + 50 + 75) / (3 * 200))
    assert placed.cluster_utilization(schedule) == {"fast": 0.5, "slow": 0.375}
    assert schedule.wait.tolist() == [0, 130]
    assert placed.co_allocated(schedule) == 1
    assert placed.slowest_power(schedule).tolist() == [0.5, 1.0]
    assert placed.group_counts(schedule).tolist() == [[1, 1], [1, 0]]
    assert schedule.gap_percent == pytest.approx(100 * 50 / 150)
    assert schedule.status is Status.FEASIBLE


def test_links_carry_what_co_allocated_jobs_send(schedule):
    load = placed.link_load(schedule)
    assert load.time.tolist() == [0, 150, 200]
    assert load.load.tolist() == [[40, 40], [0, 0]]
    assert placed.peak_link_load(schedule) == 0.8


def test_they_are_metrics_like_all_others(schedule):
    assert schedule.value("power_utilization") == placed.power_utilization(schedule)
    assert schedule.value("peak_link_load") == 0.8
    assert schedule.value("co_allocated") == 1
    assert schedule.value("makespan") == 200


def test_pieces_and_their_nodes_are_written(schedule, tmp_path):
    save_pieces(schedule, tmp_path / "p.csv")
    schedule.save(tmp_path / "s.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[2] == "a,0,150,1,slow:0"
    assert (tmp_path / "s.csv").read_text().splitlines()[1] == "a,0,0,150,fast:0 slow:0"


def test_pieces_may_stand_in_any_order(schedule):
    order = [2, 0, 1]
    own = schedule.pieces
    columns = [getattr(own, key)[order] for key in ("job", "start", "end", "cores", "place")]
    moved = Schedule(
        schedule.workload, schedule.cluster, schedule.start, "moved", own_end=schedule.end,
        pieces=Pieces(*columns),
    )  # fmt: skip
    assert placed.task_nodes(verify(moved)).tolist() == [0, 2, 1]


def test_a_schedule_of_something_else_is_refused(schedule):
    plain = Schedule(schedule.workload, Cluster(4), schedule.start, "plain")
    with pytest.raises(ScheduleError, match="which is no federation"):
        placed.on_cluster(plain)
    with pytest.raises(ScheduleError, match="does not tell the nodes"):
        placed.task_nodes(plain)
    jobs = Schedule(Workload([0], [1], [1], [1]), schedule.cluster, [0], "plain")
    with pytest.raises(ScheduleError, match="has no column 'sigma'"):
        placed.job_column(jobs, "sigma")

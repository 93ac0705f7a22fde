"""Many replays of one workload at once."""

import threading

import numpy as np
import pytest

from queuesmith import Cluster, Workload, lublin, simulate, simulate_many, verify
from queuesmith.base.errors import CancelledError, PolicyError, UsageError, WorkloadError
from queuesmith.policy import Order, Policy
from queuesmith.study import runner

POLICIES = ("sjf+easy", "fcfs", "wfp3+list", "fcfs+conservative", "power(alpha=2)+easy")


@pytest.fixture(scope="module")
def jobs() -> Workload:
    return lublin(400, 64, load=0.9, seed=3)


def test_schedules_come_in_the_order_of_the_policies(jobs):
    schedules = simulate_many(jobs, policies=POLICIES)
    assert tuple(schedule.policy for schedule in schedules) == POLICIES
    for schedule in schedules:
        verify(schedule)


def test_each_schedule_is_that_of_a_replay_on_its_own(jobs):
    for policy, schedule in zip(POLICIES, simulate_many(jobs, policies=POLICIES), strict=True):
        assert np.array_equal(schedule.start, simulate(jobs, policy=policy).start)


@pytest.mark.parametrize("workers", [2, 16, None])
def test_any_number_of_workers_gives_the_same_schedules(jobs, workers):
    alone = simulate_many(jobs, policies=POLICIES, workers=1)
    together = simulate_many(jobs, policies=POLICIES, workers=workers)
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.start, other.start)


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_is_an_error(jobs, workers):
    with pytest.raises(UsageError, match=f"workers is {workers}"):
        simulate_many(jobs, workers=workers)


def test_progress_rises_to_one(jobs):
    shares: list[float] = []
    simulate_many(jobs, policies=POLICIES, progress=shares.append)
    assert shares
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == 1.0


def test_the_log_is_shared_and_not_copied(jobs):
    for schedule in simulate_many(jobs, policies=("fcfs", "wfp3+easy")):
        for column in ("id", "submit", "runtime", "walltime", "cores", "user", "group"):
            mine, given = getattr(schedule.workload, column), getattr(jobs, column)
            assert np.shares_memory(mine, given), column


def test_jobs_wider_than_the_machine_are_left_out_once_for_all(jobs):
    one, other = simulate_many(jobs, cores=16, policies=("fcfs", "sjf"))
    assert one.workload is other.workload
    assert one.workload.dropped == int((jobs.cores > 16).sum()) > 0


def test_strict_refuses_jobs_wider_than_the_machine(jobs):
    with pytest.raises(WorkloadError, match="--strict"):
        simulate_many(jobs, cores=16, strict=True)


def test_the_machine_is_given_as_a_cluster_or_as_cores(jobs):
    (by_cluster,) = simulate_many(jobs, Cluster(80, "atlas"))
    (by_cores,) = simulate_many(jobs, cores=80)
    assert by_cluster.cluster.name == "atlas"
    assert np.array_equal(by_cluster.start, by_cores.start)


def test_no_policies_give_no_schedules(jobs):
    assert simulate_many(jobs, policies=()) == []


def test_an_unknown_policy_is_told_before_any_replay(jobs, monkeypatch):
    monkeypatch.setattr(runner.Replay, "run", lambda _: pytest.fail("a replay ran"))
    with pytest.raises(PolicyError, match="'magic'"):
        simulate_many(jobs, policies=("fcfs", "fcfs+magic"))


def test_an_order_that_fails_during_the_replay_is_told(jobs):
    def broken(job, now):
        return (now - now) / (now - now)

    with pytest.raises(PolicyError, match="NaN"):
        simulate_many(jobs, policies=("fcfs", Policy(Order(broken), "easy")), workers=2)


class Endless:
    """Stands for a replay that goes on until it is cancelled; one whose policy is odd fails."""

    def __init__(self, workload, cluster, policy, *, reservations=()):
        self.policy = policy
        self.cancelled = threading.Event()
        self.progress = 0.0
        made.append(self)

    def cancel(self):
        self.cancelled.set()

    def run(self):
        if self.policy == "odd":
            raise PolicyError("the order is odd.")
        assert self.cancelled.wait(timeout=60), "nobody cancelled the replay"
        raise CancelledError("the replay was cancelled.")


made: list[Endless] = []


@pytest.fixture
def endless(monkeypatch) -> list[Endless]:
    made.clear()
    monkeypatch.setattr(runner, "Replay", Endless)
    monkeypatch.setattr(runner, "as_policies", tuple)  # names of no policies
    return made


def test_an_error_of_one_policy_cancels_the_others(jobs, endless):
    with pytest.raises(PolicyError, match="odd"):
        simulate_many(jobs, policies=("even", "odd", "even"), workers=3)
    assert all(replay.cancelled.is_set() for replay in endless)


def test_a_replay_that_has_not_begun_never_begins(jobs, endless, monkeypatch):
    begun = []
    run = Endless.run
    monkeypatch.setattr(Endless, "run", lambda self: (begun.append(self.policy), run(self))[1])
    with pytest.raises(PolicyError, match="odd"):
        simulate_many(jobs, policies=("odd", *["late"] * 20), workers=1)
    assert len(begun) < 21
    assert all(replay.cancelled.is_set() for replay in endless)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
def test_whatever_stops_the_watcher_stops_the_replays(jobs, endless, stop):
    def progress(_):
        raise stop

    with pytest.raises(stop):
        simulate_many(jobs, policies=("even", "even"), workers=2, progress=progress)
    assert all(replay.cancelled.is_set() for replay in endless)
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]

"""Policies that replay by themselves: watched, stopped and checked like all others."""

from dataclasses import dataclass

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import CancelledError, PolicyError, ScheduleError
from queuesmith.engine import Replay
from queuesmith.policy import AnyPolicy, SelfReplaying
from queuesmith.schedule.reservations import Request

pytestmark = pytest.mark.uncompiled

JOBS = Workload([0, 0, 5], [10, 10, 10], [10, 10, 10], [2, 2, 1])


@dataclass(frozen=True)
class OneByOne(SelfReplaying):
    """Never lets two jobs run together; pauses between jobs as it is told."""

    pause: int = 0

    def __str__(self):
        return f"one by one (pause {self.pause})"

    def replay(self, workload, cluster, watch):
        start, free_from = np.empty(len(workload), np.int64), 0
        for job in range(len(workload)):
            if watch.cancelled:
                break
            watch.arrived(job + 1)
            start[job] = max(free_from, workload.submit[job])
            free_from = start[job] + workload.runtime[job] + self.pause
        return start


def test_its_starts_are_the_schedule():
    schedule = verify(simulate(JOBS, cores=4, policy=OneByOne()))
    assert schedule.start.tolist() == [0, 10, 20]
    assert schedule.policy == "one by one (pause 0)"
    assert schedule.seconds >= 0
    assert (schedule.decisions, schedule.reservations) == (None, ())


def test_it_gets_only_jobs_that_fit():
    assert simulate(JOBS, cores=1, policy=OneByOne()).start.tolist() == [5]


def test_it_tells_how_far_it_is():
    replay = Replay(JOBS, Cluster(4), OneByOne())
    assert replay.progress == 0
    replay.run()
    assert replay.progress == 1


def test_it_can_be_cancelled():
    replay = Replay(JOBS, Cluster(4), OneByOne())
    replay.cancel()
    with pytest.raises(CancelledError, match="was cancelled"):
        replay.run()
    assert replay.progress == 0


def test_it_is_not_trusted():
    with pytest.raises(ScheduleError, match=r"'one by one \(pause -10\)' is not feasible: 4 cores"):
        simulate(JOBS, cores=3, policy=OneByOne(pause=-10))


def test_it_has_no_parameters_to_set():
    assert OneByOne().having() == OneByOne()
    with pytest.raises(PolicyError, match="has no parameter 'alpha' that could be set"):
        OneByOne().having(alpha=1)


def test_it_takes_no_reservations():
    with pytest.raises(PolicyError, match="does not plan, so it cannot take reservations"):
        simulate(JOBS, cores=4, policy=OneByOne(), reservations=[Request(1, 0, 0, 5, 1)])


def test_a_policy_of_no_known_kind_is_refused():
    class Strange(AnyPolicy):
        def __str__(self):
            return "strange"

        def to_dict(self):
            return {}

    with pytest.raises(PolicyError, match="does not know how to replay 'strange'"):
        simulate(JOBS, cores=4, policy=Strange())

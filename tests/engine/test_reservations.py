"""Advance reservations in a replay: answered at once, kept, and planned around."""

import numpy as np
import pytest

from queuesmith import Cluster, Workload, simulate, verify
from queuesmith.base.errors import PolicyError, ScheduleError, WorkloadError
from queuesmith.schedule import Schedule
from queuesmith.schedule.reservations import Request, RequestAnswer
from queuesmith.testing import simulate_slowly
from queuesmith.testing.policy import random_workload
from tests.engine.random_policies import random_requests

pytestmark = pytest.mark.uncompiled

ONE_JOB = Workload([0], [10], [10], [3])


def answers(workload, cores, *requests, policy="fcfs+plan"):
    schedule = verify(simulate(workload, cores=cores, policy=policy, reservations=requests))
    return [(a.request.id, a.accepted, a.alternative) for a in schedule.reservations]


def test_a_request_is_accepted_where_running_jobs_leave_room():
    assert answers(ONE_JOB, 4, Request(1, 1, 2, 20, 1)) == [(1, True, None)]


def test_a_request_is_declined_with_the_earliest_alternative():
    assert answers(ONE_JOB, 4, Request(1, 1, 2, 20, 2)) == [(1, False, 10)]


def test_a_request_may_begin_at_the_second_at_which_a_job_must_end():
    assert answers(ONE_JOB, 4, Request(1, 1, 10, 20, 4)) == [(1, True, None)]


def test_a_request_for_now_is_answered_before_jobs_that_come_at_the_same_second():
    workload = Workload([5], [10], [10], [4])
    schedule = verify(
        simulate(workload, cores=4, policy="fcfs+plan", reservations=[Request(1, 5, 5, 8, 1)])
    )
    assert schedule.reservations[0].accepted
    assert schedule.start.tolist() == [8]


def test_requests_of_one_second_are_answered_by_their_numbers():
    first, second = Request(2, 1, 20, 30, 3), Request(1, 1, 25, 35, 3)
    assert answers(ONE_JOB, 4, first, second) == [(1, True, None), (2, False, 35)]


def test_an_alternative_may_lie_between_two_reservations():
    booked = [Request(1, 0, 20, 30, 4), Request(2, 0, 40, 50, 4)]
    assert answers(ONE_JOB, 4, *booked, Request(3, 1, 15, 25, 2))[-1] == (3, False, 30)
    assert answers(ONE_JOB, 4, *booked, Request(3, 1, 15, 26, 2))[-1] == (3, False, 50)


def test_waiting_jobs_do_not_stand_in_the_way_of_a_request():
    workload = Workload([0, 0], [10, 10], [10, 10], [4, 4])
    schedule = verify(
        simulate(workload, cores=4, policy="fcfs+plan", reservations=[Request(1, 1, 10, 15, 4)])
    )
    assert schedule.reservations[0].accepted
    assert schedule.start.tolist() == [0, 15]


def test_a_job_that_ends_before_a_reservation_begins_may_start_before_it():
    workload = Workload([0, 1, 1], [10, 4, 5], [10, 4, 5], [3, 1, 1])
    schedule = verify(
        simulate(workload, cores=4, policy="fcfs+plan", reservations=[Request(1, 0, 5, 8, 1)])
    )
    assert schedule.start.tolist() == [0, 1, 8]


def test_a_request_at_the_second_of_a_completion_leaves_no_tuning_step_out():
    workload = Workload([0, 1, 2], [10, 8, 2], [10, 8, 2], [2, 2, 2])
    policy = "dynp(fcfs,sjf; steps=all)"
    without = simulate(workload, cores=2, policy=policy).decisions
    request = Request(1, 10, 50, 60, 1)
    with_request = simulate(workload, cores=2, policy=policy, reservations=[request]).decisions
    assert with_request.time.tolist() == without.time.tolist() == [0, 1, 2, 10, 12]


def test_reservations_before_the_first_and_after_the_last_job():
    early, late = Request(1, 0, 0, 3, 4), Request(2, 90, 95, 99, 4)
    workload = Workload([1], [10], [10], [1])
    schedule = verify(simulate(workload, cores=4, policy="dynp", reservations=[late, early]))
    assert schedule.start.tolist() == [3]
    assert [answer.accepted for answer in schedule.reservations] == [True, True]


@pytest.mark.parametrize("order", ["sjf", "wfp3"])
def test_an_order_with_plan_takes_them_like_its_twin(order):
    rng = np.random.default_rng(7)
    workload = random_workload(rng, 60, 8)
    requests = random_requests(rng, workload, 8)
    schedule = verify(simulate(workload, cores=8, policy=f"{order}+plan", reservations=requests))
    twin = simulate_slowly(workload, Cluster(8), f"{order}+plan", reservations=requests)
    assert schedule.start.tolist() == twin.start.tolist()
    assert schedule.policy == f"{order}+plan"


def test_how_long_an_answer_took_is_told():
    schedule = simulate(ONE_JOB, cores=4, policy="dynp", reservations=[Request(1, 1, 2, 20, 1)])
    assert schedule.reservations[0].seconds > 0


@pytest.mark.parametrize("policy", ["fcfs+easy", "sjf", "fcfs+conservative"])
def test_policies_that_do_not_plan_take_none(policy):
    with pytest.raises(PolicyError, match=r"does not plan, so it cannot take reservations\. Use"):
        simulate(ONE_JOB, cores=4, policy=policy, reservations=[Request(1, 1, 2, 3, 1)])


def test_a_request_wider_than_the_machine_is_refused():
    with pytest.raises(
        WorkloadError, match="reservation 1 asks for 5 cores, but the machine has 4"
    ):
        simulate(ONE_JOB, cores=4, policy="dynp", reservations=[Request(1, 1, 2, 3, 5)])


def test_the_twin_takes_reservations_for_planners_only():
    with pytest.raises(PolicyError, match="no twin that replays 'fcfs' with reservations"):
        simulate_slowly(ONE_JOB, Cluster(4), "fcfs", reservations=[Request(1, 1, 2, 3, 1)])


def test_verify_counts_what_reservations_hold():
    answer = RequestAnswer(Request(1, 0, 5, 8, 2), True, None, 0.0)
    declined = RequestAnswer(Request(2, 0, 5, 8, 4), False, 10, 0.0)
    fitting = Schedule(ONE_JOB, Cluster(5), [0], "by hand", reservations=(answer, declined))
    assert verify(fitting) is fitting
    tight = Schedule(ONE_JOB, Cluster(4), [0], "by hand", reservations=(answer,))
    with pytest.raises(ScheduleError, match="5 cores are busy at second 5, but"):
        verify(tight)

"""Replays in which runtimes are foretold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith import Workload, simulate, verify
from queuesmith.base.errors import PolicyError
from queuesmith.policy import Predicted, as_policy

pytestmark = pytest.mark.uncompiled

CORES = 8


@st.composite
def workloads(draw):
    count = draw(st.integers(1, 25))
    numbers = st.lists(st.integers(1, 40), min_size=count, max_size=count)
    gaps, runtime, more = (np.array(draw(numbers)) for _ in range(3))
    cores = draw(st.lists(st.integers(1, CORES), min_size=count, max_size=count))
    user = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return Workload(np.cumsum(gaps // 3), runtime, runtime + more, cores, user=user)


@given(workloads(), st.sampled_from(["fcfs", "sjf", "saf"]))
def test_with_the_request_in_queue_order_it_is_plain_easy(jobs, order):
    plain = simulate(jobs, cores=CORES, policy=f"{order}+easy")
    again = simulate(jobs, cores=CORES, policy=f"{order}+easy+predicted(request; backfill=queue)")
    assert np.array_equal(plain.start, again.start)


@given(workloads())
def test_with_runtimes_known_it_is_easy_with_exact_walltimes(jobs):
    exact = simulate(jobs.replaced(walltime=jobs.runtime), cores=CORES, policy="fcfs+easy")
    known = simulate(jobs, cores=CORES, policy="fcfs+easy+predicted(known; backfill=queue)")
    assert np.array_equal(exact.start, known.start)


@given(
    workloads(),
    st.sampled_from(["last2", "linear", "blend", "request", "known"]),
    st.sampled_from(["request", "steps"]),
)
def test_whatever_is_foretold_no_job_is_cut_and_no_core_used_twice(jobs, predictor, correction):
    policy = Predicted(as_policy("fcfs").order, predictor, correction)
    schedule = verify(simulate(jobs, cores=CORES, policy=policy))
    assert np.array_equal(schedule.end - schedule.start, jobs.runtime)


def test_the_shortest_prediction_comes_first_in_the_backfill():
    # The first holds 6 of 8 cores, the second waits for all; of the others one fits at a time.
    jobs = Workload([0, 1, 2, 3], [10, 10, 6, 3], [10, 10, 6, 3], [6, 8, 2, 2])
    by_queue = simulate(jobs, cores=8, policy="fcfs+easy+predicted(known; backfill=queue)")
    assert by_queue.start.tolist() == [0, 10, 2, 20]
    jobs = jobs.replaced(submit=[0, 1, 2, 2])
    shortest = simulate(jobs, cores=8, policy="fcfs+easy+predicted(known)")
    assert shortest.start.tolist() == [0, 10, 20, 2]


def test_the_last_two_runtimes_foretell_the_next():
    # After runs of 4 and 8 seconds a request of 100 is expected to take 6: it may overtake.
    jobs = Workload(
        submit=[0, 10, 20, 21, 22],
        runtime=[4, 8, 10, 10, 6],
        walltime=[100, 100, 10, 10, 100],
        cores=[1, 1, 6, 8, 2],
        user=[1, 1, 2, 2, 1],
    )
    asked = simulate(jobs, cores=8, policy="fcfs+easy+predicted(request)")
    assert asked.start.tolist() == [0, 10, 20, 30, 40]
    for predictor in ("last2", "blend"):
        foretold = simulate(jobs, cores=8, policy=f"fcfs+easy+predicted({predictor})")
        assert foretold.start.tolist() == [0, 10, 20, 30, 22]


def test_who_outlives_a_prediction_goes_on_and_is_expected_later():
    jobs = Workload(
        submit=[0, 10, 20, 21, 22],
        runtime=[4, 8, 10, 10, 60],
        walltime=[100, 100, 10, 10, 100],
        cores=[1, 1, 6, 8, 2],
        user=[1, 1, 2, 2, 1],
    )
    schedule = verify(simulate(jobs, cores=8, policy="fcfs+easy+predicted(last2)"))
    assert schedule.start.tolist() == [0, 10, 20, 82, 22]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fcfs+easy+predicted(last3)", "last3"),
        ("fcfs+predicted(last2)", "predictions serve EASY"),
        ("wfp3+easy+predicted(last2)", "changes with time"),
        ("fcfs+easy+predicted(last2; correction=kill)", "kill"),
        ("fcfs+easy+predicted(last2; colour=red)", "colour=red"),
        ("fcfs+easy+predicted(linear; quantile=2)", "between 0 and 1"),
        ("fcfs+easy+predicted(linear; step=x)", "step=x"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(text, sentence):
    with pytest.raises(PolicyError, match=sentence):
        as_policy(text)


@pytest.mark.parametrize(
    "text",
    ["fcfs+easy+predicted(last2)", "sjf+easy+predicted(linear; backfill=queue; quantile=0.8)"],
)
def test_a_policy_that_predicts_is_read_and_written_and_saved(text, tmp_path):
    policy = as_policy(text)
    assert str(policy) == text
    policy.save(tmp_path / "policy.json")
    assert as_policy(str(tmp_path / "policy.json")) == policy


@pytest.mark.data
@pytest.mark.parametrize(
    ("policy", "published"),
    [
        ("fcfs+easy", 92.69),
        ("fcfs+easy+predicted(request)", 69.39),
        ("fcfs+easy+predicted(known)", 49.85),
    ],
)
def test_the_published_baselines_are_met(data, policy, published):
    from queuesmith.workload.files import read

    log = read(data / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz", overrun="cut").fitting(100)
    schedule = simulate(log, cores=100, policy=policy)
    value = np.maximum((schedule.wait + log.runtime) / np.maximum(log.runtime, 10), 1).mean()
    assert abs(value / published - 1) < 0.005

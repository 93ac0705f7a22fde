"""Guards: metrics that may get no worse than under a baseline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith import Cluster, Schedule, Workload
from queuesmith.base.errors import MetricError, QueuesmithError, UsageError
from queuesmith.schedule.guard import Guard, Limits, as_guards


@pytest.mark.parametrize(
    ("text", "metric", "tolerance"),
    [
        ("utilization", "utilization", 0.0),
        (" utilization : 0.001 ", "utilization", 0.001),
        ("utilization:0.1%", "utilization", 0.001),
        ("awrt[1]", "awrt[1]", 0.0),
        ("awrt[ 1 ]:0.05", "awrt[1]", 0.05),
        ('awrt["a:b"]', 'awrt["a:b"]', 0.0),
        ('awrt["a:b"]:2%', 'awrt["a:b"]', 0.02),
    ],
)
def test_a_guard_is_a_metric_and_a_tolerance(text, metric, tolerance):
    guard = Guard.parse(text)
    assert (guard.metric, guard.tolerance) == (metric, pytest.approx(tolerance))
    assert Guard.parse(str(guard)) == guard


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("luck", "no-worse 'luck' cannot be read: there is no metric 'luck'"),
        ("", "no-worse '' cannot be read: the objective is empty"),
        ("utilization[1]", "belongs to the whole machine"),
        ("awrt + makespan", "is an expression, of which nothing says whether lower or higher"),
        ("-utilization", "is an expression"),
        ("utilization:-0.1", "the tolerance of no-worse 'utilization' is -0.1"),
        ("utilization:1", "it must be a share from 0 up to, not including, 1"),
        ("utilization:nan", "is nan, but"),
        ("utilization:much", "the tolerance 'much' of no-worse 'utilization:much' is no number"),
        ("utilization:", "the tolerance '' of no-worse"),
    ],
)
def test_a_wrong_guard_gets_one_sentence(text, sentence):
    with pytest.raises(QueuesmithError) as error:
        Guard.parse(text)
    assert sentence in str(error.value)
    assert error.value.exit_code == 2


def test_guards_are_given_as_text_or_made_one_or_several():
    guard = Guard("utilization")
    assert as_guards("utilization") == as_guards(guard) == as_guards([guard]) == (guard,)
    assert as_guards(()) == ()
    assert as_guards(["awrt"], bound=60)[0].bound == 60
    with pytest.raises(UsageError, match="no-worse is 3, but it must be a text or a Guard"):
        as_guards([3])
    with pytest.raises(UsageError, match="'utilization' more than once"):
        as_guards(["utilization", "utilization:0.1"])
    with pytest.raises(UsageError, match="is 'x', but it must be a share"):
        Guard("awrt", "x")


def test_what_is_worse_depends_on_the_metric():
    more, less = Guard("utilization"), Guard("awrt")
    assert more.shortfall(0.7, 0.8) == pytest.approx(1 / 8)
    assert more.shortfall(0.9, 0.8) == 0
    assert less.shortfall(10, 8) == pytest.approx(2 / 8)
    assert less.shortfall(7, 8) == 0
    assert less.shortfall(3, 0) == 3


def test_a_tolerance_is_a_share_of_the_baseline():
    guard = Guard("utilization", 0.1)
    assert guard.limit(0.8) == pytest.approx(0.72)
    assert Guard("awrt", 0.1).limit(200) == pytest.approx(220)
    assert guard.shortfall(0.72, 0.8) == 0
    assert guard.shortfall(0.64, 0.8) == pytest.approx(0.1)


@given(
    st.sampled_from(["awrt", "utilization"]),
    st.floats(0, 0.99),
    st.floats(0.001, 1e9),
    st.floats(0, 1e9),
    st.floats(0, 1e9),
)
def test_further_beyond_is_never_a_smaller_shortfall(metric, tolerance, baseline, one, other):
    guard = Guard(metric, tolerance)
    worse, better = (max, min) if guard.better == "lower" else (min, max)
    assert guard.shortfall(baseline, baseline) == 0
    assert guard.shortfall(worse(one, other), baseline) >= guard.shortfall(
        better(one, other), baseline
    )


def test_limits_add_up_how_far_each_is_passed():
    jobs = Workload([0, 0], [10, 10], [10, 10], [1, 1], group=[1, 2])
    together = Schedule(jobs, Cluster(2), [0, 0], "together")
    apart = Schedule(jobs, Cluster(2), [0, 10], "apart")
    limits = Limits(as_guards(["utilization", "awrt[2]", "awrt[1]"]), together)
    assert limits.shortfall(together) == 0
    assert limits.shortfall(apart) == pytest.approx(1 / 2 + 1)
    assert Limits(as_guards(["utilization"]), apart).shortfall(together) == 0


def test_a_group_without_jobs_has_no_limit():
    jobs = Workload([0], [10], [10], [1], group=[1])
    with pytest.raises(MetricError, match="group 2 has no jobs"):
        Limits([Guard("awrt[2]")], Schedule(jobs, Cluster(2), [0], "one"))

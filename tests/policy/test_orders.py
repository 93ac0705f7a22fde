"""Every built-in order, against values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.policy import ORDERS, Job, Machine

DAY = 86_400
MACHINE = Machine(cores=64, free=10, waiting=3)


def job(**fields):
    default = {
        "id": 1,
        "submit": 1000,
        "walltime": 100,
        "cores": 4,
        "user": 0,
        "group": 1,
        "partition_factor": 0.0,
        "qos_factor": 0.0,
        "usage_share": 0.0,
        "user_share": 0.25,
        "fair_share": 1.0,
        "nodes": 1,
        "memory": 0,
        "gpus": 0,
        "partition": -1,
        "qos": -1,
        "account": -1,
    }
    values = {**default, **fields}
    logarithms = {
        "log_walltime": math.log(values["walltime"]),
        "log_cores": math.log(values["cores"]),
    }
    return Job(**values, **logarithms)


def score(name, waiting, now=0, **parameters):
    order = ORDERS[name].having(**parameters)
    views = (waiting, now, MACHINE)[: order.views]
    return float(order.function(*views, **order.parameters))


def first(name, *jobs, now=0, **parameters):
    """The id of the job that the order puts first."""
    return max(jobs, key=lambda waiting: score(name, waiting, now, **parameters)).id


# -- fixed orders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fcfs", -1000),
        ("longest_wait", -1000),
        ("sjf", -100),
        ("ljf", 100),
        ("narrow", -4),
        ("wide", 4),
        ("saf", -400),
        ("laf", 400),
        ("group", -1),
        ("f1", -(2 * 4 + 870 * 3)),  # log10 of walltime and submit are 2 and 3
        ("f2", -(10 * 4 + 25_600 * 3)),
        ("f3", -(400 + 6.86e6 * 3)),
        ("f4", -(100 * 2 + 5.3e5 * 3)),
    ],
)
def test_a_fixed_order_has_the_value_worked_out_by_hand(name, expected):
    assert score(name, job()) == pytest.approx(expected, rel=1e-12)
    assert ORDERS[name].fixed


def test_ranked_is_the_order_group_unless_ranks_are_given():
    assert [score("ranked", job(group=group)) for group in (1, 2, 3, 4, 5, 6)] == [5, 4, 3, 2, 1, 1]
    assert [score("ranked", job(group=group), group_2=6) for group in (1, 2, 3)] == [5, 6, 3]


def test_ranked_with_a_small_exponent_decides_within_a_group():
    assert score("ranked", job(cores=4, walltime=100), alpha=0.1, gamma=0.05) == pytest.approx(
        5 + 0.1 * math.log(4) + 0.05 * math.log(100)
    )
    wide, narrow = {"cores": 1024, "group": 2}, {"cores": 1, "group": 1}
    assert first("ranked", job(id=1, **wide), job(id=2, **narrow), alpha=0.1) == 2
    assert first("ranked", job(id=1), job(id=2, cores=5), alpha=0.1) == 2


# -- head_start ------------------------------------------------------------------------------------


def test_head_start_counts_a_job_as_if_it_had_come_hours_earlier():
    hours = [score("head_start", job(group=group, submit=0)) / 3600 for group in range(1, 7)]
    assert hours == [48, 36, 24, 12, 0, 0]
    assert score("head_start", job(group=2, submit=3600), group_2=3) == 2 * 3600


def test_head_start_counts_each_doubling_of_walltime_and_cores():
    flat = dict.fromkeys(("group_1", "group_2", "group_3", "group_4"), 0)
    small, large = job(submit=0, walltime=100, cores=2), job(submit=0, walltime=800, cores=4)
    difference = score("head_start", large, walltime=-1, cores=0.5, **flat) - score(
        "head_start", small, walltime=-1, cores=0.5, **flat
    )
    assert difference == pytest.approx((-3 + 0.5) * 3600)


def test_nobody_is_overtaken_by_who_comes_more_hours_later_than_lie_between_them():
    early, late = job(id=1, group=5, submit=0), job(id=2, group=1, submit=10 * 3600)
    assert first("head_start", early, late, group_1=11) == 2
    assert first("head_start", early, late, group_1=9) == 1


def test_without_hours_head_start_is_first_come_first_served():
    flat = dict.fromkeys(("group_1", "group_2", "group_3", "group_4"), 0)
    assert score("head_start", job(submit=77, group=3), **flat) == score("fcfs", job(submit=77))


@pytest.mark.parametrize(
    ("name", "expected"), [("f1", -8), ("f2", -40), ("f3", -400), ("f4", -200)]
)
def test_the_learned_orders_take_the_first_second_of_the_log_as_one(name, expected):
    assert score(name, job(submit=0)) == score(name, job(submit=1)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "better", "worse"),
    [
        ("fcfs", {"submit": 5}, {"submit": 6}),
        ("longest_wait", {"submit": 5}, {"submit": 6}),
        ("sjf", {"walltime": 5}, {"walltime": 6}),
        ("ljf", {"walltime": 6}, {"walltime": 5}),
        ("narrow", {"cores": 1}, {"cores": 2}),
        ("wide", {"cores": 2}, {"cores": 1}),
        ("saf", {"walltime": 10, "cores": 3}, {"walltime": 4, "cores": 8}),
        ("laf", {"walltime": 4, "cores": 8}, {"walltime": 10, "cores": 3}),
        ("group", {"group": 1}, {"group": 2}),
        ("f1", {"cores": 1}, {"cores": 2}),
        ("f2", {"walltime": 9}, {"walltime": 16}),
        ("f3", {"submit": 10}, {"submit": 11}),
        ("f4", {"cores": 4}, {"cores": 9}),
    ],
)
def test_an_order_puts_the_job_first_that_its_name_promises(name, better, worse):
    assert first(name, job(id=1, **worse), job(id=2, **better)) == 2


# -- orders that change with time ------------------------------------------------------------------


def test_wfp3_is_the_cube_of_wait_over_walltime_times_cores():
    waiting = job(submit=100, walltime=30, cores=2)
    assert score("wfp3", waiting, now=160) == 16  # (60 / 30) cubed, times 2
    assert score("wfp3", waiting, now=100) == 0


def test_unicep_divides_the_wait_by_walltime_and_the_logarithm_of_the_cores():
    four_cores = score("unicep", job(submit=100, walltime=30, cores=4), now=160)
    assert four_cores == pytest.approx(1)  # 60 / (2 x 30)
    assert score("unicep", job(submit=100, walltime=30, cores=2), now=160) == 2
    assert score("unicep", job(submit=100, walltime=30, cores=1), now=160) == 2


def test_greedy_weighs_the_wait_of_groups_one_and_two():
    assert score("greedy", job(submit=0, group=1), now=100) == 1000
    assert score("greedy", job(submit=0, group=2), now=100) == 400
    assert score("greedy", job(submit=0, group=1), now=100, weight_1=3) == 300
    assert score("greedy", job(submit=0, group=2), now=100, weight_2=3) == 300


def test_greedy_puts_the_others_behind_until_they_have_waited_very_long():
    favoured = job(id=1, submit=2 * DAY, group=2)
    other = job(id=2, submit=0, group=5)
    assert first("greedy", favoured, other, now=2 * DAY) == 1
    assert first("greedy", favoured, other, now=2 * DAY + 1) == 2
    assert first("greedy", favoured, other, now=2 * DAY, very_long=DAY) == 2


def test_greedy_takes_the_longest_wait_first_within_a_tier():
    early, late = job(id=1, submit=0, group=3), job(id=2, submit=10, group=4)
    assert first("greedy", late, early, now=100) == 1
    assert first("greedy", late, early, now=30 * DAY) == 1


def test_greedy_favours_as_many_groups_as_it_is_told():
    assert score("greedy", job(submit=0, group=3), now=100, favoured_groups=3) == 400
    assert score("greedy", job(submit=0, group=2), now=100, favoured_groups=1) == 100 - 1e15


# -- Slurm's multifactor ---------------------------------------------------------------------------

WEIGHTS = (
    "PriorityWeightAge",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
)


def only(weight, value=1.0):
    return {**dict.fromkeys(WEIGHTS, 0.0), weight: value}


def test_multifactor_is_the_weighted_sum_of_its_five_factors():
    waiting = job(submit=0, cores=16, partition_factor=0.5, qos_factor=0.2, fair_share=0.75)
    # Age 0.5, size 16 / 64.
    expected = 1000 * 0.5 + 10_000 * 0.75 + 1000 * 0.25 + 1000 * 0.5 + 1000 * 0.2
    assert score("multifactor", waiting, now=7 * DAY // 2) == pytest.approx(expected)


def test_the_age_of_multifactor_is_capped():
    weights = only("PriorityWeightAge")
    assert score("multifactor", job(submit=0), now=7 * DAY, **weights) == 1
    assert score("multifactor", job(submit=0), now=100 * DAY, **weights) == 1
    assert score("multifactor", job(submit=0), now=DAY, **weights, PriorityMaxAge=4 * DAY) == 0.25


def test_the_size_of_multifactor_favours_wide_jobs_or_small_ones():
    weights = only("PriorityWeightJobSize")
    assert score("multifactor", job(cores=16), **weights) == 0.25
    assert score("multifactor", job(cores=16), **weights, PriorityFavorSmall=1) == 0.75


def test_partition_and_qos_of_multifactor_count_with_their_own_weights():
    waiting = job(partition_factor=0.5, qos_factor=0.25)
    assert score("multifactor", waiting, **only("PriorityWeightPartition", 8)) == 4
    assert score("multifactor", waiting, **only("PriorityWeightQOS", 8)) == 2


# -- powers ----------------------------------------------------------------------------------------


def test_power_is_the_logarithm_of_a_product_of_powers():
    waiting = job(submit=0, cores=8, walltime=100)
    value = score("power", waiting, now=50, alpha=2, beta=0.5, gamma=-1)
    assert value == pytest.approx(math.log(8**2 * 50**0.5 / 100))


def test_power_counts_a_wait_as_one_second_at_least():
    assert score("power", job(submit=7, cores=1), now=7) == 0
    assert score("power", job(submit=7, cores=1), now=8) == 0


exponents = st.integers(-20, 20).map(lambda tenths: tenths / 10)
jobs = st.builds(
    job, submit=st.integers(0, 900), cores=st.integers(1, 64), walltime=st.integers(1, 99)
)


@given(first=jobs, second=jobs, alpha=exponents, beta=exponents, gamma=exponents)
def test_power_orders_jobs_as_the_product_of_powers_does(first, second, alpha, beta, gamma):
    def product(waiting):
        return waiting.cores**alpha * (1000 - waiting.submit) ** beta * waiting.walltime**gamma

    parameters = {"alpha": alpha, "beta": beta, "gamma": gamma}
    difference = score("power", first, 1000, **parameters) - score(
        "power", second, 1000, **parameters
    )
    ratio = product(first) / product(second)
    assert difference == pytest.approx(math.log(ratio), abs=2e-7)  # 24 binary digits


# -- all of them -----------------------------------------------------------------------------------


def test_the_registry_is_keyed_by_the_functions_own_names():
    assert [order.function.__name__ for order in ORDERS.values()] == list(ORDERS)
    assert all(order.function.__doc__ for order in ORDERS.values())


def test_only_orders_that_look_at_time_or_usage_change():
    changing = {name for name, order in ORDERS.items() if not order.fixed}
    assert changing == {"wfp3", "unicep", "greedy", "multifactor", "power", "group_power", "blend"}


@pytest.mark.parametrize("name", ORDERS)
def test_every_order_gives_a_number_for_the_smallest_job(name):
    smallest = job(submit=0, walltime=1, cores=1, user_share=1.0)
    assert math.isfinite(score(name, smallest, now=0))

import pytest

from queuesmith.policy import ORDERS, Policy, as_policy
from queuesmith.web.knobs import knobs_of, turned


@pytest.mark.parametrize("order", ORDERS)
def test_every_parameter_of_every_order_can_be_turned(order):
    policy = as_policy(f"{order}+easy")
    knobs = knobs_of(policy)
    assert [knob.name for knob in knobs] == list(ORDERS[order].parameters)
    for knob in knobs:
        assert knob.low <= knob.value <= knob.high
        assert 0 < knob.step <= knob.high - knob.low
        moved = turned(policy, {knob.name: knob.high})
        assert isinstance(moved, Policy)
        assert moved.order.parameters[knob.name] == knob.high


def test_a_range_is_wide_enough_for_what_was_written():
    [knob, *_] = knobs_of(as_policy("power(alpha=70)+easy"))
    assert knob.high == 70


def test_depth_and_kept_cores_are_knobs_where_they_are_written():
    deep = as_policy("fcfs+conservative(depth=50)")
    assert [knob.name for knob in knobs_of(deep)] == ["depth"]
    assert str(turned(deep, {"depth": 9.0})) == "fcfs+conservative(depth=9)"
    keep = as_policy("group+easy+keep(share=0.3)")
    assert str(turned(keep, {"keep.share": 0.5})) == "group+easy+keep(share=0.5)"


def test_slurm_is_turned_from_what_its_machine_says():
    machine = {"PriorityWeightAge": "5000", "SchedulerParameters": "bf_interval=45"}
    policy = as_policy("slurm()")
    values = {knob.name: knob.value for knob in knobs_of(policy, machine)}
    assert values["PriorityWeightAge"] == 5000
    assert values["bf_interval"] == 45
    assert turned(policy, values, machine) == policy
    values["bf_interval"] = 60
    assert str(turned(policy, values, machine)) == "slurm(bf_interval=60)"
    values["PriorityMaxAge"] = 2 * 86_400
    days = turned(policy, values, machine)
    assert days.settings(machine)["PriorityMaxAge"] == 2 * 86_400


def test_what_has_no_knobs_is_left_as_it_is():
    policy = as_policy("dynp(fcfs,sjf)")
    assert knobs_of(policy) == []
    assert turned(policy, {"alpha": 1.0}) is policy

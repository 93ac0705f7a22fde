"""An order: a function with parameters, its own or one from a file."""

import pickle

import numpy as np
import pytest

from queuesmith.base.errors import PolicyError
from queuesmith.policy import ORDERS, Order
from queuesmith.policy.order import load_order


def patient_wide(job, now, width_power=1.0, wait_power=0.5):
    return job.cores**width_power * (now - job.submit) ** wait_power


def written(tmp_path, text, name="my.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# -- parameters ------------------------------------------------------------------------------------


def test_an_order_is_named_after_its_function_and_has_its_defaults():
    order = Order(patient_wide)
    assert order.name == str(order) == "patient_wide"
    assert dict(order.parameters) == {"width_power": 1.0, "wait_power": 0.5}


def test_parameters_are_set_without_changing_the_order_they_come_from():
    order = Order(patient_wide)
    changed = order.having(wait_power=2)
    assert dict(changed.parameters) == {"width_power": 1.0, "wait_power": 2.0}
    assert dict(order.parameters) == {"width_power": 1.0, "wait_power": 0.5}
    assert changed.having(width_power=3).parameters["wait_power"] == 2


def test_parameters_cannot_be_changed_in_place():
    with pytest.raises(TypeError):
        Order(patient_wide).parameters["wait_power"] = 3


def test_an_order_can_be_a_key_and_survives_pickling():
    order = ORDERS["power"].having(alpha=2)
    assert {order: 1}[ORDERS["power"].having(alpha=2)] == 1
    assert pickle.loads(pickle.dumps(order)) == order


def test_only_parameters_that_differ_from_the_defaults_are_printed():
    order = Order(patient_wide)
    assert str(order.having(wait_power=0.5)) == "patient_wide"
    assert str(order.having(wait_power=2)) == "patient_wide(wait_power=2)"
    assert str(order.having(wait_power=2, width_power=-1.5)) == (
        "patient_wide(width_power=-1.5,wait_power=2)"
    )


@pytest.mark.parametrize("value", [1 / 3, 1.23456789, 1234567.0, 1e-9, -2e20, 604_801.0])
def test_a_printed_parameter_is_the_same_number_when_read(value):
    printed = str(Order(patient_wide).having(wait_power=value))
    assert float(printed.removeprefix("patient_wide(wait_power=").removesuffix(")")) == value


def test_orders_with_equal_functions_and_parameters_are_equal():
    assert Order(patient_wide) == Order(patient_wide)
    assert Order(patient_wide) != Order(patient_wide).having(wait_power=2)


@pytest.mark.parametrize("value", [np.int64(2), np.float32(2), np.float64(2), 2, True])
def test_numbers_of_numpy_are_numbers(value):
    set_value = Order(patient_wide, parameters={"wait_power": value}).parameters["wait_power"]
    assert type(set_value) is float
    assert set_value == float(value)


def test_an_unknown_parameter_is_answered_with_those_there_are():
    with pytest.raises(PolicyError) as error:
        Order(patient_wide).having(wait_powr=2)
    assert str(error.value) == (
        "order 'patient_wide' has no parameter 'wait_powr'. Did you mean 'wait_power'? "
        "Choose from: width_power, wait_power."
    )


def test_an_order_without_parameters_says_so():
    with pytest.raises(PolicyError, match=r"'fcfs' has no parameter 'alpha'.*\(it has none\)"):
        ORDERS["fcfs"].having(alpha=1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "2", None, 10**400, [1]])
def test_a_parameter_that_is_no_finite_number_is_refused(value):
    with pytest.raises(PolicyError) as error:
        Order(patient_wide).having(wait_power=value)
    assert str(error.value) == (
        f"parameter 'wait_power' of order 'patient_wide' is {value!r}, but it must be a finite "
        "number. Give a number."
    )


# -- signatures ------------------------------------------------------------------------------------


def test_an_order_that_is_no_function_is_refused():
    with pytest.raises(PolicyError, match=r"order 42 is not a function.*Write one with def\."):
        Order(42)
    with pytest.raises(PolicyError, match="is not a function"):
        Order(max)


def nothing():
    return 0


def misnamed(task):
    return 0


def swapped(now, job):
    return 0


def no_now(job, machine):
    return 0


@pytest.mark.parametrize(
    ("function", "taken"),
    [(nothing, ""), (misnamed, "task"), (swapped, "now, job"), (no_now, "job, machine")],
)
def test_wrong_first_arguments_are_named_beside_the_right_ones(function, taken):
    with pytest.raises(PolicyError) as error:
        Order(function)
    assert str(error.value) == (
        f"order '{function.__name__}' takes ({taken}), but an order takes (job), (job, now) or "
        "(job, now, machine), then parameters with defaults. Rename them."
    )


def test_a_parameter_without_a_default_is_refused():
    def steep(job, now, machine, slope):
        return 0

    with pytest.raises(PolicyError, match=r"takes \(job, now, machine, slope\)"):
        Order(steep)


@pytest.mark.parametrize("default", ["high", None, (1, 2), float("nan")])
def test_a_default_that_is_no_number_is_refused(default):
    def level(job, level=default):
        return 0

    with pytest.raises(PolicyError) as error:
        Order(level)
    assert str(error.value) == (
        f"parameter 'level' of order 'level' has the default {default!r}, but a parameter is a "
        "number. Give it a number."
    )


def test_loose_arguments_are_refused():
    def positional(job, *rest):
        return 0

    def keywords(job, **rest):
        return 0

    for function in (positional, keywords):
        with pytest.raises(PolicyError, match=r"takes \*rest, but .* Name them, each with"):
            Order(function)


def test_what_the_engine_hands_over_takes_no_default():
    def careless(job, now=0):
        return now - job.submit

    with pytest.raises(PolicyError) as error:
        Order(careless)
    assert str(error.value) == (
        "order 'careless' gives 'now' the default 0, but the engine hands it over. "
        "Leave the default out."
    )


# -- fixed or changing -----------------------------------------------------------------------------


def takes_now_in_vain(job, now):
    return job.cores


def reads_now(job, now):
    return now - job.submit


def reads_machine(job, now, machine):
    return job.cores / machine.free


def reads_usage(job):
    return -job.usage_share


def reads_fair_share(job):
    return job.fair_share


def share_of(job):
    return job.usage_share


def reads_usage_through_a_helper(job):
    return -share_of(job)


def reads_usage_in_a_function_inside(job):
    return max(-x.usage_share for x in (job,))


def reads_now_in_a_function_inside(job, now):
    def wait():
        return now - job.submit

    return wait()


def calls_itself(job):
    return calls_itself(job)


@pytest.mark.parametrize(
    "function", [patient_wide, reads_now, reads_machine, reads_usage, reads_fair_share]
)
def test_an_order_that_reads_what_changes_is_not_fixed(function):
    assert not Order(function).fixed


@pytest.mark.parametrize(
    "function",
    [
        reads_usage_through_a_helper,
        reads_usage_in_a_function_inside,
        reads_now_in_a_function_inside,
    ],
)
def test_an_order_that_reads_what_changes_by_a_detour_is_not_fixed(function):
    assert not Order(function).fixed


@pytest.mark.parametrize("function", [takes_now_in_vain, calls_itself])
def test_an_order_that_reads_nothing_that_changes_is_fixed(function):
    assert Order(function).fixed


def test_a_helper_compiled_by_numba_is_looked_into(tmp_path):
    path = written(
        tmp_path,
        "import numba\n"
        "@numba.njit\ndef share(job):\n    return job.usage_share\n"
        "def fair(job):\n    return -share(job)\n",
    )
    assert not load_order(f"{path}:fair").fixed


def test_the_number_of_views_is_what_the_function_takes():
    assert [Order(f).views for f in (reads_usage, reads_now, reads_machine)] == [1, 2, 3]
    assert Order(patient_wide).views == 2


def test_what_an_order_reads_is_known():
    assert {"now", "job", "cores", "submit"} <= Order(patient_wide).reads
    assert "walltime" not in Order(patient_wide).reads


# -- orders from files -----------------------------------------------------------------------------


def test_an_order_is_loaded_from_a_file_and_keeps_the_name_it_was_asked_by(tmp_path):
    path = written(tmp_path, "def long_first(job, bias=3):\n    return job.walltime + bias\n")
    order = load_order(f"{path}:long_first")
    assert order.name == f"{path}:long_first"
    assert dict(order.parameters) == {"bias": 3.0}
    assert order.function.__name__ == "long_first"


def test_files_of_the_same_name_in_two_folders_do_not_mix(tmp_path):
    orders = []
    for folder, sign in (("a", ""), ("b", "-")):
        (tmp_path / folder).mkdir()
        path = written(tmp_path / folder, f"def mine(job):\n    return {sign}job.cores\n")
        orders.append(load_order(f"{path}:mine"))
    plus, minus = (order.function(type("Job", (), {"cores": 2})) for order in orders)
    assert (plus, minus) == (2, -2)


def test_a_file_that_does_not_exist_is_named():
    with pytest.raises(PolicyError) as error:
        load_order("nowhere/my.py:mine")
    assert str(error.value) == (
        "policy file 'nowhere/my.py' does not exist. Write FILE.py:FUNCTION, for example "
        "my.py:patient_wide+easy."
    )


def test_a_folder_is_no_policy_file(tmp_path):
    with pytest.raises(PolicyError, match="does not exist"):
        load_order(f"{tmp_path}:mine")


def test_a_function_that_the_file_has_not_is_answered_with_those_it_has(tmp_path):
    path = written(tmp_path, "X = 1\ndef one(job):\n    return 1\ndef two(job):\n    return 2\n")
    for name in ("three", "X", ""):
        with pytest.raises(PolicyError) as error:
            load_order(f"{path}:{name}")
        assert str(error.value) == (
            f"policy file '{path}' has no function '{name}'. It has: one, two."
        )


def test_an_empty_file_has_no_functions(tmp_path):
    with pytest.raises(PolicyError, match=r"has no function 'mine'\. It has: \(none\)\."):
        load_order(f"{written(tmp_path, '')}:mine")


def test_a_syntax_error_is_given_with_its_line(tmp_path):
    path = written(tmp_path, "def mine(job):\n    return (job.cores\n")
    with pytest.raises(PolicyError) as error:
        load_order(f"{path}:mine")
    assert str(error.value) == (
        f"policy file '{path}' has a syntax error in line 2: '(' was never closed. Correct it."
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_fails_while_it_is_imported_says_how(tmp_path, text, reason):
    path = written(tmp_path, text)
    with pytest.raises(PolicyError) as error:
        load_order(f"{path}:mine")
    assert str(error.value) == (f"policy file '{path}' cannot be imported: {reason}. Correct it.")


def test_a_file_that_is_not_python_is_refused(tmp_path):
    path = written(tmp_path, "alpha = 1\n", "my.toml")
    with pytest.raises(PolicyError) as error:
        load_order(f"{path}:mine")
    assert str(error.value) == (
        f"policy file '{path}' is not a Python file. Give a file that ends in .py."
    )


def test_a_name_that_no_file_can_have_gets_one_sentence():
    """It gave the traceback of the system: file name too long."""
    with pytest.raises(PolicyError, match="does not exist"):
        load_order(f"{'x' * 5000}.py:mine")

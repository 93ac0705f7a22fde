"""Options that several commands share."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer

from queuesmith.base.errors import ClusterError, UsageError
from queuesmith.cli.options import (
    DEFAULT_THRESHOLDS,
    LogOptions,
    MachineOptions,
    names,
    numbers,
    settings,
    with_options,
)
from queuesmith.policy import Policy
from queuesmith.workload import Workload, groups


@dataclass(frozen=True)
class Bundle:
    place: Annotated[Path, typer.Argument()]
    size: Annotated[int, typer.Option()] = 3


def test_a_bundle_becomes_an_option_for_each_of_its_fields():
    seen = []

    @with_options
    def command(bundle: Bundle, out: Path, loud: bool = False) -> None:
        """Do it."""
        seen.append((bundle, out, loud))

    parameters = inspect.signature(command).parameters
    assert list(parameters) == ["place", "out", "size", "loud"]  # those that are required first
    assert command.__doc__ == "Do it."
    command(place=Path("a"), size=4, out=Path("b"), loud=True)
    assert seen == [(Bundle(Path("a"), 4), Path("b"), True)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        (" a , b ,", ["a", "b"]),
        ("max(a,b),c", ["max(a,b)", "c"]),
        ("x(y[1,2],z),w", ["x(y[1,2],z)", "w"]),
        ("", []),
    ],
)
def test_names_are_separated_by_commas_outside_of_brackets(text, parts):
    assert names(text) == parts


def test_numbers_are_read_as_a_list():
    assert numbers("0.5,1e-3", "thresholds") == [0.5, 0.001]
    assert numbers("0:86400", "between", separator=":", count=2) == [0, 86400]


@pytest.mark.parametrize("text", ["", "x", "1,,2", "nan", "1,inf"])
def test_what_is_no_list_of_numbers_is_refused(text):
    with pytest.raises(UsageError, match=r"--thresholds is .* separated by ','"):
        numbers(text, "thresholds")


def test_a_wrong_count_of_numbers_is_refused():
    with pytest.raises(UsageError, match="must be 2 numbers"):
        numbers("1:2:3", "between", separator=":", count=2)


def test_settings_are_names_and_numbers():
    assert settings("high=100, low=1.5", "qos-priority", "high=100") == {"high": 100, "low": 1.5}
    assert settings("", "qos-priority", "high=100") == {}


@pytest.mark.parametrize("text", ["high", "high=", "high=much", "=x"])
def test_a_setting_without_a_number_is_refused(text):
    with pytest.raises(UsageError, match=r"--qos-priority is .*Write for example high=100"):
        settings(text, "qos-priority", "high=100")


def test_the_default_thresholds_are_those_of_the_workload():
    assert tuple(numbers(DEFAULT_THRESHOLDS, "thresholds")) == groups.DEFAULT_THRESHOLDS


def test_the_part_between_is_taken_before_the_head(logs):
    log = LogOptions(logs / "small.swf", quiet=True)
    submit = log.read().submit
    part = LogOptions(logs / "small.swf", between=f"{submit[50]}:{submit[-1]}", head=3, quiet=True)
    assert part.read().submit.tolist() == submit[submit >= submit[50]][:3].tolist()


def test_a_machine_takes_its_size_from_the_log_or_from_the_user():
    jobs = Workload([0], [1], [1], [1], machine_cores=8)
    assert MachineOptions().cluster(jobs).cores == 8
    assert MachineOptions(cores=4).cluster(jobs).cores == 4
    with pytest.raises(ClusterError, match=r"--cores N"):
        MachineOptions().cluster(Workload([0], [1], [1], [1]))


def test_a_slurm_conf_changes_only_the_multifactor_order(tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("PriorityWeightAge=5\nPartitionName=a PriorityJobFactor=3\n")
    machine = MachineOptions(cores=4, slurm_conf=conf, qos_priority="high=2")
    cluster = machine.cluster(Workload([0], [1], [1], [1]))
    assert dict(cluster.partition_priority) == {"a": 3}
    assert dict(cluster.qos_priority) == {"high": 2}
    fcfs = Policy.parse("fcfs+easy")
    assert machine.configured(fcfs) is fcfs
    changed = machine.configured(Policy.parse("multifactor+easy"))
    assert changed.order.parameters["PriorityWeightAge"] == 5
    assert changed.order.parameters["PriorityWeightFairshare"] == 0
    assert MachineOptions().configured(changed) is changed

import math

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import QueuesmithError, UsageError, WorkloadError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.dynamic.generate import generate_scenario, scenario_from_log
from queuesmith.grid.dynamic.machine_events import MachineEvent, churn, read_machine_events
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.describe import describe

MATRIX = EtcMatrix([[10, 20], [10, 20]])


def test_the_load_is_what_all_machines_together_need():
    # Rates 1/10 and 1/20: each job keeps both machines busy for 6.67 seconds.
    assert Scenario([0, 20], MATRIX).load == pytest.approx(2 / 0.15 / 20)
    assert Scenario([5, 5], MATRIX).load == math.inf


def test_arrivals_are_moved_to_another_load():
    moved = Scenario([5, 25], MATRIX).with_load(0.5)
    assert moved.load == pytest.approx(0.5)
    assert moved.submit[0] == 5
    with pytest.raises(WorkloadError, match="in the same second"):
        Scenario([5, 5], MATRIX).with_load(0.5)


def test_presence_follows_the_events():
    events = [
        MachineEvent(9, 0, True),
        MachineEvent(4, 0, False),
        MachineEvent(3, 1, True),
        MachineEvent(7, 1, False),
    ]
    scenario = Scenario([0, 1], MATRIX, events)
    assert scenario.present_at_start() == {0}
    assert scenario.presence() == [[(0, 4), (9, math.inf)], [(3, 7)]]


def test_a_made_scenario_has_the_load_and_spreads_asked_for():
    scenario = generate_scenario(4000, 50, load=0.7, seed=2, work_spread=0.5, speed_spread=0.3)
    assert scenario.load == pytest.approx(0.7)
    assert describe(scenario.matrix).consistent_pairs == 1
    log_work = np.log(scenario.matrix.times[:, 0])
    assert np.std(log_work) == pytest.approx(0.5, rel=0.1)
    gaps = np.diff(scenario.submit)
    assert np.std(gaps) == pytest.approx(np.mean(gaps), rel=0.1)
    again = generate_scenario(4000, 50, load=0.7, seed=2, work_spread=0.5, speed_spread=0.3)
    assert (again.submit == scenario.submit).all()


def test_noise_makes_it_inconsistent():
    assert describe(generate_scenario(200, 5, inconsistency=1.0).matrix).consistency < 0.9


def test_one_job_can_be_made():
    assert generate_scenario(1, 1).jobs == 1


def test_machines_that_leave_come_back_in_the_end():
    events = generate_scenario(500, 8, up_seconds=2000, down_seconds=500).events
    assert events
    last = {event.machine: event.joins for event in events}
    assert all(last.values())
    assert list(events) == churn(
        8, generate_scenario(500, 8).submit[-1], up_seconds=2000, down_seconds=500
    )


def test_a_log_becomes_work_for_machines():
    log = Workload(submit=[100, 130], runtime=[10, 20], walltime=[10, 20], cores=[4, 1], id=[7, 8])
    scenario = scenario_from_log(log, [1, 2], machine_names=("slow", "fast"))
    assert scenario.submit.tolist() == [0, 30]
    assert scenario.matrix.times.tolist() == [[40, 20], [20, 10]]
    assert scenario.matrix.job_names == ("7", "8")
    assert scenario_from_log(log, [1, 2], work="seconds").matrix.times[0].tolist() == [10, 5]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Scenario([0], MATRIX), "one time from 0 up for each of its 2 jobs"),
        (lambda: Scenario([0, -1], MATRIX), "one time from 0 up"),
        (lambda: Scenario([0, 1], EtcMatrix([[1], [1]], [3])), "has ready times"),
        (lambda: Scenario([0, 1], MATRIX, [MachineEvent(1, 2, False)]), "numbered 0 to 1"),
        (lambda: Scenario([0, 1], MATRIX, [MachineEvent(-1, 0, False)]), "times begin at 0"),
        (
            lambda: Scenario([0, 1], MATRIX, [MachineEvent(t, 0, False) for t in (1, 2)]),
            "leaves at second 2 after it left at 1",
        ),
        (
            lambda: Scenario([0, 1], MATRIX, [MachineEvent(1, 0, False), MachineEvent(1, 0, True)]),
            "at different times",
        ),
        (lambda: generate_scenario(0), "the number of jobs is 0"),
        (lambda: generate_scenario(load=0), "the load is 0"),
        (lambda: generate_scenario(work_spread=-1), "work_spread is -1"),
        (lambda: generate_scenario(inconsistency=-1), "inconsistency is -1"),
        (lambda: generate_scenario(up_seconds=0), "up_seconds is 0"),
        (
            lambda: scenario_from_log(Workload([0], [1], [1], [1]), [1], work="x"),
            "Choose from: core",
        ),
        (lambda: scenario_from_log(Workload([], [], [], []), [1]), "has no jobs"),
        (lambda: scenario_from_log(Workload([0], [1], [1], [1]), [0]), "has mips 0"),
    ],
)
def test_what_cannot_be_is_refused(call, sentence):
    with pytest.raises(QueuesmithError, match=sentence):
        call()


def test_events_are_read_from_a_table(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("time,machine,event\n5,b,leave\n7.5,b,join\n")
    events = read_machine_events(path, ("a", "b"))
    assert events == [MachineEvent(5, 1, False), MachineEvent(7.5, 1, True)]


@pytest.mark.parametrize("line", ["x,b,leave", "5,c,leave", "5,b,goes", "5,b", "5"])
def test_a_bad_event_is_refused(tmp_path, line):
    path = tmp_path / "events.csv"
    path.write_text(f"time,machine,event\n{line}\n")
    with pytest.raises(WorkloadError, match="line 2 of"):
        read_machine_events(path, ("a", "b"))


def test_usage_errors_are_told_apart():
    with pytest.raises(UsageError):
        generate_scenario(machines=0)

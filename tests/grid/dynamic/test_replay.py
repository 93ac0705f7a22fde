import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import QueuesmithError, ScheduleError, UsageError, WorkloadError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.dynamic.generate import generate_scenario, scenario_from_log
from queuesmith.grid.dynamic.machine_events import MachineEvent, churn
from queuesmith.grid.dynamic.measures import (
    finished,
    lost_seconds,
    present_utilization,
    replay_facts,
    restarts,
    scenario_of,
    write_attempts,
)
from queuesmith.grid.dynamic.replay import IMMEDIATE, Trigger, compare_dynamic, replay_grid
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.mapping import machine_of, mapped
from queuesmith.grid.heuristics.heuristics import HEURISTICS, map_by_heuristic
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.verify import verify
from queuesmith.workload.files import read

inf = float("inf")


def leave(time, machine):
    return MachineEvent(time, machine, False)


def join(time, machine):
    return MachineEvent(time, machine, True)


# -- when jobs are mapped --------------------------------------------------------------------------


def test_waiting_jobs_are_mapped_at_every_interval():
    scenario = Scenario([0, 3, 10, 11], EtcMatrix([[1.0]] * 4))
    result = replay_grid(scenario, "min-min", trigger=Trigger(seconds=10))
    assert result.start.tolist() == [0, 10, 11, 20]
    assert result.response.tolist() == [1, 8, 2, 10]
    assert result.facts["decisions"] == 3


def test_waiting_jobs_are_mapped_after_so_many_arrivals_and_at_the_last():
    scenario = Scenario([0, 3, 10, 11, 40], EtcMatrix([[1.0]] * 5))
    result = replay_grid(scenario, "min-min", trigger=Trigger(jobs=2))
    assert result.start.tolist() == [3, 4, 11, 12, 40]


def test_both_rules_may_be_given():
    scenario = Scenario([1, 2, 3, 33], EtcMatrix([[1.0]] * 4))
    result = replay_grid(scenario, "min-min", trigger=Trigger(seconds=10, jobs=3))
    assert result.start.tolist() == [3, 4, 5, 33]  # no further job is to come: at once


def test_a_job_at_once_does_not_wait_and_does_not_move():
    # Job 1 is promised machine 0; job 2 would have made a better pair with it.
    times = [[10, 30], [10, 30], [1, 30]]
    scenario = Scenario([0, 1, 2], EtcMatrix(times))
    result = replay_grid(scenario, "mct-at-once")
    assert machine_of(result).tolist() == [0, 0, 0]
    assert result.start.tolist() == [0, 10, 20]
    again = replay_grid(scenario, "mct", trigger=Trigger(jobs=1))
    assert again.start.tolist() == [0, 11, 10]  # planned jobs are mapped again: short first
    assert IMMEDIATE.keep_planned


def test_jobs_that_started_stay():
    scenario = Scenario([0, 1], EtcMatrix([[10, 30], [5, 30]]))
    result = replay_grid(scenario, "min-min", trigger=Trigger(jobs=1))
    assert result.start.tolist() == [0, 10]
    assert restarts(result).tolist() == [0, 0]


# -- machines that come and go ---------------------------------------------------------------------


def test_jobs_of_a_machine_that_leaves_begin_anew_elsewhere():
    scenario = Scenario([0, 0], EtcMatrix([[10, 12], [10, 90]]), [leave(4, 0), join(50, 0)])
    result = replay_grid(scenario, "mct-at-once")
    # Job 0 ran for 4 seconds; job 1 was planned behind it.
    lost = result.parts.select(np.array([True, False]))
    assert (lost.start.tolist(), lost.end.tolist()) == ([0, 4], [4, 16])
    assert lost.place.tolist() == [0, 1]
    assert finished(result).tolist() == [False, True, True]
    assert machine_of(result).tolist() == [1, 1]
    assert result.start.tolist() == [4, 16]
    assert restarts(result).tolist() == [1, 0]
    assert lost_seconds(result) == 4


def test_in_batch_mode_they_wait_for_the_next_mapping():
    scenario = Scenario([0], EtcMatrix([[10, 12]]), [leave(4, 0)])
    result = replay_grid(scenario, "min-min", trigger=Trigger(seconds=10))
    assert result.start.tolist() == [10]
    assert machine_of(result).tolist() == [1]


def test_a_job_that_ends_as_its_machine_leaves_has_finished():
    result = replay_grid(Scenario([0], EtcMatrix([[10]]), [leave(10, 0)]), "mct-at-once")
    assert result.end.tolist() == [10]


@pytest.mark.parametrize("method", ["mct-at-once", "min-min"])
@pytest.mark.parametrize("trigger", [Trigger(seconds=7), Trigger(jobs=3)])
def test_jobs_wait_for_a_machine_that_can_run_them(method, trigger):
    scenario = Scenario([0, 0], EtcMatrix([[10, inf], [inf, 5]]), [join(20, 1)])
    result = replay_grid(scenario, method, trigger=trigger)
    expected = 21 if method == "min-min" and trigger.seconds else 20
    assert result.start.tolist() == [0, expected]


def test_jobs_that_no_machine_will_ever_run_are_an_error():
    scenario = Scenario([0, 1], EtcMatrix([[10, 10], [5, 5]]), [leave(3, 0), leave(4, 1)])
    with pytest.raises(WorkloadError, match="waits from second 4 on for a machine that can run it"):
        replay_grid(scenario, "mct-at-once")


def test_a_machine_that_joins_is_used():
    scenario = Scenario([0, 0, 0], EtcMatrix([[10, 10]] * 3), [join(5, 1)])
    result = replay_grid(scenario, "min-min", trigger=Trigger(seconds=5))
    assert result.start.tolist() == [0, 5, 10]
    assert sorted(machine_of(result).tolist()) == [0, 0, 1]


@given(
    st.integers(1, 25),
    st.integers(1, 5),
    st.integers(0, 999),
    st.sampled_from([Trigger(seconds=50.0), Trigger(jobs=4), Trigger(seconds=300.0, jobs=2)]),
    st.sampled_from([*HEURISTICS, "mct-at-once", "met-at-once"]),
)
@settings(max_examples=80, deadline=None)
def test_nothing_is_lost_whatever_comes_and_goes(jobs, machines, seed, trigger, method):
    scenario = generate_scenario(
        jobs, machines, seed=seed, load=1.2, inconsistency=0.5, up_seconds=900, down_seconds=300
    )
    events = churn(machines, 9000, up_seconds=900, down_seconds=300, seed=seed)
    times = np.where(
        np.random.default_rng(seed).random(scenario.matrix.times.shape) < 0.2,
        np.inf,
        scenario.matrix.times,
    )
    times[:, 0] = scenario.matrix.times[:, 0]
    stormy = Scenario(scenario.submit, EtcMatrix(times), events)
    result = replay_grid(stormy, method, trigger=trigger)  # verifies itself
    assert finished(result).sum() == jobs
    assert (result.response > 0).all()
    assert restarts(result).sum() == len(result.parts) - jobs
    assert 0 < present_utilization(result) <= 1 + 1e-9


def test_with_all_jobs_at_once_it_is_the_static_problem():
    matrix = generate_scenario(60, 6, inconsistency=0.5).matrix
    for name in HEURISTICS:
        dynamic = replay_grid(Scenario(np.zeros(60), matrix), name)
        static = map_by_heuristic(matrix, name)
        assert dynamic.end == pytest.approx(static.end)
        for metric in ("makespan", "flowtime", "fitness", "load_balance"):
            assert dynamic.value(metric) == pytest.approx(static.value(metric))


# -- methods ---------------------------------------------------------------------------------------


def test_any_function_can_map():
    seen = []

    def to_the_last(matrix):
        seen.append(matrix.ready.tolist())
        return np.full(matrix.jobs, matrix.machines - 1)

    scenario = Scenario([0, 2], EtcMatrix([[10, 10], [10, 10]]))
    result = replay_grid(scenario, to_the_last, trigger=Trigger(jobs=1))
    assert result.policy == "to_the_last"
    assert machine_of(result).tolist() == [1, 1]
    assert seen == [[0, 0], [0, 8]]
    assert result.seconds is not None
    assert result.seconds > 0


def test_a_function_that_maps_wrongly_is_refused():
    with pytest.raises(ScheduleError, match="puts job 0 on machine 9"):
        replay_grid(Scenario([0], EtcMatrix([[1, 1]])), lambda matrix: np.array([9]))


@pytest.mark.parametrize("name", ["best", "best-at-once"])
def test_an_unknown_method_is_named(name):
    with pytest.raises(UsageError, match=f"no heuristic '{name}'"):
        replay_grid(Scenario([0], EtcMatrix([[1]])), name)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "it is not said when"),
        ({"seconds": 0}, "the interval is 0"),
        ({"jobs": 0}, "the number of jobs is 0"),
        ({"jobs": 1.5}, "the number of jobs is 1.5"),
    ],
)
def test_a_trigger_must_make_sense(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        Trigger(**options)


def test_methods_are_compared_over_load():
    scenario = generate_scenario(200, 6, inconsistency=0.3)
    found = compare_dynamic(
        scenario,
        {"MCT": "mct-at-once", "Min-Min": "min-min", "mine": lambda m: m.times.argmin(axis=1)},
        loads=(0.4, 0.9),
        trigger=Trigger(seconds=30),
    )
    rows = [replay_facts(schedule) for schedule in found]
    assert [(round(row["load"], 6), row["method"]) for row in rows] == [
        (load, name) for load in (0.4, 0.9) for name in ("MCT", "Min-Min", "mine")
    ]
    responses = [row["mean_response"] for row in rows]
    assert all(low < high for low, high in zip(responses[:3], responses[3:], strict=True))
    assert len(compare_dynamic(scenario, ["olb", "met"])) == 2


def test_attempts_are_written(tmp_path):
    scenario = Scenario([0], EtcMatrix([[10, 12]]), [leave(4, 0)])
    write_attempts(replay_grid(scenario, "mct-at-once"), tmp_path / "attempts.csv")
    assert (tmp_path / "attempts.csv").read_text() == (
        "job,machine,submit,start,end,finished\n0,0,0.0,0.0,4.0,no\n0,1,0.0,4.0,16.0,yes\n"
    )


# -- the check -------------------------------------------------------------------------------------

TWO = Scenario([0, 5], EtcMatrix([[10, 20], [10, 20]]), [leave(40, 1)])
# Job, machine, start, end.
GOOD = [(0, 0, 0.0, 10.0), (1, 0, 10.0, 20.0)]


def forged(attempts, end=None):
    """A schedule of the two jobs that nobody has checked."""
    job, place, start, stop = (np.array(column) for column in zip(*attempts, strict=True))
    last = np.zeros(2)
    np.maximum.at(last, job, stop)
    begin = np.zeros(2)
    begin[job] = start
    pieces = Pieces(job, start, stop, np.ones_like(job), place)
    ends = last if end is None else np.array(end)
    return Schedule(
        TWO.workload,
        TWO,
        np.minimum(begin, ends),
        "forged",
        seconds=0.0,
        own_end=ends,
        own_submit=TWO.submit,
        pieces=pieces,
        facts={"decisions": 1},
    )


@pytest.mark.parametrize(
    ("attempts", "end", "sentence"),
    [
        (GOOD[:1], [10.0, 20.0], "1 job does not run each of its cores once; the first is job 1"),
        ([*GOOD, (1, 1, 20.0, 40.0)], None, "job 1 .* breaks off .* does not leave then"),
        ([*GOOD, (1, 1, 30.0, 40.0)], [10.0, 20.0], "begins anew although the job has finished"),
        ([GOOD[0], (1, 0, 9.0, 19.0)], None, "2 cores are busy at 9.0 on '0', which has 1"),
        ([GOOD[0], (1, 1, 4.0, 24.0)], None, "starts before it arrives"),
        ([GOOD[0], (1, 1, 30.0, 50.0)], None, "while that machine is not there"),
        ([GOOD[0], (1, 0, 10.0, 21.0)], None, "takes another time than its 10 s"),
        ([*GOOD, (1, 1, 5.0, 9.0)], None, "does not leave then"),
        ([GOOD[0], (1, 1, 6.0, 40.0), (1, 0, 40.0, 50.0)], None, "does not leave then"),
        ([GOOD[0], (1, 9, 10.0, 20.0)], None, "on machine 9, but there are 2"),
    ],
)
def test_what_cannot_have_happened_is_found_out(attempts, end, sentence):
    with pytest.raises(ScheduleError, match=sentence):
        verify(forged(attempts, end))


def test_what_can_have_happened_is_returned():
    good = forged(GOOD)
    assert verify(good) is good
    assert good.makespan == 20
    assert replay_facts(good)["utilization"] == 0.5


def test_jobs_may_be_listed_in_any_order():
    scenario = Scenario([5.5, 0.25], EtcMatrix([[10, 90], [3, 90]], job_names=("late", "early")))
    result = replay_grid(scenario, "mct-at-once")
    assert result.workload.id.tolist() == [1, 0]  # a workload is in the order of arrival
    assert result.submit.tolist() == [0.25, 5.5]
    assert result.end.tolist() == [3.25, 15.5]


def test_a_schedule_of_a_grid_that_stands_still_has_no_arrivals():
    with pytest.raises(ScheduleError, match="no machine joins or leaves"):
        scenario_of(mapped(EtcMatrix([[1]]), [0], "hand"))


def test_errors_share_a_root():
    with pytest.raises(QueuesmithError):
        replay_grid(TWO, "nothing")


@pytest.mark.data
def test_a_real_log_is_replayed(data):
    log = read(data / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz").head(1000)
    scenario = scenario_from_log(log, np.linspace(5, 20, 8)).with_load(0.8)
    result = replay_grid(scenario, "sufferage", trigger=Trigger(seconds=600))
    assert len(result) == 1000


def test_what_is_compiled_before_the_first_decision_is_not_time_spent_deciding(monkeypatch):
    calls = []

    def slow_at_first(matrix, order):
        if not calls:
            time.sleep(2)
        calls.append(matrix.jobs)
        return np.zeros(matrix.jobs, np.int64)

    monkeypatch.setitem(HEURISTICS, "slow-at-first", slow_at_first)
    found = replay_grid(generate_scenario(3, 2), "slow-at-first")
    assert found.seconds < 2
    assert found.facts["decisions"] == len(calls) - 1

"""The names of ``queuesmith``, called with what a notebook may hold instead: one sentence each."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import queuesmith as qs
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.race import Race
from queuesmith.study.engines import LocalEngine
from queuesmith.testing import check_policy

JOBS = qs.Workload(submit=[0, 5], runtime=[9, 9], walltime=[9, 9], cores=[1, 2], machine_cores=2)


@pytest.mark.parametrize(
    "call",
    [
        qs.simulate,
        qs.simulate_many,
        qs.compare,
        qs.tune,
        qs.fidelity,
        qs.history,
        lambda log: qs.simulate(log, cores=4),
        lambda log: qs.scale(log, 2, 4),
        lambda log: qs.write(log, "out.swf"),
        lambda log: qs.Schedule(log, qs.Cluster(2), np.zeros(2, np.int64), "mine"),
    ],
)
@pytest.mark.parametrize("log", ["kth.swf", Path("kth.swf"), None, [1, 2], JOBS.to_frame()])
def test_what_is_no_log_is_told_how_to_become_one(call, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(qs.QueuesmithError, match=r"the log is .* kind Workload. Read a file with"):
        call(log)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("cores", ["abc", "256", None, [4], 2.5, float("nan"), float("inf"), True])
def test_a_number_of_cores_is_a_whole_number(cores):
    with pytest.raises(qs.QueuesmithError, match="a number of cores is whole"):
        qs.Cluster(cores)


@pytest.mark.parametrize("workers", [float("nan"), 2.5, "2", 0])
def test_workers_are_a_whole_number(workers):
    with pytest.raises(qs.QueuesmithError, match=r"workers is .* whole number of at least 1"):
        qs.simulate_many(JOBS, policies=["fcfs"], workers=workers)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: qs.verify(JOBS), "the schedule is of the kind Workload, but"),
        (lambda: qs.map_jobs(np.ones((2, 2))), r"EtcMatrix\(times\)"),
        (lambda: qs.Objective("mean_wait", bound="10"), "is '10', but it must be above 0"),
        (lambda: qs.compare(JOBS, warm_up="0.1"), "the warm-up is '0.1'"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", level="x"), "the level is 'x'"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", resamples=2.5), "2.5 resamples"),
        (lambda: qs.confidence(qs.simulate(JOBS), "mean_wait", seed="a"), "the seed is 'a'"),
        (lambda: qs.from_frame(JOBS.to_frame(), cores=-1), "cores is -1"),
    ],
)
def test_a_wrong_kind_gets_one_sentence(call, sentence):
    with pytest.raises(qs.QueuesmithError, match=sentence):
        call()


def test_a_table_of_pandas_is_the_way_to_a_log():
    frame = pd.DataFrame({"submit": [0, 5], "runtime": [9, 9], "cores": [1, 2]})
    assert qs.simulate(qs.from_frame(frame, cores=2)).start.tolist() == [0, 9]


@pytest.mark.parametrize(
    "wrong", [{"workloads": 0}, {"workloads": "a"}, {"jobs": 0}, {"jobs": -1}, {"seed": -1}]
)
def test_a_policy_is_not_said_to_be_right_on_no_workloads(wrong):
    with pytest.raises(qs.QueuesmithError, match="must be a whole number of at least"):
        check_policy("fcfs", **wrong)


SCHEDULE = qs.Schedule(JOBS, qs.Cluster(2), np.array([0, 9]), "mine")


@pytest.mark.parametrize("wrong", [None, 3, [1], {"seed": 1}, JOBS.to_frame(), object()])
@pytest.mark.parametrize(
    ("call", "thing"),
    [
        (qs.read, "a file or folder is"),
        (qs.read_study, "a file or folder is"),
        (qs.machine_from, "a file or folder is"),
        (lambda path: qs.write(JOBS, path), "a file or folder is"),
        (qs.describe, "the log is"),
        (qs.knapsack, "the log is"),
        (lambda log: qs.with_constraints(log, qs.Cluster(2)), "the log is"),
        (lambda log: qs.Snapshot(0, log, np.array([0]), np.array([2]), 2), "the log is"),
        (lambda schedule: qs.confidence(schedule, "mean_wait"), "the schedule is"),
        (lambda schedule: qs.Fidelity(schedule, SCHEDULE), "the history is"),
        (lambda schedule: qs.Fidelity(SCHEDULE, schedule), "the replay is"),
        (lambda each: qs.Comparison((each,)), "one of the schedules is"),
        (lambda each: qs.Federation([each]), "one of the clusters is"),
        (lambda page: qs.write_report(page, "page.html"), "the comparison is"),
        (qs.solve, "the snapshot is"),
        (lambda engine: qs.run_bags([], engine, "folder"), "the engine is"),
        (lambda study: qs.run_study(study, None, "folder"), "the study is"),
        (lambda place: qs.place(place, None), "the federation is"),
    ],
)
def test_a_wrong_kind_is_named_with_what_it_must_be(call, thing, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        qs.QueuesmithError, match=rf"^{thing} .*, but it must be (of the kind|a text)"
    ):
        call(wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 3, "fcfs", qs.Cluster(2)])
@pytest.mark.parametrize(
    ("call", "thing"),
    [
        (lambda policies: qs.compare(JOBS, policies=policies), "policies is"),
        (lambda policies: qs.simulate_many(JOBS, policies=policies), "policies is"),
        (lambda metrics: qs.compare(JOBS, metrics=metrics), "metrics is"),
        (lambda schedules: qs.Comparison(schedules), "schedules is"),
        (lambda bags: qs.run_bags(bags, LocalEngine(1), "folder"), "bags is"),
    ],
)
def test_what_is_no_list_is_told(call, thing, wrong):
    with pytest.raises(qs.QueuesmithError, match=rf"^{thing} .*, but it must be a list"):
        call(wrong)


@pytest.mark.parametrize("times", ["abc", None, Path("grid.csv"), JOBS, [[1, "x"]], {}])
def test_a_matrix_is_made_of_numbers(times):
    with pytest.raises(qs.QueuesmithError, match=r"instance 'etc' has|cannot be read as numbers"):
        qs.EtcMatrix(times)


@pytest.mark.parametrize(
    "options", [{"seed": 1}, "ga", 0, [], {}], ids=["table", "text", "0", "list", "empty"]
)
def test_options_are_objects_of_their_own(options):
    with pytest.raises(qs.QueuesmithError, match=r"options is .* of the kind MapOptions"):
        qs.map_jobs(qs.EtcMatrix([[1, 2]]), "min-min", options)


@pytest.mark.parametrize(
    "call",
    [
        lambda: qs.lublin(10**30, 4),
        lambda: qs.bag_of_tasks(10**30, 256),
        lambda: qs.lublin(10, 4, users=10**30),
        lambda: Race(generations=10**30),
        lambda: Pittsburgh(generations=10**30),
    ],
)
def test_a_number_beyond_all_bounds_is_refused(call):
    with pytest.raises(qs.QueuesmithError, match="but it must be at most"):
        call()


def test_what_numpy_and_paths_hold_is_taken(tmp_path):
    path = tmp_path / "log.swf"
    qs.write(JOBS, path)
    log = qs.read(path)
    assert len(qs.lublin(np.int64(5), np.int32(4), seed=np.int64(1))) == 5
    found = qs.compare(log, policies=np.array(["fcfs", "sjf"]), metrics=("mean_wait",))
    assert found.policies == ("fcfs", "sjf")


STEP = qs.Snapshot.make(
    now=0, cores=2, staircase=[(0, 1), (60, 2)], submit=[0, 0], walltime=[60, 30], width=[2, 1]
)


@pytest.mark.parametrize("wrong", ["bar", 0, "", [print], np.array([1, 2])])
@pytest.mark.parametrize(
    "call",
    [
        lambda told: qs.simulate_many(JOBS, progress=told),
        lambda told: qs.compare(JOBS, progress=told),
        lambda told: qs.tune(JOBS, progress=told),
        lambda told: qs.roll(JOBS, progress=told),
        lambda told: qs.pareto_front(JOBS, progress=told),
        lambda told: qs.sweep(JOBS, progress=told),
        lambda told: qs.retune(JOBS, progress=told),
        lambda told: qs.gap([STEP], progress=told),
        lambda told: qs.map_jobs(qs.EtcMatrix([[1, 2]]), progress=told),
    ],
)
def test_what_is_told_the_progress_is_a_function(call, wrong):
    with pytest.raises(qs.QueuesmithError, match=r"^progress is .*, but it must be a function"):
        call(wrong)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: qs.sweep(JOBS, ranges=0.5), "ranges is 0.5, but it must be a list"),
        (lambda: qs.sweep(JOBS, ranges=[1, 2, 3]), "one of the ranges is 1"),
        (lambda: qs.sweep(JOBS, ranges=["0:1:1"]), "has 1 range, but there are 3 knobs"),
        (lambda: qs.retune(JOBS, ranges=[]), "has 0 ranges, but there are 3 knobs"),
        (lambda: qs.retune(JOBS, objective=None), "the objective is None"),
        (lambda: qs.retune(JOBS, initial=0), "initial is 0, but .* of the kind Knobs"),
        (lambda: qs.retune(JOBS, every=1e-9), "the time between turns is 1e-09"),
        (lambda: qs.roll(JOBS.head(0)), "has 0.0 days, but 3 origins"),
        (lambda: qs.roll(JOBS, days=1e-300), "the number of days is 1e-300"),
        (lambda: qs.gap(None), "steps is None, but it must be a list"),
        (lambda: qs.gap([JOBS]), "one of the steps is of the kind Workload"),
        (lambda: qs.gap([STEP], policies=[]), "there are no policies"),
        (lambda: qs.solve(STEP, policies=[]), "there are no policies"),
        (lambda: JOBS.replaced(extra=[1, 2]), "extra is .* must be a dictionary"),
        (lambda: JOBS.replaced(extra={"weight": 1}), "'weight' has 0 dimensions"),
        (lambda: JOBS.replaced(extra={"weight": [[1], [1, 2]]}), "'weight' has 2 dimensions"),
        (lambda: JOBS.replaced(extra={3: [1, 2]}), "one of the names in extra is 3"),
        (lambda: JOBS.replaced(labels=["ann"]), "labels is .* must be a dictionary"),
        (lambda: JOBS.replaced(labels={"user": "ann"}), "labels of 'user' is 'ann'"),
        (lambda: JOBS.replaced(submit=[[1], [1, 2]]), "'submit' has 2 dimensions"),
        (lambda: JOBS.replaced(header=3), "header is 3, but it must be a list"),
        (lambda: JOBS.replaced(changes=["late"]), "one of the changes is 'late'"),
        (lambda: qs.Order(lambda job, power=1.0: power, "own", [2]), "parameters is .* dictionary"),
        (lambda: qs.Policy(qs.Order(lambda job: 1.0, "own"), ["easy"]), "no backfill"),
        (lambda: qs.Cluster(2, qos_priority=3), "qos_priority is 3, but it must be a dictionary"),
        (lambda: qs.Cluster(2, qos_priority={"long": "x"}), "qos_priority of 'long' is x"),
        (lambda: qs.lublin(5, 8, parameters=3), "parameters are 3 with"),
        (lambda: replace(SCHEDULE, start=[[1], [1, 2]]), "has 0 values of 'start'"),
        (lambda: qs.Fidelity(SCHEDULE, SCHEDULE, draws=3), "draws is 3, but it must be a list"),
        (lambda: qs.write_report(qs.Comparison([SCHEDULE]), "r", title=3), "the title is 3, but"),
        (lambda: replace(STEP, now=[0, 1]), "now is .*, but it must be between"),
        (lambda: replace(STEP, time=[[1], [1, 2]]), "the staircase's time must be"),
        (lambda: replace(STEP, jobs=STEP.jobs.replaced(extra={"weight": ["a", "b"]})), "weights"),
    ],
)
def test_what_is_of_another_shape_gets_one_sentence(call, sentence):
    with pytest.raises(qs.QueuesmithError, match=sentence):
        call()


@pytest.mark.parametrize("staircase", [None, 3, "abc", [], [1, 2], [(0, 1), (60,)], [(0, 1, 2)]])
def test_a_staircase_is_made_of_pairs(staircase):
    with pytest.raises(qs.QueuesmithError, match=r"the staircase .* Give it as pairs"):
        qs.Snapshot.make(now=0, cores=2, staircase=staircase, submit=[0], walltime=[60], width=[1])


def test_labels_and_lines_may_come_from_a_generator():
    names = JOBS.replaced(labels={"user": (name for name in ["ann"])}, header=iter(["a line"]))
    assert names.label("user", 0) == "ann"
    assert names.header == ("a line",)

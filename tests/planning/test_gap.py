"""How far policies are from the optimum, step by step."""

import csv

import pytest

from queuesmith.base.errors import PolicyError, QueuesmithError
from queuesmith.engine import simulate
from queuesmith.planning.gap import draw_gap, gap
from queuesmith.planning.plans import plan, plan_value
from queuesmith.planning.steps import snapshots
from queuesmith.policy.orders import ORDERS
from queuesmith.workload.files import read
from queuesmith.workload.synthetic import lublin
from tests.planning.twins import random_snapshot

KEYS = [
    "steps",
    "mean_jobs",
    "mean_loss_percent",
    "max_loss_percent",
    "mean_proven_gap_percent",
    "max_proven_gap_percent",
    "proven_optimal_percent",
    "mean_seconds",
]


@pytest.fixture(scope="module")
def study():
    return gap([random_snapshot(jobs, seed=jobs) for jobs in (3, 8, 16)], seconds=0.2)


def test_the_averages_have_their_names(study):
    assert list(study.to_dict()) == KEYS
    assert study.to_dict()["steps"] == 3
    assert study.to_dict()["mean_jobs"] == 9


def test_quality_and_loss_are_those_of_equation_7(study):
    for step in study.steps:
        assert step.quality == step.value / step.policy_value
        assert step.loss_percent == pytest.approx(100 * (1 - step.quality))
        assert 0 <= step.loss_percent < 100
        assert step.gap_percent >= 0
        assert step.power == 1 / step.seconds
        assert step.policy_power > 0


def test_the_rows_add_power_and_who_was_best(study):
    rows = dict(study.facts())
    assert set(KEYS) <= set(rows)
    assert rows["best_is_fcfs"] + rows["best_is_sjf"] + rows["best_is_ljf"] == 3


def test_telling_steps_come_once_each(study):
    told = study.telling(2)
    assert len({step.submission for step in told}) == len(told)
    assert told[0].loss_percent == study.to_dict()["max_loss_percent"]


def test_all_steps_are_written_as_csv(study, tmp_path):
    study.save(tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["jobs"]) for row in rows] == [3, 8, 16]


def test_the_figure_has_a_point_for_each_step(study):
    figure = draw_gap(study)
    assert [list(trace.x) for trace in figure.data] == [[3, 8, 16]] * 2


def test_the_steps_of_a_replay_have_no_negative_loss():
    schedule = simulate(lublin(200, 32, load=1.1, seed=1), cores=32, policy="fcfs+plan")
    found = gap(snapshots(schedule, steps=12, fewest=2), seconds=0.1, progress=lambda done: None)
    assert found.column("loss_percent").min() >= 0


def test_nothing_to_compare_gets_one_sentence():
    with pytest.raises(QueuesmithError, match="no steps to compare"):
        gap([])


@pytest.mark.data
def test_real_steps_are_solved_close_to_their_bound(data):
    log = read(data / "traces" / "CTC-SP2-1996-3.1-cln.swf.gz").head(4000)
    schedule = simulate(log, cores=430, policy="fcfs+plan")
    found = gap(snapshots(schedule, steps=5, fewest=9, most=40, seed=1), seconds=0.5)
    assert found.column("loss_percent").min() >= 0
    assert (found.column("lower_bound") > 0).all()
    assert (found.column("lower_bound") <= found.column("value")).all()


def test_the_policies_compared_are_those_that_are_named():
    orders = [ORDERS["saf"], ORDERS["wfp3"], ORDERS["power"].having(alpha=2)]
    snapshot = random_snapshot(8, seed=8)
    found = gap([snapshot], seconds=0.2, policies=orders)
    assert set(found.best_policies()) == {"saf", "wfp3", "power(alpha=2)"}
    best = min(plan_value(plan(snapshot, order), "artww") for order in orders)
    assert found.steps[0].policy_value == best
    assert "8 waiting jobs on average, the best of saf, wfp3, power(alpha=2) lo" in found.conclusion


def test_the_conclusion_names_a_single_policy_and_a_single_job_as_one():
    found = gap([random_snapshot(1, seed=1)], seconds=0.2, policies=[ORDERS["saf"]])
    assert found.conclusion.startswith("In 1 step with 1 waiting job on average, saf loses 0 % of")


@pytest.mark.parametrize("name", ["fcfs", "sjf", "ljf"])
def test_an_order_places_jobs_as_the_policy_of_its_name(name):
    for seed in range(5):
        snapshot = random_snapshot(12, seed=seed)
        assert plan(snapshot, ORDERS[name]).start.tolist() == plan(snapshot, name).start.tolist()


def test_an_order_that_looks_at_consumption_is_refused():
    with pytest.raises(PolicyError, match="does not know what users have consumed"):
        plan(random_snapshot(4, seed=1), ORDERS["multifactor"])

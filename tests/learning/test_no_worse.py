"""Learning that may not make some metrics worse."""

import dataclasses
import json
from itertools import pairwise

import pytest

from queuesmith import Objective, simulate
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.methods import make_method
from queuesmith.learning.verdict import Verdict
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.schedule.guard import Guard
from tests.learning.test_tune import OBJECTIVE, busy_log, tune

#: Strategies that improve the objective at the cost of utilization, and EASY, which does neither.
OFFERED = ("fcfs+easy", "group+easy+keep(share=0.4)", "group", "sjf+easy")
SMALL = {"generations": 2, "offspring": 4, "rules": 2}
METHODS = {
    "prob": {"participations": 2, "partition": {"utilization": (0.5,)}, "strategies": OFFERED},
    "pittsburgh": {**SMALL, "strategies": OFFERED},
    "coevolution": SMALL,
    "cma": {**SMALL, "strategies": OFFERED},
    "priority": {"generations": 3, "offspring": 4},
}
BASELINE = THIRTEEN[0]


@pytest.fixture(scope="module")
def log():
    return busy_log()


@pytest.fixture(scope="module")
def guarded(log):
    method = make_method("pittsburgh", **METHODS["pittsburgh"])
    return tune(log, cores=16, method=method, seed=1, no_worse="utilization:0.001")


def utilization(jobs, policy):
    return simulate(jobs, cores=16, policy=policy).value("utilization")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_up_nothing_on_the_jobs_it_learned_from(log, name):
    method = make_method(name, **METHODS[name])
    tuned = tune(log, cores=16, method=method, seed=1, no_worse=["utilization", "awrt[3]:40%"])
    jobs = tuned.learning.learned.workload
    assert utilization(jobs, tuned.policy) >= utilization(jobs, BASELINE) * (1 - 1e-9)
    assert all(each.kept for each in tuned.learning.no_worse)
    free = tune(log, cores=16, method=method, seed=1)
    assert not all(
        guard.shortfall(guard.objective(free.learning.learned), each.baseline) == 0
        for guard, each in zip(tuned.learning.guards, tuned.learning.no_worse, strict=True)
    ), "without guards it would have given something up"


def test_values_are_those_of_the_objective(guarded):
    again = simulate(guarded.learning.learned.workload, cores=16, policy=guarded.policy)
    assert guarded.learning.values["learned"].value == again.value(OBJECTIVE)
    assert guarded.history[-1].best == again.value(OBJECTIVE)
    steps = [step.best for step in guarded.history]
    assert all(later <= earlier for earlier, later in pairwise(steps))


def test_the_best_fixed_strategy_is_the_best_that_keeps_the_guard(guarded):
    jobs = guarded.learning.learned.workload
    least = 0.999 * utilization(jobs, BASELINE)
    fixed = [*(str(each) for each in THIRTEEN), *OFFERED]
    kept = [policy for policy in fixed if utilization(jobs, policy) >= least]
    worth = {policy: simulate(jobs, cores=16, policy=policy).value(OBJECTIVE) for policy in fixed}
    assert guarded.best_fixed == min(kept, key=worth.__getitem__)
    assert worth[guarded.best_fixed] > min(worth.values())
    assert guarded.held_out.best_fixed.policy == guarded.best_fixed


def test_json_tells_for_both_parts_whether_it_is_kept(guarded):
    found = json.loads(json.dumps(guarded.to_dict()))
    for part, verdict in ((found, guarded.learning), (found["held_out"], guarded.held_out)):
        (told,) = part["no_worse"]
        assert told["metric"] == "utilization"
        assert told["tolerance"] == 0.001
        for name, schedule in verdict.schedules.items():
            assert told[name] == schedule.value("utilization")
        assert told["limit"] == pytest.approx(0.999 * told["baseline"])
        assert told["kept"] == (told["learned"] >= told["limit"])
    assert found["no_worse"][0]["kept"]


def test_without_guards_nothing_is_told(log):
    tuned = tune(log, cores=16, method=make_method("pittsburgh", **SMALL))
    assert tuned.to_dict()["no_worse"] == tuned.to_dict()["held_out"]["no_worse"] == []
    assert tuned.no_worse_sentences() == []


def test_a_sentence_says_where_it_is_kept_and_where_not(log):
    method = make_method("priority", **METHODS["priority"])
    tuned = tune(log, cores=16, method=method, seed=1, no_worse=["awrt[3]:90%"])
    (sentence,) = tuned.no_worse_sentences()
    assert sentence.startswith(
        "awrt[3], at most 90 % worse than under fcfs+easy: kept on the jobs learned from ("
    )
    held_out = tuned.held_out.no_worse[0]
    assert f"{'' if held_out.kept else 'not '}kept on jobs not seen (" in sentence


def test_a_guard_that_fails_on_jobs_not_seen_says_by_how_much(guarded):
    worse = simulate(guarded.held_out.learned.workload, cores=16, policy="group")
    seen, easy, fixed = guarded.learning, guarded.held_out.baseline, guarded.held_out.best_fixed
    verdict = Verdict(seen.objective, worse, easy, fixed, guards=seen.guards)
    (sentence,) = dataclasses.replace(guarded, held_out=verdict).no_worse_sentences()
    assert "kept on the jobs learned from" in sentence
    assert "not kept on jobs not seen" in sentence
    assert sentence.endswith(" % worse).")
    assert not verdict.no_worse[0].kept


def test_where_no_judged_policy_keeps_the_guard_the_best_fixed_one_is_the_result(log):
    method = Pittsburgh(**SMALL, strategies=("wide", "narrow"), seeded=0)
    tuned = tune(log, cores=16, method=method, no_worse="utilization")
    assert str(tuned.policy) == tuned.best_fixed
    assert [step.best for step in tuned.history] == [None] * 3
    assert [step.mean for step in tuned.history] == [None] * 3
    assert tuned.learning.no_worse[0].kept
    assert "No policy that the learner had judged keeps this" in tuned.no_worse_sentences()[-1]
    assert json.loads(json.dumps(tuned.to_dict()))["history"][0]["best"] is None


def test_the_table_has_a_column_for_each_guard(guarded):
    table = guarded.to_frame()
    assert table["utilization"].tolist() == [
        schedule.value("utilization")
        for verdict in (guarded.learning, guarded.held_out)
        for schedule in verdict.schedules.values()
    ]


def test_a_record_belongs_to_its_guards(log, tmp_path):
    store = tmp_path / "run.sqlite"
    options = {"cores": 16, "method": make_method("pittsburgh", **SMALL), "store": store}
    guards = ["utilization", "awrt[3]:0.9"]
    first = tune(log, **options, no_worse=guards)
    again = tune(log, **options, no_worse=guards[::-1])
    assert again.policy.to_dict() == first.policy.to_dict()
    assert again.history == first.history
    for other in ((), "utilization", ["utilization:0.1", guards[1]]):
        with pytest.raises(UsageError, match="the metrics that may get no worse changed since"):
            tune(log, **options, no_worse=other)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_nothing(log, guarded, workers):
    method = make_method("pittsburgh", **METHODS["pittsburgh"])
    options = {"cores": 16, "method": method, "seed": 1, "workers": workers}
    other = tune(log, **options, no_worse=[Guard("utilization", 0.001)])
    assert other.policy.to_dict() == guarded.policy.to_dict()
    assert other.history == guarded.history


def test_the_bound_of_the_objective_counts_for_guards_too(log):
    wanted = Objective(OBJECTIVE, bound=3600)
    method = make_method("pittsburgh", **SMALL)
    tuned = tune(log, cores=16, objective=wanted, method=method, no_worse="p95_bounded_slowdown")
    known = tuned.learning.no_worse[0].baseline
    assert known == Objective("p95_bounded_slowdown", bound=3600)(tuned.learning.baseline)


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ("luck", MetricError, "there is no metric 'luck'"),
        ("utilization:-0.1", UsageError, "is -0.1, but it must be a share"),
        (OBJECTIVE, MetricError, "is an expression"),
        ("awrt[9]", MetricError, r"no-worse 'awrt\[9\]' cannot be computed for the learning part"),
    ],
)
def test_a_wrong_guard_is_told_before_anything_is_replayed(log, wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        tune(log, cores=16, no_worse=wrong)

"""Learning from a log, and what is known about the result."""

import dataclasses
import json
import signal
import sqlite3
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from queuesmith import Cluster, Objective, Policy, Workload, read, simulate, verify, write
from queuesmith.base.errors import MetricError, UsageError, WorkloadError
from queuesmith.learning import tune as tune_for
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.methods import PAPER_METHODS, make_method
from queuesmith.learning.priority import Priority
from queuesmith.learning.probability import Probability
from queuesmith.learning.tune import rank_fixed
from queuesmith.policy import RuleBase, load_policy
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.study import evaluate
from queuesmith.study.evaluate import Evaluator
from queuesmith.study.judgement import GIVEN_UP

OBJECTIVE = "10*awrt[1] + 4*awrt[2]"
tune = partial(tune_for, objective=OBJECTIVE, longest_wait=None)
SMALL = Pittsburgh(generations=2, parents=2, offspring=4, rules=3)


def busy_log(count=300, seed=0):
    """Jobs of two groups over four weeks that keep 16 cores busy."""
    chance = np.random.default_rng(seed)
    runtime = chance.integers(3600, 12 * 3600, count)
    return Workload(
        np.sort(chance.integers(0, 28 * 86_400, count)),
        runtime,
        2 * runtime,
        chance.integers(1, 16, count),
        user=chance.integers(0, 6, count),
        group=chance.integers(1, 4, count),
        name="busy",
    )


@pytest.fixture(scope="module")
def log():
    return busy_log()


@pytest.fixture(scope="module")
def tuned(log):
    return tune(log, cores=16, method=SMALL, seed=1)


def test_the_result_says_what_the_policy_is_worth_on_both_parts(log, tuned):
    first, rest = tuned.learning, tuned.held_out
    border = log.submit[0] + 0.7 * log.span
    assert (first.learned.workload.submit < border).all()
    assert (rest.learned.workload.submit >= border).all()
    assert len(first.learned) + len(rest.learned) == len(log)
    for verdict in (first, rest):
        for schedule in verdict.schedules.values():
            verify(schedule)
        again = simulate(verdict.learned.workload, cores=16, policy=tuned.policy)
        assert verdict.values["learned"].value == again.value(OBJECTIVE)
        assert verdict.baseline.policy == "fcfs+easy"


def test_the_best_fixed_strategy_is_chosen_on_the_jobs_learned_from(tuned):
    jobs = tuned.learning.learned.workload
    values = [simulate(jobs, cores=16, policy=each).value(OBJECTIVE) for each in THIRTEEN]
    assert tuned.best_fixed == str(THIRTEEN[int(np.argmin(values))])
    assert tuned.learning.values["best_fixed"].value == min(values)
    assert tuned.held_out.best_fixed.policy == tuned.best_fixed


def test_a_seeded_learner_is_never_worse_than_the_best_fixed_strategy(tuned):
    assert tuned.improvement_percent["best_fixed"] >= 0
    assert tuned.history[-1].best == tuned.learning.values["learned"].value


def test_improvement_is_measured_against_both(tuned):
    values = {part: interval.value for part, interval in tuned.held_out.values.items()}
    for part in ("baseline", "best_fixed"):
        wanted = 100 * (values[part] - values["learned"]) / values[part]
        assert tuned.held_out.improvement_percent[part] == pytest.approx(wanted)


def test_json_has_what_the_command_promises(tuned):
    found = json.loads(json.dumps(tuned.to_dict()))
    promised = {"method", "objective", "baseline", "best_fixed", "improvement_percent", "held_out"}
    assert promised | {"evaluations", "seconds"} <= set(found)
    assert set(found["improvement_percent"]) == {"baseline", "best_fixed"}
    assert found["baseline"]["name"] == "fcfs+easy"
    assert promised - {"method", "objective", "held_out"} <= set(found["held_out"])
    assert found["evaluations"] == SMALL.evaluations == 10
    assert found["held_out"]["learned"]["low"] <= found["held_out"]["learned"]["high"]
    assert len(found["history"]) == SMALL.rounds


def test_the_table_has_a_row_for_each_policy_on_each_part(tuned):
    assert tuned.to_frame()["jobs"].tolist() == ["learned on"] * 3 + ["held out"] * 3
    assert "fcfs+easy" in tuned.to_frame()["policy"][0]
    assert "better than EASY by" in repr(tuned)
    assert "<table" in tuned._repr_html_()


def test_policy_and_result_can_be_saved(tuned, tmp_path):
    tuned.policy.save(tmp_path / "policy.json")
    tuned.save(tmp_path / "result.json")
    loaded = load_policy(tmp_path / "policy.json")
    assert loaded.to_dict() == tuned.policy.to_dict()
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["policy"] == tuned.policy.to_dict()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_nothing(log, tuned, workers):
    other = tune(log, cores=16, method=SMALL, seed=1, workers=workers)
    assert other.policy.to_dict() == tuned.policy.to_dict()
    assert other.history == tuned.history


def test_all_of_the_log_may_be_learned_from(log):
    tuned = tune(log, Cluster(16), method=SMALL, split=None)
    assert tuned.held_out is None
    assert tuned.to_dict()["held_out"] is None
    assert tuned.to_dict()["split"] is None
    assert len(tuned.learning.learned) == len(log)


@pytest.mark.parametrize(
    "method",
    [
        Probability(participations=1, partition={"utilization": (0.5,)}),
        Priority(generations=2, offspring=3),
        make_method("cca", generations=1, offspring=3, rules=2),
        make_method("cma", generations=1, offspring=3, rules=2),
    ],
    ids=lambda method: method.name,
)
def test_every_method_learns_from_a_log(log, method):
    tuned = tune(log.head(120), cores=16, method=method, seed=2)
    assert tuned.method == method.name
    assert tuned.evaluations == method.evaluations
    assert tuned.learning.values["learned"].value > 0


def test_higher_is_better_where_the_objective_says_so(log):
    tuned = tune(log, cores=16, objective="utilization", method=SMALL, split=None)
    values = tuned.learning.values
    assert values["learned"].value >= values["best_fixed"].value >= values["baseline"].value
    assert tuned.improvement_percent["baseline"] >= 0
    assert tuned.history[-1].best == values["learned"].value


def test_other_strategies_can_be_offered(log):
    method = Pittsburgh(generations=1, offspring=3, rules=2, strategies=("ljf", "wide+easy"))
    tuned = tune(log, cores=16, method=method)
    assert {str(each) for each in tuned.policy.strategies} == {"ljf", "wide+easy"}


def test_a_record_of_another_log_is_refused(log, tmp_path):
    store = tmp_path / "run.sqlite"
    tune(log, cores=16, method=SMALL, store=store)
    tune(log, cores=16, method=SMALL, store=store)
    for other in ({"seed": 1}, {"objective": Objective("awrt")}, {"cores": 32}, {"split": 0.6}):
        with pytest.raises(UsageError, match="the record of another run"):
            tune(log, **{"cores": 16, "method": SMALL, "store": store, **other})


def test_an_order_that_was_edited_begins_no_stale_answer(log, tmp_path, monkeypatch):
    """A repeated command answered from the record of the old function, with exit code 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text("def mine(job, now):\n    return -job.walltime\n")
    method = Pittsburgh(generations=1, offspring=3, rules=2, strategies=("my.py:mine+easy",))
    options = {"cores": 16, "method": method, "store": tmp_path / "run.sqlite"}
    tune(log, **options)
    tune(log, **options)
    (tmp_path / "my.py").write_text("def mine(job, now):\n    return job.walltime\n")
    with pytest.raises(UsageError, match=r"the order my\.py:mine changed since .* Begin anew"):
        tune(log, **options)


def test_priorities_that_were_changed_begin_no_stale_answer(log, tmp_path):
    options = {"method": SMALL, "store": tmp_path / "run.sqlite"}
    tune(log, Cluster(16), **options)
    for kind in ("partition", "qos"):
        changed = Cluster(16, **{f"{kind}_priority": {"high": 5}})
        with pytest.raises(UsageError, match=f"the {kind} priority changed since"):
            tune(log, changed, **options)


SCRIPT = """
import sys, time
from queuesmith import read
from queuesmith.learning import tune
from queuesmith.learning.evolution import Pittsburgh

def report(state):
    print(state.round, flush=True)
    if state.round == 3:
        time.sleep(600)  # until it is killed

method = Pittsburgh(generations=9, parents=2, offspring=4, rules=3)
options = {"cores": 16, "method": method, "split": None, "store": "run.sqlite"}
tune(read("log.csv"), None, "10*awrt[1] + 4*awrt[2]", **options, progress=report)
"""


def test_killed_and_resumed_it_gives_the_same(log, tmp_path):
    write(log.head(100), tmp_path / "log.csv")
    run = subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=tmp_path, stdout=subprocess.PIPE)
    assert [int(run.stdout.readline()) for _ in range(3)] == [1, 2, 3]
    run.send_signal(signal.SIGKILL)
    run.communicate()
    with sqlite3.connect(tmp_path / "run.sqlite") as record:
        (recorded,) = record.execute("SELECT count(*) FROM record").fetchone()
    record.close()
    assert recorded == 3

    method = Pittsburgh(generations=9, parents=2, offspring=4, rules=3)
    jobs = read(tmp_path / "log.csv")
    heard = []
    options = {"cores": 16, "method": method, "split": None, "progress": heard.append}
    options |= {"longest_wait": 2.0}  # as the script has it by default
    resumed = tune(jobs, **options, store=tmp_path / "run.sqlite")
    assert [state.rate is None for state in heard] == [True] * recorded + [False] * (10 - recorded)
    fresh = tune(jobs, **options)
    assert resumed.policy.to_dict() == fresh.policy.to_dict()
    assert resumed.history == fresh.history


# -- what is wrong is told before anything is replayed -------------------------------------------


def test_an_objective_for_a_group_without_jobs_is_refused(log):
    with pytest.raises(MetricError, match="group 5 has no jobs"):
        tune(log, cores=16, objective="awrt[5]", method=SMALL)


def test_an_objective_without_a_metric_is_refused(log):
    with pytest.raises(MetricError, match="objective '5' names no metric"):
        tune(log, cores=16, objective="5", method=SMALL)


def test_a_log_shorter_than_the_split_is_refused(log):
    with pytest.raises(WorkloadError, match="leaves none on one side"):
        tune(log.head(1), cores=16, method=SMALL)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"method": "magic"}, "there is no method 'magic'"),
        ({"method": "pits"}, "Did you mean 'pitts'"),
        ({"method": 5}, "the method is 5"),
        ({"seed": -1}, "the seed is -1"),
        ({"split": 2}, "the split is 2"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_a_wrong_call_gets_one_sentence(log, wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        tune(log, **{"cores": 16, "method": SMALL, **wrong})


def test_methods_have_the_papers_names_too():
    assert make_method("PITTS").name == "pittsburgh"
    assert {make_method(name).name for name in PAPER_METHODS} == {
        "prob",
        "pittsburgh",
        "coevolution",
    }
    with pytest.raises(UsageError, match="no parameter of method 'prob' called 'rules'"):
        make_method("prob", rules=3)


@pytest.mark.parametrize("wrong", [1, "fcfs", ("fcfs", 1)])
def test_a_list_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match=r"orders of method 'dynp' is .* a list of texts"):
        make_method("dynp", orders=wrong)


def test_by_default_the_mean_wait_is_learned_for_and_nobody_starves(log):
    tuned = tune_for(log, cores=16, method=SMALL, seed=1)
    assert str(tuned.objective) == "mean_wait"
    assert tuned.learning.starving.factor == 2
    assert tuned.learning.starved == {}
    assert "no group's longest or 99 % wait above 2 times fcfs+easy's" in tuned.goal


def test_nobody_starves_whatever_is_learned_for_unless_one_asks_for_it(log):
    guarded = tune_for(log, cores=16, objective=OBJECTIVE, method=SMALL, seed=1)
    assert guarded.learning.starving.factor == 2
    free = tune(log, cores=16, method=SMALL, seed=1)
    assert free.learning.starving is None
    assert free.learning.waits["learned"].keys() == free.learning.waits["baseline"].keys()


def test_a_policy_under_which_somebody_starves_is_not_admitted(log):
    free = tune(log, cores=16, objective="awrt[1]", method=SMALL, seed=1)
    assert max(free.learning.longest_waits["learned"].values()) > 0
    bound = tune_for(log, cores=16, objective="awrt[1]", method=SMALL, seed=1, longest_wait=1)
    limits = bound.learning.starving.limits(bound.learning.longest_waits["baseline"])
    for group, wait in bound.learning.longest_waits["learned"].items():
        assert wait <= limits[group] * (1 + 1e-9)


def test_the_conclusion_says_what_it_is_worth_on_jobs_not_seen(tuned, log):
    gain = tuned.held_out.improvement_percent["baseline"]
    assert f"{abs(gain):.1f} % {'better' if gain >= 0 else 'worse'}" in tuned.conclusion
    assert "On jobs it did not see" in tuned.conclusion
    alone = tune(log, cores=16, method=SMALL, split=None)
    assert "Nothing shows what it is worth on others" in alone.conclusion


def test_a_learned_policy_that_equals_a_fixed_one_is_not_called_better(tuned):
    same = dataclasses.replace(tuned.held_out, learned=tuned.held_out.best_fixed)
    text = dataclasses.replace(tuned, held_out=same).conclusion
    assert f"and no better than {tuned.best_fixed}, the best fixed strategy" in text
    assert f"{tuned.best_fixed} needs no learning and does as well" in text


def test_where_nobody_waits_the_learned_policy_is_no_better():
    idle = Workload([0, 100_000], [10, 10], [10, 10], [1, 1], name="idle")
    tuned = tune_for(idle, cores=16, method=SMALL)
    assert "the learned policy is no better than fcfs+easy" in tuned.conclusion
    assert "Do not use it" in tuned.conclusion


def test_the_goal_says_that_waits_of_a_day_are_always_admitted(log):
    tuned = tune_for(log, cores=16, method=SMALL, seed=1, longest_wait=1)
    assert tuned.goal.endswith("above 1 times fcfs+easy's, waits of up to a day apart")


def test_where_nothing_judged_keeps_the_limit_of_waits_that_is_said():
    jobs = busy_log(600)
    method = Pittsburgh(
        generations=1, parents=2, offspring=4, rules=3, strategies=("wide", "ljf"), fallback=False
    )
    tuned = tune_for(jobs, cores=16, method=method, longest_wait=1)
    assert tuned.history[-1].best is None
    assert tuned.no_worse_sentences() == [
        "No policy that the learner had judged keeps the limit of the longest waits, so the result "
        f"is the best fixed strategy that does: {tuned.policy}."
    ]


@pytest.mark.parametrize("method", ["pittsburgh", "coevolution", "prob", "cma"])
def test_fixed_strategies_are_judged_as_rule_bases_with_the_same_starts(method):
    jobs, chosen = busy_log(), make_method(method)
    for strategy in chosen.offered[:2]:
        played = chosen.played(strategy)
        assert isinstance(played, RuleBase)
        alone = simulate(jobs, cores=16, policy=strategy)
        assert simulate(jobs, cores=16, policy=played).start.tolist() == alone.start.tolist()
    assert chosen.played(Policy.parse("wide+list")) == Policy.parse("wide+list")


def test_a_fixed_strategy_is_ranked_even_where_rule_bases_are_given_up(monkeypatch):
    jobs = busy_log()
    with Evaluator(jobs, Cluster(16), Objective(OBJECTIVE)) as judge:
        wanted = rank_fixed(judge.judged, THIRTEEN)
        monkeypatch.setattr(evaluate, "PATIENCE", 0.0)
        monkeypatch.setattr(evaluate, "SOON_DONE", 0.0)
        played = make_method("pittsburgh").played
        assert GIVEN_UP in judge.judged([played(strategy) for strategy in THIRTEEN])
        assert rank_fixed(judge.judged, THIRTEEN, played) == wanted


def test_the_best_fixed_strategy_keeps_its_name():
    tuned = tune(busy_log(), cores=16, method=SMALL, split=None)
    fixed = tuned.learning.best_fixed
    assert fixed.policy in {str(strategy) for strategy in THIRTEEN}
    assert fixed.decisions is None
    alone = simulate(busy_log(), cores=16, policy=fixed.policy)
    assert fixed.start.tolist() == alone.start.tolist()

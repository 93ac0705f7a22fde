"""Policies that choose on the command line: what they decided, and advance reservations."""

import csv
import itertools
import json
import re

import numpy as np
import pytest

from queuesmith.policy import RuleBase, RuleBasePair
from queuesmith.policy.features import FEATURES, SEVEN
from queuesmith.policy.rules import FuzzyRules
from queuesmith.policy.self_tuning import DECIDERS, PLAN_METRICS

DYNP = "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)"


@pytest.fixture
def rules_file(tmp_path):
    """A rule base of four rules, saved."""
    rng = np.random.default_rng(1)
    rules = FuzzyRules(rng.random((4, 7)), np.full((4, 7), 0.3), rng.choice([-5, 0, 5], (4, 13)))
    RuleBase(rules, name="my rules").save(tmp_path / "rules.json")
    return "rules.json"


@pytest.fixture
def requests_file(tmp_path):
    """Two requests that can be met and one that cannot."""
    text = "id,submit,begin,end,cores\n1,0,0,60,64\n2,10,3600,7200,32\n3,11,3600,7200,64\n"
    (tmp_path / "requests.csv").write_text(text)
    return "requests.csv"


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


# -- self-tuning -----------------------------------------------------------------------------------


def test_simulate_tells_how_often_each_policy_was_active(run, log):
    outcome = run("simulate", log, "--policy", DYNP, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    summary = json.loads(outcome.out)
    decisions = summary["decisions"]
    assert summary["policy"] == DYNP
    assert set(decisions["by_policy"]) == set(decisions["active_seconds"]) == {"fcfs", "sjf", "ljf"}
    assert sum(decisions["by_policy"].values()) == decisions["steps"] > 100
    assert decisions["max_waiting"] >= decisions["mean_waiting"] >= 1
    assert "reservations" not in summary


def test_simulate_tells_the_same_as_a_table_and_as_csv(run, log):
    decisions = json.loads(run("simulate", log, "--policy", DYNP, "--format", "json").out)[
        "decisions"
    ]
    table = run("simulate", log, "--policy", DYNP).out
    assert re.search(rf"by_policy\[sjf\] +{decisions['by_policy']['sjf']}\b", table)
    text = run("simulate", log, "--policy", DYNP, "--format", "csv").out
    values = {row["metric"]: row["value"] for row in csv.DictReader(text.splitlines())}
    assert values["switches"] == str(decisions["switches"])
    assert values["active_seconds[fcfs]"] == str(decisions["active_seconds"]["fcfs"])


def test_every_switch_is_written_with_its_cause(run, log, tmp_path):
    words = ["--policy", DYNP, "--switches", "switches.csv", "--format", "json"]
    outcome = run("simulate", log, *words)
    assert outcome.err == "wrote switches.csv\n"
    rows = rows_of(tmp_path / "switches.csv")
    assert len(rows) == json.loads(outcome.out)["decisions"]["switches"] > 0
    assert list(rows[0]) == ["time", "from", "to", "waiting", "fcfs", "sjf", "ljf"]
    assert rows[0]["from"] == "fcfs"
    for before, after in itertools.pairwise(rows):
        assert before["to"] == after["from"] != after["to"]
    for row in rows:
        values = [float(row[name]) for name in ("fcfs", "sjf", "ljf")]
        assert float(row[row["to"]]) == min(values)
        assert float(row[row["from"]]) > min(values)


def test_policies_lists_the_planner_with_its_deciders_metrics_and_features(run):
    rows = json.loads(run("policies", "--format", "json").out)
    names = {}
    for row in rows:
        names.setdefault(row["kind"], []).append(row["name"])
    assert names["self-tuning"] == ["dynp"]
    assert names["decider"] == list(DECIDERS)
    assert names["plan metric"] == list(PLAN_METRICS)
    assert names["feature"] == list(FEATURES)
    assert all(row["meaning"] for row in rows)


# -- rule bases ------------------------------------------------------------------------------------


def test_simulate_tells_which_strategy_and_which_rule_decided(run, log, rules_file):
    outcome = run("simulate", log, "--policy", rules_file, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    summary = json.loads(outcome.out)
    decisions = summary["decisions"]
    assert summary["policy"] == "my rules"
    assert len(decisions["by_strategy"]) == 13
    assert sum(decisions["by_strategy"].values()) == decisions["decisions"] > 0
    assert [sum(counts) for counts in decisions["by_rule"]] == [decisions["decisions"]]
    table = run("simulate", log, "--policy", rules_file).out
    rule = int(np.argmax(decisions["by_rule"][0]))
    assert re.search(rf"by_rule\[rule {rule + 1}\] +{decisions['by_rule'][0][rule]}\b", table)


def test_the_two_parts_of_a_pair_are_told_apart(run, log, tmp_path):
    one = FuzzyRules(np.zeros((1, 7)), np.ones((1, 7)), [[1, 0, 0, 0]])
    RuleBasePair(one, one, SEVEN).save(tmp_path / "pair.json")
    table = run("simulate", log, "--policy", "pair.json").out
    assert re.search(r"by_rule\[order rule 1\] +\d", table)
    assert re.search(r"by_rule\[algorithm rule 1\] +\d", table)


# -- in comparisons and reports --------------------------------------------------------------------


def test_compare_takes_policies_that_choose(run, log, rules_file):
    words = ["--policies", f"fcfs+easy,{DYNP},{rules_file}", "--format", "json"]
    outcome = run("compare", log, *words)
    assert (outcome.code, outcome.err) == (0, "")
    policies = [row["policy"] for row in json.loads(outcome.out)["policies"]]
    assert policies == ["fcfs+easy", DYNP, "my rules"]


def test_a_report_shows_policies_that_choose(run, log, rules_file, tmp_path):
    words = ["--policies", f"fcfs+easy,{DYNP},{rules_file}", "--out", "report.html"]
    assert run("report", log, *words).code == 0
    page = (tmp_path / "report.html").read_text()
    assert DYNP in page
    assert "my rules" in page


def test_a_saved_self_tuning_policy_is_used_again(run, log):
    first = run("simulate", log, "--policy", DYNP, "--save-policy", "p.json", "--format", "json")
    again = run("simulate", log, "--policy", "p.json", "--format", "json")
    assert json.loads(first.out)["mean_wait"] == json.loads(again.out)["mean_wait"]
    assert json.loads(again.out)["policy"] == DYNP


# -- reservations ----------------------------------------------------------------------------------


def test_requests_are_answered_and_the_answers_written(run, log, requests_file, tmp_path):
    words = ["--policy", DYNP, "--reservations", requests_file, "--answers", "answers.csv"]
    outcome = run("simulate", log, *words, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "wrote answers.csv\n")
    told = json.loads(outcome.out)["reservations"]
    assert (told["requests"], told["accepted"], told["declined"]) == (3, 2, 1)
    assert told["max_answer_milliseconds"] >= told["mean_answer_milliseconds"] > 0
    assert [answer["accepted"] for answer in told["answers"]] == [True, True, False]
    assert told["answers"][2]["alternative"] == 7200
    rows = rows_of(tmp_path / "answers.csv")
    assert [row["accepted"] for row in rows] == ["1", "1", "0"]
    assert [row["alternative"] for row in rows] == ["", "", "7200"]


def test_an_order_with_plan_takes_reservations_too(run, log, requests_file):
    words = ["--policy", "fcfs+plan", "--reservations", requests_file]
    summary = json.loads(run("simulate", log, *words, "--format", "json").out)
    assert summary["reservations"]["accepted"] == 2
    assert "decisions" not in summary
    table = run("simulate", log, *words).out
    assert re.search(r"accepted +2\b", table)
    assert "answers" not in table


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--reservations requests.csv", 2, "policy 'fcfs+easy' does not plan, so it cannot take"),
        ("--answers a.csv", 2, "--answers is given, but no requests are. Give --reservations"),
        ("--switches s.csv", 2, "--switches is given, but policy 'fcfs+easy' does not switch"),
        ("--policy dynp --reservations none.csv", 1, "none.csv"),
        ("--policy dynp --switches nowhere/s.csv", 1, "nowhere"),
        ("--policy dynp --set alpha=1", 2, "has no parameter 'alpha' that could be set"),
    ],
)
def test_what_makes_no_sense_is_refused(run, log, requests_file, words, code, message):
    outcome = run("simulate", log, *words.split())
    assert outcome.code == code
    assert message in outcome.err
    assert outcome.err.startswith("error: ")
    assert outcome.out == ""

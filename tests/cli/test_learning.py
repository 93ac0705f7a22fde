"""``queuesmith tune`` and ``queuesmith explain``."""

import csv
import json

import pytest

from queuesmith.cli import main
from tests.cli.conftest import fits_a_terminal

RULES = ("--method", "pittsburgh", "--generations", "1", "--rules", "2")
QUICK = (*RULES, "--offspring", "3", "--quiet")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Four hundred jobs of the demo's users, so that groups 1 and 2 have jobs on both sides."""
    from queuesmith import demo_workload, write

    path = tmp_path_factory.mktemp("tune") / "jobs.swf"
    write(demo_workload().head(400), path)
    return path


@pytest.fixture(scope="module")
def policy(jobs, tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.json"
    assert main(["tune", str(jobs), "--cores", "256", *QUICK, "--out", str(path)]) == 0
    return path


def test_json_has_what_is_promised(run, jobs):
    outcome = run("tune", jobs, "--cores", "256", *QUICK, "--seed", "3", "--format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["method"] == "pittsburgh"
    assert (found["objective"], found["longest_wait"]) == ("mean_wait", 2.0)
    assert found["starved"] == {}
    assert found["baseline"]["name"] == "fcfs+easy"
    assert found["best_fixed"]["value"] <= found["baseline"]["value"]
    assert found["improvement_percent"]["best_fixed"] >= 0
    assert found["held_out"]["jobs"] + found["jobs"] == 400
    assert found["evaluations"] == 3 + 3
    assert found["seconds"] > 0


def test_without_a_method_rules_weights_and_head_starts_race(run, jobs):
    words = ("--generations", "2", "--offspring", "3", "--rules", "2", "--quiet")
    outcome = run("tune", jobs, "--cores", "256", *words, "--format", "json")
    found = json.loads(outcome.out)
    assert found["method"] == "race"
    assert found["improvement_percent"]["best_fixed"] >= 0
    assert found["evaluations"] == 1 + 3 + 2 * 3


def test_every_gain_has_the_waits_of_all_groups_beside_it(run, jobs):
    outcome = run("tune", jobs, "--cores", "256", *QUICK)
    assert "no group's longest or 99 % wait above 2 times" in outcome.said
    assert "in brackets its jobs that wait more than a week" in outcome.said
    assert "group 5" in outcome.said


@pytest.mark.parametrize("text", ["soon", "0.5", "-1"])
def test_a_factor_of_the_longest_wait_that_cannot_be_is_refused(run, jobs, text):
    outcome = run("tune", jobs, "--cores", "256", *QUICK, "--longest-wait", text)
    assert outcome.code == 2
    assert "1 or more" in outcome.err


def test_the_guard_can_be_taken_away(run, jobs):
    options = ("--longest-wait", "none", "--format", "json")
    found = json.loads(run("tune", jobs, "--cores", "256", *QUICK, *options).out)
    assert found["longest_wait"] is None
    assert found["waits"]["learned"].keys() == found["waits"]["baseline"].keys()


def test_roll_learns_again_each_month(run, jobs):
    words = ("roll", jobs, "--cores", "256", *QUICK, "--days", "0.25", "--origins", "1")
    outcome = run(*words, "--format", "json")
    assert outcome.code == 0, outcome.err
    (origin,) = json.loads(outcome.out)["origins"]
    assert origin["jobs judged"] == origin["next"]["jobs"]
    assert "999 origins of 0.25 days need more than 250" in run(*words[:-1], "999").err


def test_roll_says_what_was_learned_for_and_whether_it_was_worth_it(run, jobs):
    words = ("roll", jobs, "--cores", "256", *QUICK, "--days", "0.25", "--origins", "1")
    shown = run(*words).said
    assert "Learned for mean_wait" in shown
    found = json.loads(run(*words, "--format", "json").out)
    assert found["conclusion"] in shown
    assert found["fidelity"] is None


def test_a_report_can_be_written(run, jobs, tmp_path):
    page = tmp_path / "tuned.html"
    outcome = run("tune", jobs, "--cores", "256", *QUICK, "--report", page)
    assert outcome.code == 0, outcome.err
    assert "--report" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", ["prob", "cca", "cma", "priority", "head_start"])
def test_every_method_can_be_named(run, jobs, method):
    options = {
        "prob": ("--participations", "1"),
        "priority": ("--generations", "2", "--offspring", "3", "--backfills", "easy,none"),
        "head_start": ("--generations", "2", "--offspring", "3", "--most", "24"),
    }
    words = options.get(method, QUICK[:-1])
    outcome = run(
        "tune", jobs, "--cores", "256", "--method", method, *words, "--quiet", "--format", "json"
    )
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["evaluations"] > 0


def test_the_table_shows_both_parts_of_the_log(run, jobs):
    outcome = run("tune", jobs, "--cores", "256", *QUICK, "--format", "csv")
    rows = list(csv.DictReader(outcome.out.splitlines()))
    assert [row["jobs"] for row in rows] == ["learned on"] * 3 + ["held out"] * 3


@pytest.mark.usefixtures("narrow")
def test_the_table_fits_a_terminal_and_ends_in_what_came_out(run, jobs):
    outcome = run("tune", jobs, "--cores", "256", *QUICK)
    assert fits_a_terminal(outcome.out)
    words = outcome.said
    assert words.startswith("Learned for mean_wait, lower is better; no group's longest or")
    assert "On jobs it did not see, the learned policy is" in words
    assert outcome.out.count("\n learned on") == outcome.out.count("\n not seen") == 3


def test_where_history_is_known_tune_grades_and_refuses(run, jobs, tmp_path):
    from queuesmith import read, write

    log = read(jobs)
    late = log.replaced(extra={"real_start": log.submit + 86_400})
    write(late, tmp_path / "late.csv")
    words = ("tune", "late.csv", "--cores", "256", *QUICK)
    found = json.loads(run(*words, "--format", "json").out)
    assert found["fidelity"]["grade"] == "D"
    assert found["recommended"] is False
    assert found["conclusion"].startswith("No policy is recommended")
    assert "No policy is recommended" in run(*words, "--report", "page.html").said
    assert "No policy is recommended" in (tmp_path / "page.html").read_text()
    assert "On jobs it did not see" in run(*words, "--although-untrue").said


def test_metrics_that_must_get_no_worse_can_be_named(run, jobs):
    words = ("--no-worse", "utilization", "--no-worse", "awrt[1]:5%")
    outcome = run("tune", jobs, "--cores", "256", *QUICK, *words, "--format", "json")
    found = json.loads(outcome.out)
    for part in (found, found["held_out"]):
        assert [told["metric"] for told in part["no_worse"]] == ["utilization", "awrt[1]"]
    assert all(told["kept"] for told in found["no_worse"])
    table = run("tune", jobs, "--cores", "256", *QUICK, *words).said
    assert "utilization, no worse than under fcfs+easy: kept on the jobs learned from (" in table
    assert (
        "awrt[1], at most 5 % worse than under fcfs+easy: kept on the jobs learned from (" in table
    )
    outcome = run("tune", jobs, "--cores", "256", *QUICK, *words, "--format", "csv")
    rows = list(csv.DictReader(outcome.out.splitlines()))
    assert len(rows) == 6
    assert float(rows[2]["utilization"]) >= float(rows[0]["utilization"]) - 1e-9


def test_without_a_split_all_is_learned_from(run, jobs):
    words = ("--split", "none", "--format", "json")
    found = json.loads(run("tune", jobs, "--cores", "256", *QUICK, *words).out)
    assert found["held_out"] is None
    assert found["jobs"] == 400


def test_the_same_command_resumes_a_record_and_another_is_refused(run, jobs):
    words = ("tune", jobs, "--cores", "256", *QUICK, "--store", "run.sqlite")
    first = run(*words, "--format", "json")
    again = run(*words, "--format", "json")
    assert json.loads(first.out) == json.loads(again.out)
    outcome = run(*words, "--seed", "9")
    assert outcome.code == 2
    assert "the seed changed since it was begun, from 0 to 9. Begin anew" in outcome.err


def test_a_learned_policy_works_wherever_a_policy_works(run, jobs, policy):
    outcome = run("simulate", jobs, "--cores", "256", "--policy", policy, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["jobs"] == 400


def test_explain_says_what_the_rules_do(run, policy):
    outcome = run("explain", policy)
    assert outcome.code == 0
    assert "2 fuzzy rules over slowdown, utilization" in outcome.said
    assert outcome.out.count("\n  when ") + outcome.out.count("\n  in all states") == 2


def test_explain_reads_a_log_as_simulate_does(run, jobs, policy):
    how = ["--cores", "256", "--thresholds", "0.5,0.2", "--head", "150", "--format", "json"]
    told = run("explain", policy, jobs, *how, "--quiet")
    assert told.code == 0, told.err
    replayed = run("simulate", jobs, "--policy", policy, *how, "--quiet")
    counts = json.loads(replayed.out)["decisions"]["by_strategy"]
    assert json.loads(told.out)["chosen"] == {n: count for n, count in counts.items() if count}


def test_explain_replays_on_the_machine_that_simulate_does(run, jobs, policy, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("NodeName=n[1-16] CPUs=16\nPartitionName=all Nodes=ALL Default=YES State=UP\n")
    how = ["--machine", conf, "--head", "150", "--format", "json", "--quiet"]
    told = run("explain", policy, jobs, *how, "--smaller", "smaller.json")
    assert told.code == 0, told.err
    replayed = [
        json.loads(run("simulate", jobs, "--policy", each, *how).out)
        for each in (policy, "smaller.json")
    ]
    counts = replayed[0]["decisions"]["by_strategy"]
    assert json.loads(told.out)["chosen"] == {n: count for n, count in counts.items() if count}
    assert replayed[0]["mean_wait"] == replayed[1]["mean_wait"]


def test_explain_counts_over_a_log(run, jobs, policy):
    outcome = run("explain", policy, jobs, "--cores", "256", "--format", "json", "--quiet")
    found = json.loads(outcome.out)
    assert sum(sentence["count"] for sentence in found["sentences"]) == sum(
        found["chosen"].values()
    )
    table = run("explain", policy, jobs, "--cores", "256").out
    assert " %  " in table
    assert "chosen " in table
    rows = list(csv.DictReader(run("explain", policy, "--format", "csv").out.splitlines()))
    assert len(rows) == 2


def test_explain_tells_what_each_rule_chose_and_in_which_states(run, jobs, policy, tmp_path):
    smaller = tmp_path / "smaller.json"
    words = ("explain", policy, jobs, "--cores", "256")
    outcome = run(*words, "--smaller", smaller)
    assert outcome.code == 0, outcome.err
    found = json.loads(run(*words, "--format", "json", "--quiet").out)
    assert sum(rule["count"] for rule in found["decided"]) == sum(found["chosen"].values())
    for rule in found["decided"]:
        assert sum(rule["chosen"].values()) == rule["count"]
        assert 0 <= rule["state"]["utilization"] <= 1
    idle = found["never_decided"]["strategy"]
    assert len(idle) + len(found["decided"]) == 2
    assert f"rule {found['decided'][0]['rule']} chose" in outcome.said
    again = json.loads(run("explain", smaller, *words[2:], "--format", "json", "--quiet").out)
    assert again["chosen"] == found["chosen"]


def test_a_smaller_rule_base_needs_a_rule_base_and_a_log(run, jobs, policy):
    assert "has no log" in run("explain", policy, "--smaller", "x.json").err
    outcome = run("explain", "fcfs+easy", jobs, "--cores", "256", "--smaller", "x.json")
    assert (outcome.code, "is no rule base" in outcome.err) == (2, True)


def test_explain_takes_any_policy(run, log):
    assert run("simulate", log, "--policy", "sjf+easy", "--save-policy", "sjf.json").code == 0
    outcome = run("explain", "sjf.json", log)
    assert outcome.out.startswith("Policy 'sjf+easy':\n  always: short jobs first with EASY.\n")


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("fcfs+easy", "a job may overtake if it does not delay the first job's reservation"),
        ("wfp3", "jobs may change places while they wait"),
        ("power(alpha=2)+list", "parameters of the order: alpha = 2, "),
        ("dynp", "planned under fcfs, sjf, ljf, and the plans compared by sldwa"),
        ("slurm(bf_interval=60)", "the machine's slurm.conf, but with bf_interval = 60"),
    ],
)
def test_explain_takes_a_policy_as_one_writes_it(run, policy, told):
    outcome = run("explain", policy)
    assert outcome.code == 0, outcome.err
    assert told in outcome.out


@pytest.mark.parametrize(("policy", "meant"), [("fsfc+easy", "fcfs"), ("fcfs+eazy", "easy")])
def test_a_slip_in_a_policy_is_answered_with_what_was_meant(run, policy, meant):
    outcome = run("explain", policy)
    assert outcome.code == 2
    assert f"Did you mean '{meant}'?" in outcome.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "magic"], "there is no method 'magic'"),
        (["--method", "prob", "--rules", "3"], "no parameter of method 'prob' called 'rules'"),
        (["--method", "cma", "--policy", "power+easy"], "has a method of its own"),
        (["--split", "most"], "--split is 'most'"),
        (["--split", "3"], "the split is 3"),
        (["--objective", "awrt[9]"], "group 9 has no jobs"),
        (["--objective", "luck"], "there is no metric 'luck'"),
        (["--no-worse", "luck"], "there is no metric 'luck'"),
        (["--no-worse", "utilization:-1%"], "the tolerance of no-worse 'utilization' is -0.01"),
        (["--no-worse", "awrt - mean_wait"], "is an expression"),
        (["--no-worse", "awrt[9]"], "no-worse 'awrt[9]' cannot be computed for the learning part"),
        (["--no-worse", "awrt", "--no-worse", "awrt"], "no-worse names 'awrt' more than once"),
        (["--head", "1"], "leaves none on one side"),
        (["--generations", "-1"], "the number of generations is -1"),
        (["--features", "slowdown,luck"], "there is no feature 'luck'"),
        (["--strategies", "fcfs+conservative"], "fcfs+plan"),
        (["--strategies", "sjf+easy,dynp(fcfs,sjf)"], "dynp is a whole policy"),
        (["--workers", "0"], "workers is 0"),
        (["--seed", "-1"], "the seed is -1"),
        (["--out", "nowhere/policy.json"], "there is no folder"),
        (["--store", "nowhere/run.sqlite"], "there is no folder"),
    ],
)
def test_a_wrong_call_gets_one_sentence(run, jobs, words, sentence):
    outcome = run("tune", jobs, "--cores", "256", *words)
    assert outcome.code in (1, 2)
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert sentence in outcome.err


def spoiled(policy, **changes):
    content = json.loads(policy.read_text())
    for key, value in changes.items():
        content[key] = value(content[key])
    return json.dumps(content)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"features": lambda names: names[1:]}, "the rules look at 7 features, but 6 are named"),
        ({"features": lambda names: ["luck", *names[1:]]}, "there is no feature 'luck'"),
        ({"strategies": lambda names: names[1:]}, "the rules weigh 13 choices"),
        ({"rules": lambda rules: {**rules, "width": rules["width"][1:]}}, "Give one width"),
        ({"rules": lambda rules: {**rules, "weight": [[1], [1, 2]]}}, "no table of numbers"),
        ({"kind": lambda kind: "oracle"}, "which is not known"),
    ],
)
def test_a_wrong_rule_base_file_gets_one_sentence(run, policy, tmp_path, changes, sentence):
    (tmp_path / "spoiled.json").write_text(spoiled(policy, **changes))
    outcome = run("explain", "spoiled.json")
    assert outcome.code == 2
    assert outcome.err.startswith("error: policy file 'spoiled.json'")
    assert outcome.err.count("\n") == 1
    assert sentence in outcome.err


def test_progress_is_shown_where_somebody_watches(run, jobs, monkeypatch):
    from queuesmith.cli import learning as tuning

    monkeypatch.setattr(tuning, "on_terminal", lambda: True)
    outcome = run("tune", jobs, "--cores", "256", *QUICK[:-1], "--format", "json")
    assert outcome.code == 0
    json.loads(outcome.out)

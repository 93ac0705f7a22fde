"""Commands that replay a log: simulate, compare, report, and the lists they choose from."""

import csv
import html
import io
import json
import re

import numpy as np
import pytest

from queuesmith import Cluster, Schedule, read, verify
from queuesmith.policy import BACKFILLS, ORDERS
from queuesmith.schedule.metrics import METRICS
from tests.cli.conftest import fits_a_terminal

SIMULATED = ("jobs", "dropped", "makespan", "mean_wait", "mean_bounded_slowdown")
SIMULATED += ("utilization", "awrt", "seconds")
WIDE_FIRST = '''
def wide_first(job, now, width_power=1.0):
    """Wide jobs first, the more so the higher the power."""
    return job.cores ** width_power + (now - job.submit) / 3600
'''


def without_seconds(text: str) -> dict[str, object]:
    return {key: value for key, value in json.loads(text).items() if key != "seconds"}


# -- simulate ----------------------------------------------------------------------------------


def test_simulate_as_json_is_one_object_and_nothing_else(run, log):
    outcome = run(*f"simulate {log} --cores 64 --policy fcfs+easy --format json".split())
    assert (outcome.code, outcome.err) == (0, "")
    summary = json.loads(outcome.out)
    assert set(SIMULATED) <= set(summary)
    assert (summary["jobs"], summary["dropped"], summary["cores"]) == (200, 0, 64)
    assert summary["policy"] == "fcfs+easy"
    assert 0 < summary["utilization"] <= 1


def test_simulate_writes_the_schedule_of_every_job(run, log, tmp_path):
    outcome = run(*f"simulate {log} --cores 64 --schedule out.csv --format json".split())
    assert (outcome.code, outcome.err) == (0, "wrote out.csv\n")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "submit", "start", "end"]
    jobs = read(log)
    columns = {name: np.array([int(row[name]) for row in rows]) for name in rows[0]}
    assert np.array_equal(columns["id"], jobs.id)
    assert np.array_equal(columns["end"], columns["start"] + jobs.runtime)
    schedule = verify(Schedule(jobs, Cluster(64), columns["start"], "from the file"))
    assert schedule.value("mean_wait") == pytest.approx(json.loads(outcome.out)["mean_wait"])


def test_the_schedule_holds_jobs_that_do_not_count(run, log, tmp_path):
    words = f"simulate {log} --warm-up 0.3 --cool-down 0.2 --schedule all.csv --format json"
    counted = json.loads(run(*words.split()).out)["jobs"]
    assert 0 < counted < 200
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 201


def test_simulate_uses_the_machine_of_the_log_by_default(run, log):
    assert json.loads(run("simulate", log, "--format", "json").out)["cores"] == 64


def test_simulate_prints_a_table_with_a_row_for_each_group(run, log):
    outcome = run("simulate", log, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert re.search(r"mean_wait +[\d,.]+", outcome.out)
    assert re.search(r"awrt\[1\] +[\d,.]+", outcome.out)
    assert "{" not in outcome.out


def test_simulate_names_groups_as_objectives_do(run, tmp_path):
    path = tmp_path / "named.csv"
    path.write_text("submit,runtime,cores,group\n0,10,1,bio\n0,10,1,high energy\n0,10,1,\n")
    words = ("--objective", "awrt[bio]", "--quiet", "--cores", "4")
    out = run("simulate", path, *words).out
    assert [name in out for name in ("awrt[bio]", 'awrt["high energy"]', "awrt[none]")] == [
        True
    ] * 3


def test_simulate_as_csv_has_a_line_for_each_metric(run, log):
    rows = list(csv.reader(io.StringIO(run("simulate", log, "--format", "csv").out)))
    assert rows[0] == ["metric", "value"]
    values = dict(rows[1:])
    assert values["policy"] == "fcfs+easy"
    assert float(values["awrt[1]"]) > 0


def test_simulate_gives_the_value_of_an_objective(run, log):
    words = ["--objective", "10*awrt[1]+ 4*awrt[2]", "--format", "json"]
    summary = json.loads(run("simulate", log, *words).out)
    by_group = summary["awrt_by_group"]
    assert summary["objective"] == "10 * awrt[1] + 4 * awrt[2]"
    assert summary["value"] == pytest.approx(10 * by_group["1"] + 4 * by_group["2"])


def test_jobs_wider_than_the_machine_are_left_out_and_counted(run, log):
    outcome = run("simulate", log, "--cores", 16, "--format", "json")
    wide = int((read(log).cores > 16).sum())
    assert outcome.code == 0
    assert outcome.err == f"note: {wide} jobs left out: wider than the machine's 16 cores\n"
    summary = json.loads(outcome.out)
    assert (summary["jobs"], summary["dropped"]) == (200 - wide, wide)


def test_quiet_leaves_only_the_result(run, log):
    outcome = run("simulate", log, "--cores", 16, "--quiet", "--schedule", "s.csv")
    assert (outcome.code, outcome.err) == (0, "")


def test_the_same_command_twice_gives_the_same_files_and_figures(run, log, tmp_path):
    printed = []
    for name in ("one", "two"):
        words = f"--policy wfp3+conservative --schedule {name}.csv --save-policy {name}.json"
        printed.append(run("simulate", log, *words.split(), "--format", "json").out)
    assert without_seconds(printed[0]) == without_seconds(printed[1])
    for ending in ("csv", "json"):
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert one == two


# -- policies of the user ----------------------------------------------------------------------


def test_an_order_from_a_file_is_replayed_with_its_parameter_set(run, log, tmp_path):
    (tmp_path / "my.py").write_text(WIDE_FIRST)
    words = ["--policy", "my.py:wide_first+easy", "--format", "json"]
    plain = json.loads(run("simulate", log, *words).out)
    steep = json.loads(run("simulate", log, *words, "--set", "width_power=2").out)
    assert plain["policy"] == "my.py:wide_first+easy"
    assert steep["policy"] == "my.py:wide_first(width_power=2)+easy"
    assert plain["awrt"] != steep["awrt"]


def test_parameters_are_set_one_by_one_or_in_the_policy_itself(run, log):
    apart = run("simulate", log, *["--policy", "power+easy", "--set", "alpha=2", "--set", "beta=3"])
    inside = run("simulate", log, "--policy", "power(alpha=2,beta=3)+easy")
    assert apart.code == inside.code == 0
    assert "power(alpha=2,beta=3)+easy" in apart.out
    assert "power(alpha=2,beta=3)+easy" in inside.out


def test_a_saved_policy_is_used_again(run, log, tmp_path):
    words = "--policy power+conservative --set alpha=0.1 --save-policy p.json --format json"
    first = run("simulate", log, *words.split())
    assert first.err == "wrote p.json\n"
    saved = json.loads((tmp_path / "p.json").read_text())
    assert saved["order"] == "power"
    assert saved["backfill"] == "conservative"
    assert saved["parameters"]["alpha"] == 0.1
    again = run("simulate", log, "--policy", "p.json", "--format", "json")
    assert without_seconds(again.out) == without_seconds(first.out)


def test_a_saved_policy_of_a_file_is_used_again_and_changed(run, log, tmp_path):
    (tmp_path / "my.py").write_text(WIDE_FIRST)
    words = [
        "--policy",
        "my.py:wide_first+easy",
        "--set",
        "width_power=3",
        "--save-policy",
        "p.json",
        "-q",
    ]
    assert run("simulate", log, *words).code == 0
    words = ["--policy", "p.json", "--set", "width_power=2", "--format", "json"]
    policy = json.loads(run("simulate", log, *words).out)["policy"]
    assert policy == "my.py:wide_first(width_power=2)+easy"


# -- a slurm.conf ------------------------------------------------------------------------------


def starts(run, tmp_path, sacct, *words: str) -> dict[str, str]:
    """Replay the three jobs of four cores on four cores; return the start of each."""
    outcome = run("simulate", sacct, "--cores", 4, "-q", "--schedule", "s.csv", *words)
    assert outcome.code == 0, outcome.err
    with (tmp_path / "s.csv").open() as file:
        return {row["id"]: row["start"] for row in csv.DictReader(file)}


def test_partitions_of_a_slurm_conf_decide_who_is_first(run, sacct, tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "PriorityType=priority/multifactor\n"
        "PriorityWeightPartition=1000\n"
        "PartitionName=main PriorityJobFactor=10\n"
        "PartitionName=debug PriorityJobFactor=1\n"
    )
    policy = ("--policy", "multifactor")
    assert starts(run, tmp_path, sacct, "--policy", "fcfs") == {"1": "0", "2": "3600", "3": "7200"}
    conf = ("--slurm-conf", "slurm.conf")
    assert starts(run, tmp_path, sacct, *policy, *conf) == {"1": "0", "2": "7200", "3": "3600"}


def test_priorities_of_qualities_of_service_decide_who_is_first(run, sacct, tmp_path):
    (tmp_path / "slurm.conf").write_text("PriorityWeightQOS=1000\nPriorityWeightAge=1\n")
    words = ("--policy", "multifactor", "--slurm-conf", "slurm.conf", "--qos-priority")
    assert starts(run, tmp_path, sacct, *words, "high=100,normal=10")["3"] == "3600"
    assert starts(run, tmp_path, sacct, *words, "high=1,normal=10")["3"] == "7200"


def test_a_parameter_set_by_hand_overrides_the_slurm_conf(run, sacct, tmp_path):
    (tmp_path / "slurm.conf").write_text("PriorityWeightAge=7\nPriorityWeightQOS=5\n")
    words = "--cores 4 --policy multifactor --slurm-conf slurm.conf --set PriorityWeightAge=9"
    outcome = run("simulate", sacct, *words.split(), "--format", "json", "--save-policy", "p.json")
    assert outcome.code == 0
    parameters = json.loads((tmp_path / "p.json").read_text())["parameters"]
    assert parameters["PriorityWeightAge"] == 9
    assert parameters["PriorityWeightQOS"] == 5
    assert parameters["PriorityWeightFairshare"] == 0


# -- compare -----------------------------------------------------------------------------------


def test_compare_marks_the_best_of_each_metric(run, log, tmp_path):
    (tmp_path / "my.py").write_text(WIDE_FIRST)
    words = "--policies fcfs,fcfs+easy,sjf+easy,my.py:wide_first+easy --metrics mean_wait,awrt[1]"
    outcome = run("compare", log, "--cores", 64, *words.split())
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert "200 jobs on 64 cores" in lines[0]
    assert [line.split()[0] for line in lines[1:6]] == [
        *("policy", "fcfs", "fcfs+easy", "sjf+easy", "my.py:wide_first+easy")
    ]
    assert "mean_wait" in lines[1]
    assert "awrt[1]" in lines[1]
    assert outcome.out.count("★") >= 2


def test_compare_puts_what_really_happened_first(run, sacct):
    outcome = run("compare", sacct, "--cores", 4, "--metrics", "mean_wait", "--format", "csv")
    assert [line.split(",")[0] for line in outcome.out.splitlines()] == [
        *("policy", "history", "fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy")
    ]


def test_compare_in_all_formats_gives_the_same_values(run, log):
    words = ["compare", log, "--policies", "fcfs,sjf+easy", "--metrics", "mean_wait,utilization"]
    content = json.loads(run(*words, "--format", "json").out)
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").out)))
    assert content["jobs"] == 200
    assert content["best"] == {"mean_wait": "sjf+easy", "utilization": "sjf+easy"}
    for row, same in zip(rows, content["policies"], strict=True):
        assert row["policy"] == same["policy"]
        assert float(row["mean_wait"]) == same["mean_wait"]


def test_compare_agrees_with_simulate(run, log):
    words = ["compare", log, "--policies", "fcfs+easy", "--metrics", "awrt", "--format", "json"]
    compared = json.loads(run(*words).out)["policies"][0]["awrt"]
    assert compared == json.loads(run("simulate", log, "--format", "json").out)["awrt"]


def test_commas_within_policies_and_metrics_do_not_separate(run, log):
    words = ["--policies", "power(alpha=1,beta=2)+easy,fcfs", "--metrics", "max(awrt[1],awrt[2])"]
    content = json.loads(run("compare", log, *words, "--format", "json").out)
    policies = [row["policy"] for row in content["policies"]]
    assert policies == ["power(beta=2)+easy", "fcfs"]
    assert list(content["best"]) == ["max(awrt[1],awrt[2])"]


def test_compare_counts_only_the_middle_of_the_log(run, log):
    words = ["--warm-up", 0.2, "--cool-down", 0.2, "--format", "json"]
    compared = json.loads(run("compare", log, "--policies", "fcfs+easy", *words).out)
    simulated = json.loads(run("simulate", log, *words).out)
    assert compared["policies"][0]["mean_wait"] == pytest.approx(simulated["mean_wait"])
    assert simulated["jobs"] < compared["jobs"] == 200


def test_compare_notes_jobs_left_out_once(run, log):
    outcome = run("compare", log, "--cores", 16, "--policies", "fcfs,fcfs+easy,sjf")
    assert outcome.code == 0
    assert outcome.err.count("note: ") == outcome.err.count("\n") == 1


@pytest.mark.usefixtures("narrow")
def test_compare_fits_a_terminal_and_ends_in_what_came_out(run, log):
    policies = "fcfs,power(alpha=1.5,beta=2.5,gamma=0.25)+conservative(depth=1000),sjf+easy"
    outcome = run("compare", log, "--policies", policies)
    assert fits_a_terminal(outcome.out)
    words = outcome.said
    assert "power( alpha=1.5," in words.replace("power(", "power( ")
    assert "waits" in words and "than fcfs on average" in words
    assert "does not tell what really happened" in words


def test_where_history_is_known_compare_grades_and_refuses(run, sacct):
    words = ("compare", sacct, "--cores", 8, "--policies", "fcfs+easy,fcfs")
    text = run(*words).said
    assert "grade D" in text
    assert "No policy is recommended" in text
    found = json.loads(run(*words, "--format", "json").out)
    assert found["fidelity"]["grade"] == "D"
    assert found["recommended"] is None
    found = json.loads(run(*words, "--format", "json", "--although-untrue").out)
    assert found["recommended"] in ("fcfs", "fcfs+easy")


MACHINE = """
name = "little"

[[nodes]]
names = "n[1-2]"
cores = 2

[[partitions]]
name = "main"
nodes = "n[1-2]"
default = true

[[partitions]]
name = "debug"
nodes = "n[1-2]"
"""


def test_a_machine_of_nodes_is_replayed_and_graded(run, sacct, tmp_path):
    (tmp_path / "little.toml").write_text(MACHINE)
    words = ("--machine", "little.toml", "--format", "json")
    found = json.loads(run("simulate", sacct, "--policy", "slurm()", *words).out)
    assert found["cores"] == 4
    assert found["fidelity"]["policy"] == "slurm()"
    outcome = run("compare", sacct, "--policies", "slurm(),slurm(bf_interval=60)", *words)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["fidelity"]["policy"] == "slurm()"
    assert "machine little: 2 nodes, 4 cores" in outcome.err


def test_a_machine_and_a_number_of_cores_are_not_both_given(run, sacct):
    outcome = run("compare", sacct, "--machine", "infer", "--cores", 4)
    assert outcome.code == 2
    assert "--machine and --cores are both given" in outcome.err


def test_a_slurm_conf_with_nodes_says_how_many_cores_there_are(run, sacct, tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "NodeName=DEFAULT CPUs=2\nNodeName=n[1-4]\nPartitionName=main Nodes=ALL\n"
    )
    words = ("simulate", sacct, "--slurm-conf", "slurm.conf", "--format", "json")
    outcome = run(*words)
    assert json.loads(outcome.out)["cores"] == 8
    assert "which only multifactor looks at, not fcfs+easy" in outcome.err
    assert "only multifactor" not in run(*words, "--policy", "multifactor+plan").err
    assert json.loads(run(*words, "--cores", 4).out)["cores"] == 4


def test_jobs_are_chosen_by_a_condition(run, sacct):
    words = ("simulate", sacct, "--cores", 4, "--format", "json", "--where")
    assert json.loads(run(*words, "user == 'ann' and cores > 3").out)["jobs"] == 2
    refused = run(*words, "user == 'an'")
    assert refused.code == 2 and "Did you mean 'ann'" in refused.err
    assert "no job of 'real' meets the condition" in run(*words, "cores > 5").err


# -- report ------------------------------------------------------------------------------------


def test_a_report_is_one_page_that_fetches_nothing(run, log, tmp_path):
    words = ["--policies", "fcfs,sjf+easy", "--title", "A & B", "--out", "report.html"]
    outcome = run("report", log, *words)
    assert outcome == (0, "", "wrote report.html\n")
    page = (tmp_path / "report.html").read_text()
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "default-src 'none'" in markup
    assert not re.search(r"<(script|img|iframe)[^>]*\ssrc=|<link[^>]*href=\"(?!data:)", page[:9000])
    assert not re.search(r'(?:src|href)="(?!#|data:)', markup)
    assert "<title>A &amp; B</title>" in markup
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_report_shows_the_command_that_made_it(run, log, tmp_path):
    run("report", log, "--policies", "fcfs, sjf", "--out", "report.html")
    page = (tmp_path / "report.html").read_text()
    assert f"queuesmith report {log} --policies" in page
    assert "fcfs, sjf&#x27; --out report.html" in page


OWN_METRIC = """
def waiting_days(schedule):
    \"\"\"All waits together, in days.\"\"\"
    return schedule.wait.sum() / 86_400

def broken(schedule):
    return schedule.no_such_thing

def mean_wait(schedule):
    return 0
"""


def test_a_metric_of_ones_own_stands_in_the_table(run, log, tmp_path):
    (tmp_path / "mine.py").write_text(OWN_METRIC)
    words = ("compare", log, "--policies", "fcfs,fcfs+easy", "--format", "json", "--metrics")
    found = json.loads(run(*words, "mean_wait,mine.py:waiting_days").out)
    for row in found["policies"]:
        assert row["waiting_days"] == pytest.approx(row["mean_wait"] * 200 / 86_400)
    words = ("simulate", log, "--format", "json", "--objective", "mine.py:waiting_days")
    assert json.loads(run(*words).out)["value"] > 0


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        ("mine.py:nothing", "metric file 'mine.py' has no function 'nothing'"),
        ("yours.py:f", "metric file 'yours.py' does not exist"),
        ("mine.py:broken", "your metric 'broken' failed: AttributeError"),
        ("mine.py:mean_wait", "there is a metric 'mean_wait' already"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(run, log, tmp_path, metric, sentence):
    (tmp_path / "mine.py").write_text(OWN_METRIC)
    outcome = run("compare", log, "--policies", "fcfs", "--metrics", metric)
    assert outcome.code == 2
    assert sentence in outcome.err


def python_of(page: str) -> str:
    """Return the Python that a report prints."""
    blocks = re.findall(r"<pre><code>(import queuesmith.*?)</code></pre>", page, re.DOTALL)
    assert len(blocks) == 1
    return html.unescape(blocks[0])


def figures_of(page: str) -> str:
    """Return a page without how to reproduce it."""
    return re.sub(r'<section id="reproduce">.*?</section>', "", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    "words",
    [
        "--cores 4",
        "--cores 4 --groups partition --metrics mean_wait[main],max_wait --warm-up 0.1",
        "--cores 8 --where user=='ann' --overrun cut --timezone Europe/Berlin --title Ann",
        "--slurm-conf slurm.conf --policies multifactor+plan,saved.json --although-untrue",
        "--cores 4 --between 2024-03-01..2024-03-02 --head 2 --load-factor 2 --qos-priority high=2",
        "--machine little.toml --policies slurm(),slurm(bf_interval=60)",
        "--cores 4 --metrics mean_wait,mine.py:waiting_days",
    ],
)
def test_the_python_that_a_report_prints_makes_the_same_report(run, sacct, tmp_path, words):
    (tmp_path / "slurm.conf").write_text(
        "PriorityWeightAge=7\nNodeName=n[1-4] CPUs=2\nPartitionName=main PriorityJobFactor=3\n"
    )
    (tmp_path / "little.toml").write_text(MACHINE)
    (tmp_path / "mine.py").write_text(OWN_METRIC)
    assert run("simulate", sacct, "--cores", 4, "--save-policy", "saved.json").code == 0
    given = words.split()
    if "--policies" not in given:
        given += ["--policies", "saved.json,sjf+easy"]
    outcome = run("report", sacct, *given, "--out", "report.html")
    assert outcome.code == 0, outcome.err
    first = (tmp_path / "report.html").read_text()
    exec(python_of(first), {})
    assert figures_of((tmp_path / "report.html").read_text()) == figures_of(first)


def test_the_same_report_twice_is_the_same_file(run, log, tmp_path):
    pages = []
    for _ in range(2):
        assert run("report", log, "--policies", "fcfs,sjf", "--out", "report.html").code == 0
        pages.append((tmp_path / "report.html").read_bytes())
    assert pages[0] == pages[1]


# -- lists -------------------------------------------------------------------------------------


def test_policies_lists_every_order_and_backfill(run):
    rows = json.loads(run("policies", "--format", "json").out)
    assert [row["name"] for row in rows if row["kind"] == "order"] == list(ORDERS)
    assert [row["name"] for row in rows if row["kind"] == "backfill"] == list(BACKFILLS)
    assert all(row["meaning"] for row in rows)
    assert any("alpha=1" in row["parameters"] for row in rows)


def test_metrics_lists_every_metric_with_its_definition(run):
    rows = json.loads(run("metrics", "--format", "json").out)
    assert [row["name"] for row in rows] == list(METRICS)
    assert all(row["definition"] for row in rows)
    assert {row["better"] for row in rows} == {"lower", "higher"}


@pytest.mark.parametrize("command", ["policies", "metrics"])
def test_lists_are_printed_in_every_format(run, command):
    count = len(json.loads(run(command, "--format", "json").out))
    assert len(list(csv.reader(io.StringIO(run(command, "--format", "CSV").out)))) == count + 1
    table = run(command)
    assert table.code == 0
    assert len(table.out.splitlines()) > count


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_python_of_a_policy_file_is_run_once_it_is_trusted(
    run, log, tmp_path, monkeypatch, command
):
    monkeypatch.setenv("QUEUESMITH_CONFIG", str(tmp_path / "config"))
    (tmp_path / "my.py").write_text("def mine(job):\n    return job.cores\n")
    (tmp_path / "policy.json").write_text('{"order": "my.py:mine", "backfill": "easy"}')
    words = {
        "simulate": ("simulate", log, "--policy", "policy.json"),
        "compare": ("compare", log, "--policies", "policy.json,fcfs"),
    }[command]
    asked = run(*words)
    assert asked.code == 2
    assert "def mine(job):" in asked.err
    assert "would run Python that was not trusted yet" in asked.err
    assert run(*words, "--trust").code == 0
    assert run(*words).code == 0


def test_nothing_runs_while_the_machine_is_maintained(run, log, tmp_path):
    words = ("simulate", log, "--maintenance", "3000:90000", "--schedule", "s.csv")
    assert run(*words).code == 0
    with (tmp_path / "s.csv").open() as file:
        rows = [(int(row["start"]), int(row["end"])) for row in csv.DictReader(file)]
    assert rows and not [row for row in rows if row[0] < 90_000 and row[1] > 3000]
    wrong = run("simulate", log, "--maintenance", "tomorrow")
    assert (
        wrong.code == 2 and "--maintenance is 'tomorrow', but it must be two moments" in wrong.err
    )

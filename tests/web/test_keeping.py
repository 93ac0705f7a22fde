import json
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest

from queuesmith.cli.app import main
from queuesmith.cluster import Cluster, NodeCluster, NodeKind
from queuesmith.cluster.toml import write_machine
from queuesmith.policy import as_policy
from queuesmith.web.keeping import _kept, command_lines, python_call, report_of
from queuesmith.web.replays import Question
from queuesmith.web.runs import LEARNED, POLICY
from queuesmith.web.state import Column, Filters, PageState
from queuesmith.workload.files import read, write
from tests.web.conftest import small_log, words_of


@pytest.fixture
def context(make_page, tmp_path):
    write(small_log(), tmp_path / "log.swf")
    made, _ = make_page(small_log())
    yield replace(made, log_source=tmp_path / "log.swf")
    made.desk.close()


def test_the_command_is_one_that_runs(context, capsys):
    state = PageState(log="small", columns=(Column("fcfs+easy"), Column("sjf+easy")))
    words = command_lines(state, context).split()
    assert words[:2] == ["queuesmith", "compare"]
    assert main(words[1:]) == 0
    assert "sjf+easy" in capsys.readouterr().out


def test_columns_of_different_load_are_commands_of_their_own(context, capsys):
    columns = (Column("fcfs+easy", load=1.2), Column("fcfs+easy", cores=80))
    lines = command_lines(PageState(log="small", columns=columns), context).splitlines()
    assert len(lines) == 2
    assert "--load-factor 1.2" in lines[0]
    assert "--cores 80" in lines[1]
    for line in lines:
        assert main(line.split()[1:]) == 0
    capsys.readouterr()


def test_a_built_in_log_is_made_first(context):
    made, used = command_lines(PageState(log="demo", columns=(Column("fcfs"),)), context).split(
        "\n"
    )
    assert made.startswith("queuesmith generate lublin")
    assert "demo.swf.gz" in used


def test_the_call_in_python_runs_with_filters(context):
    filters = Filters(since="100", widest="16")
    state = PageState(log="small", filters=filters, columns=(Column("sjf", load=1.5),))
    code = python_call(state, context)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [schedule] = context.desk.schedules("t", [Question("small", filters, Column("sjf", load=1.5))])
    assert float(ran.stdout) == pytest.approx(schedule.value("mean_wait"))


def values_of(lines, capsys):
    """Return what commands print of their objective, each run here."""
    found = []
    for line in lines.splitlines():
        assert main([*shlex.split(line)[1:], "--format", "json", "--quiet"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    return found


@pytest.mark.parametrize(
    "filters",
    [
        Filters(since="1000", partition="gpu", account="chem", narrowest="2", widest="16"),
        Filters(until="20000", partition="<b>big</b>"),
        Filters(user=str(small_log().user[0])),
    ],
)
def test_the_command_takes_the_same_jobs(context, tmp_path, filters, capsys):
    write(small_log(), tmp_path / "log.csv")  # which keeps the names of partitions
    context = replace(context, log_source=tmp_path / "log.csv")
    column = Column("sjf+easy", cores=64)
    state = PageState(log="small", filters=filters, columns=(column, Column("fcfs", cores=80)))
    [shown] = context.desk.schedules("t", [Question("small", filters, column)])
    told, _ = values_of(command_lines(state, context), capsys)
    assert told["jobs"] == len(shown.workload)
    assert told["mean_wait"] == pytest.approx(shown.value("mean_wait"))


def test_filters_are_joined_with_the_condition_of_the_command_line(context):
    read = replace(context, log_options={"where": "cores > 1 or user == 2"})
    state = PageState(log="small", filters=Filters(widest="8"), columns=(Column("fcfs"),))
    assert "--where '(cores > 1 or user == 2) and cores <= 8'" in command_lines(state, read)
    part = replace(context, log_options={"head": 100})
    assert command_lines(state, part).startswith("# No command takes a part of a part")
    loaded = replace(context, log_options={"load_factor": 1.2})
    more = PageState(log="small", columns=(Column("fcfs", load=1.5),))
    assert command_lines(more, loaded).startswith("# No command changes the load twice")


def test_a_learned_policy_is_named_by_its_file(context):
    run = context.runs.folder / "20260101-000000-abcdef"
    run.mkdir()
    as_policy("power(alpha=2)+easy").save(run / POLICY)
    state = PageState(log="small", columns=(Column(f"{LEARNED}{run.name}"),))
    assert f"--policies {run / POLICY} " in command_lines(state, context)
    assert f"policy={str(run / POLICY)!r}" in python_call(state, context)
    gone = replace(state, columns=(Column(f"{LEARNED}20260101-000000-aaaaaa"),))
    assert "there is no run" in words_of(_kept(gone.query(), context))


def test_the_cores_of_the_command_line_are_part_of_the_command(make_page):
    context, _ = make_page(small_log(), Cluster(80))
    state = PageState(log="small", columns=(Column("fcfs"),))
    assert "--cores 80" in command_lines(state, context)
    context.desk.close()


def test_how_the_log_was_read_is_part_of_the_calls(context):
    read = replace(context, log_options={"head": 100, "between": "0:99999"})
    state = PageState(log="small", columns=(Column("sjf"),))
    assert "--head 100 --between 0:99999" in command_lines(state, read)
    code = python_call(state, read)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    part = small_log().between(0, 99999).head(100)
    import queuesmith as qs

    expected = qs.simulate(part, policy="sjf").value("mean_wait")
    assert float(ran.stdout) == pytest.approx(expected)


def test_priorities_of_the_machine_are_part_of_the_call(make_page):
    machine = Cluster(64, qos_priority={"high": 9.0})
    context, _ = make_page(small_log(), machine)
    state = PageState(log="small", columns=(Column("fcfs"),))
    assert "qs.Cluster(64, qos_priority={'high': 9.0})" in python_call(state, context)
    assert "--qos-priority" in command_lines(state, context)
    context.desk.close()


def test_on_a_machine_of_nodes_the_call_says_how_many(make_page):
    machine = NodeCluster((NodeKind("c[1-4]", 16),))
    context, _ = make_page(small_log(), machine, ("slurm()",))
    state = PageState(log="small", columns=(Column("slurm()", nodes=(("c1", 6),)),))
    assert "resized(machine, {'c1': 6})" in python_call(state, context)
    assert "knows this machine" in command_lines(state, context)
    named = replace(context, machine_source="infer")
    assert "number of nodes" in command_lines(state, named)
    part = PageState(log="small", filters=Filters(widest="8"), columns=(Column("fcfs"),))
    assert "infers the machine" in command_lines(part, named)
    context.desk.close()


def test_the_command_replays_on_the_same_nodes(make_page, tmp_path, capsys):
    machine = NodeCluster((NodeKind("c[1-4]", 16),))
    write_machine(machine, tmp_path / "machine.toml")
    write(small_log().replaced(extra={}, labels={}), tmp_path / "log.csv")
    context, _ = make_page(read(tmp_path / "log.csv"), machine, ("fcfs+easy",))
    context = replace(
        context, log_source=tmp_path / "log.csv", machine_source=str(tmp_path / "machine.toml")
    )
    columns = (Column("fcfs+easy"), Column("sjf+easy", load=1.2))
    state = PageState(log="log", columns=columns)
    shown = context.desk.schedules("t", [Question("log", Filters(), each) for each in columns])
    told = values_of(command_lines(state, context), capsys)
    assert [each["mean_wait"] for each in told] == pytest.approx(
        [schedule.value("mean_wait") for schedule in shown]
    )
    context.desk.close()


def test_the_page_as_a_report_shows_all_columns(context):
    state = PageState(log="small", columns=(Column("fcfs+easy"), Column("sjf", load=1.5)))
    page = report_of(state, context, "tab").decode()
    assert "sjf @ load=1.5" in page

import subprocess
import sys

import pytest

from queuesmith.cli.app import main
from queuesmith.cluster import NodeCluster, NodeKind
from queuesmith.web.keeping import command_lines, python_call, report_of
from queuesmith.web.state import Column, Filters, PageState
from queuesmith.workload.files import write
from tests.web.conftest import small_log


@pytest.fixture
def context(make_page, tmp_path):
    from dataclasses import replace

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
    from queuesmith.web.replays import Question

    [schedule] = context.desk.schedules("t", [Question("small", filters, Column("sjf", load=1.5))])
    assert float(ran.stdout) == pytest.approx(schedule.value("mean_wait"))
    assert "No command" in command_lines(state, context)


def test_how_the_log_was_read_is_part_of_the_calls(context):
    from dataclasses import replace

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
    from queuesmith.cluster import Cluster

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
    assert "nodes" in command_lines(state, context)
    context.desk.close()


def test_the_page_as_a_report_shows_all_columns(context):
    state = PageState(log="small", columns=(Column("fcfs+easy"), Column("sjf", load=1.5)))
    page = report_of(state, context, "tab").decode()
    assert "sjf @ load=1.5" in page

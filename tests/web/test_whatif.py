"""What the page answers, without a browser."""

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.cluster import NodeCluster, NodeKind, Partition
from queuesmith.policy import as_policy
from queuesmith.web.keeping import policy_file
from queuesmith.web.page import content
from queuesmith.web.state import MOST_COLUMNS, Column, PageState
from queuesmith.web.whatif import NAMED_GROUPS
from queuesmith.web.whatif_answer import answered
from queuesmith.web.whatif_moves import Moves, moved, restructured
from queuesmith.workload.group_names import GroupNames
from tests.web.conftest import small_log

MACHINE = NodeCluster(
    (NodeKind("c[1-4]", 16),),
    partitions=tuple(Partition(name, "c[1-4]") for name in ("cpu", "gpu", "<b>big</b>")),
)


@pytest.fixture
def context(make_page):
    made, _ = make_page(small_log(), policies=("fcfs+easy", "sjf+easy"))
    yield made
    made.desk.close()


@pytest.fixture
def on_nodes(make_page):
    made, _ = make_page(small_log(), MACHINE, ("slurm()",))
    yield made
    made.desk.close()


def test_nodes_of_each_kind_and_the_settings_of_slurm_are_knobs(on_nodes):
    shown = str(content("", on_nodes)[1])
    for name in ("nodes.c1", "bf_interval", "PriorityWeightAge", "load"):
        assert f"'name': '{name}'" in shown
    moves = Moves({(0, "nodes.c1"): 6.0, (0, "bf_interval"): 60.0}, None, None)
    state = moved(on_nodes.state(""), moves, on_nodes)
    assert str(state.columns[0]) == "slurm(bf_interval=60) @ nodes.c1=6"
    answer = answered(state, on_nodes, "tab", "light")
    assert answer.complaints == []
    assert len(answer.figures[0]["data"]) == 1


def test_knobs_that_stand_as_they_did_change_nothing(context):
    state = context.state("")
    moves = Moves({(0, "load"): 1.0, (0, "cores"): 64.0}, "mean_wait", "group")
    assert moved(state, moves, context) == state
    read = Moves.read(
        ["", "2"], [{"column": 0, "name": "load"}, {"column": 0, "name": "cores"}], "", ""
    )
    assert read.knobs == {(0, "cores"): 2.0}


def test_columns_change_by_what_was_chosen(context):
    state = context.state("")
    sorted_wide = restructured(state, {"type": "order", "column": 0}, "wide", context)
    assert sorted_wide.columns[0].policy == "wide+easy"
    deep = restructured(state, {"type": "backfill", "column": 1}, "conservative", context)
    assert deep.columns[1].policy == "sjf+conservative"
    planner = restructured(state, {"type": "order", "column": 0}, "dynp", context)
    assert planner.columns[0].policy == "dynp"
    assert restructured(state, {"type": "order", "column": 0}, "fcfs", context) == state
    many = state
    for _ in range(MOST_COLUMNS + 3):
        many = restructured(many, "add-column", 1, context)
    assert len(many.columns) <= MOST_COLUMNS
    one = PageState(log="small", columns=(Column("fcfs"),))
    assert restructured(one, {"type": "remove", "column": 0}, 1, context) == one


def test_a_policy_that_knows_groups_by_name_is_taken_as_it_is(make_page, tmp_path):
    """What is turned becomes a text, and a text has no names."""
    log = small_log().grouped(by="account")
    path = tmp_path / "favour.json"
    as_policy("group_power(group_1=2)+easy").for_groups(GroupNames.of(log)).save(path)
    context, _ = make_page(log, policies=(str(path),))
    state, shown = context.state(""), str(content("", context)[1])
    assert NAMED_GROUPS in shown
    assert "'type': 'backfill'" not in shown
    assert "'name': 'group_1'" not in shown
    assert moved(state, Moves({(0, "group_1"): 5.0}, None, None), context) == state
    assert restructured(state, {"type": "backfill", "column": 0}, "plan", context) == state
    assert policy_file(state.columns[0], context) == path.read_text()
    assert answered(state, context, "tab", "light").complaints == []
    context.desk.close()


def test_history_stands_first_with_its_grade(make_page):
    jobs = small_log()
    jobs = jobs.replaced(extra={**jobs.extra, "real_start": jobs.submit + 60})
    made, _ = make_page(jobs)
    answer = answered(made.state(""), made, "tab", "dark")
    assert [bar["name"] for bar in answer.figures[0]["data"]] == ["history", "fcfs+easy"]
    assert "grade" in str(answer.said)
    moved_on = answered(made.state("?column=fcfs+@+load=1.2"), made, "tab", "dark")
    assert "another load or machine" in str(moved_on.said)
    made.desk.close()


def test_an_address_that_cannot_be_shown_says_so_and_leads_back(context):
    _, opened, said = content("?log=nowhere", context)
    assert "there is no log" in str(said)
    assert "Begin anew" in str(opened)


def test_every_part_of_the_page_opens(context):
    for tab in ("what-if", "log", "knobs", "learn", "plan", "live"):
        parts, opened, said = content(f"?tab={tab}", context)
        assert said == []
        assert opened is not None
        assert sum("aria-current" in str(part) for part in parts) == 1


def test_an_objective_is_composed():
    from queuesmith.web.learn_view import composed

    assert composed("", "awrt", "2") == "2 * awrt"
    assert composed("mean_wait", "p95_wait", "0.5") == "mean_wait + 0.5 * p95_wait"


def test_a_sweep_has_no_more_settings_than_a_page_can_wait_for():
    from queuesmith.web.knobs_view import checked_ranges, map_figure, taken

    assert checked_ranges("-1:1:0.5") == "-1:1:0.5"
    for ranges in ("-9:9:0.01", "0:1:1,0:1:1", "none"):
        with pytest.raises(UsageError):
            checked_ranges(ranges)
    found = {"settings": [[1, 2, 3]], "costs": {"mean_wait": [5.0], "makespan": [7.0]}}
    assert map_figure(found, "mean_wait", "nonsense", "beta")["data"][0]["marker"]["color"] == [2]
    state = taken(PageState(columns=(Column("fcfs"),)), [1, 0.5, -2], "easy")
    assert state.columns[-1].policy == "power(alpha=1,beta=0.5,gamma=-2)+easy"
    assert state.tab == "what-if"

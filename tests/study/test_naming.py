"""What names a run: every fact that may decide its answer."""

import numpy as np
import pytest

from queuesmith import Cluster, Workload
from queuesmith.study.naming import run_facts, source_stamp


@pytest.fixture
def log():
    return Workload([0, 1], [5, 5], [9, 9], [1, 2], extra={"qos": np.array([0, 1])})


def changed(before, after):
    return [name for name in before | after if before.get(name) != after.get(name)]


def test_the_same_run_has_the_same_facts(log):
    again = Workload([0, 1], [5, 5], [9, 9], [1, 2], extra={"qos": np.array([0, 1])})
    before = run_facts("tune", log, Cluster(4), {"seed": 1})
    assert before == run_facts("tune", again, Cluster(4, "another name"), {"seed": 1})


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"cluster": Cluster(5)}, "cores"),
        ({"cluster": Cluster(4, partition_priority={"main": 2})}, "partition priority"),
        ({"cluster": Cluster(4, qos_priority={"high": 2})}, "qos priority"),
        ({"options": {"seed": 2}}, "seed"),
        ({"command": "pareto"}, "command"),
    ],
)
def test_each_fact_is_named(log, other, name):
    given = {"command": "tune", "workload": log, "cluster": Cluster(4), "options": {"seed": 1}}
    assert changed(run_facts(**given), run_facts(**(given | other))) == [name]


@pytest.mark.parametrize(
    "parts",
    [
        {"runtime": np.array([5, 4])},
        {"extra": {"qos": np.array([1, 1])}},
        {"extra": {"qos": np.array([0, 1]), "note": np.array(["a", "b"], object)}},
        {"labels": {"qos": ("normal", "high")}},
    ],
)
def test_each_column_of_the_log_counts(log, parts):
    before = run_facts("tune", log, Cluster(4), {})
    assert changed(before, run_facts("tune", log.replaced(**parts), Cluster(4), {})) == [
        "jobs of the log"
    ]


def facts(log, order):
    return run_facts("tune", log, Cluster(4), {"strategies": ("fcfs", f"{order}:mine(a=2)+easy")})


def test_the_source_of_own_orders_counts_and_what_they_import_beside_them(log, tmp_path):
    order, helper = tmp_path / "my.py", tmp_path / "helping.py"
    (tmp_path / "packed").mkdir()
    deep = tmp_path / "packed" / "inner.py"
    order.write_text("import helping\ndef mine(job, a=1):\n    return helping.weight(job)\n")
    helper.write_text(
        "from packed import inner\ndef weight(job):\n    return inner.w * job.cores\n"
    )
    deep.write_text("w = 1\n")
    before, name = facts(log, order), f"order {order}:mine"
    assert name in before
    deep.write_text("w = 2\n")
    second = facts(log, order)
    assert changed(before, second) == [name]
    helper.write_text(helper.read_text().replace("inner.w *", "inner.w /"))
    third = facts(log, order)
    assert changed(second, third) == [name]
    order.write_text(order.read_text() + "# a remark decides nothing\n\n")
    assert changed(third, facts(log, order)) == []
    order.write_text(order.read_text().replace("return", "return 2 *"))
    assert changed(third, facts(log, order)) == [name]


def test_all_sources_that_may_decide_a_result_are_stamped():
    assert source_stamp() == source_stamp()
    assert source_stamp().startswith("sha256:")

"""Constraints for logs that do not tell them: in the grade, in a file, and wrong ones."""

import pytest

import queuesmith as qs
from queuesmith.base.errors import ClusterError, UsageError, WorkloadError
from queuesmith.cluster import NodeCluster, NodeKind
from tests.engine.on_nodes import jobs

MACHINE = NodeCluster((NodeKind("n1", 4, features=("a",)), NodeKind("m1", 4, features=("b",))))


@pytest.fixture
def log():
    # Job 3 waits for m1 although job 4, which came later, is let on n1.
    return jobs(
        *((0, 400, 420, 4), (0, 200, 240, 4), (10, 50, 60, 4), (20, 50, 60, 4)),
        node_list=["m1", "n1", "m1", "n1"],
        real_start=[0, 0, 400, 200],
    )


def test_constraints_are_inferred_where_the_log_has_none_and_the_grade_says_so(log):
    judged = qs.fidelity(log, MACHINE)
    assert judged.inferred == 1 and "constraints of 1 job inferred" in judged.sentence
    assert judged.as_logged.mean_error > judged.mean_error
    assert judged.to_dict()["constraints_inferred"] == 1
    free = qs.fidelity(log, MACHINE, constraints="as-logged")
    assert free.inferred == 0 and free.as_logged is None and "inferred" not in free.sentence


def test_constraints_of_a_part_are_those_that_the_whole_log_shows(log):
    # Beside job 1 there is room for job 5, not for job 4; without it job 4 seems bound to m1.
    asked = (0, 900, 920, 1), (0, 400, 420, 4), (0, 200, 240, 3), (10, 50, 60, 4), (20, 50, 60, 3)
    nodes = ["n1", "m1", "n1", "m1", "n1"]
    free = jobs(*asked, node_list=nodes, real_start=[0, 0, 0, 400, 200])
    part = free.where("id > 1")
    assert "constraint" in qs.with_constraints(part, MACHINE).extra
    assert qs.with_constraints(part, MACHINE, whole=free) is part
    assert qs.fidelity(part, MACHINE, whole=free).inferred == 0
    bound = qs.with_constraints(log.where("id > 2"), MACHINE, whole=log)
    assert bound.label("constraint", int(bound.extra["constraint"][0])) == "b"


def test_any_replay_can_have_them_and_its_grade_is_that_of_fidelity(log):
    bound = qs.with_constraints(log, MACHINE)
    compared = qs.compare(bound, MACHINE, ["fcfs+easy"]).fidelity
    assert compared.inferred == 1
    assert compared.figures() == qs.fidelity(log, MACHINE).figures()
    assert qs.with_constraints(log, MACHINE, "as-logged") is log
    assert qs.with_constraints(log, MACHINE, today="fcfs+easy") is log  # proven for Slurm alone


def test_jobs_that_a_file_binds_to_too_small_nodes_are_left_out_and_counted(tmp_path):
    wide = jobs((0, 10, 20, 8), (0, 10, 20, 4), requested_nodes=[2, 1], real_start=[0, 10])
    file = tmp_path / "bound.csv"
    file.write_text("id,constraint\n1,a\n")
    judged = qs.fidelity(wide, MACHINE, constraints=file)
    assert len(judged.history) == 1 and judged.history.workload.dropped == 1


def test_what_is_wrong_with_constraints_is_said(log, tmp_path):
    file = tmp_path / "bound.csv"
    for text, error, sentence in (
        ("job,feature\n", WorkloadError, "must be id,constraint"),
        ("id,constraint\n77,a\n", WorkloadError, "line 2 of .* is '77,a'"),
        ("id,constraint\n3,c\n", ClusterError, "no node with 'c'"),
    ):
        file.write_text(text)
        with pytest.raises(error, match=sentence):
            qs.fidelity(log, MACHINE, constraints=file)
    with pytest.raises(UsageError, match="features of nodes"):
        qs.fidelity(log, cores=8, constraints="inferred")
    alike = NodeCluster((NodeKind("m1,n1", 4),))
    with pytest.raises(UsageError, match="cannot be inferred"):
        qs.fidelity(log, alike, constraints="inferred")

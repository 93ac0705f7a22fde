"""One way in to every method that needs no solver."""

import pytest

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS
from queuesmith.federation.methods import compare_methods, place
from queuesmith.federation.model.generate import generate_federation, paper_federation, paper_queue
from queuesmith.federation.model.placed import job_names
from queuesmith.federation.options import PlaceOptions


@pytest.mark.parametrize("method", [*HEURISTICS, "prices"])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_every_method_gives_a_placement_with_a_bound(method, spread):
    federation = generate_federation(3, 4, spread=spread)
    placement = place(federation, paper_queue("WL-4"), method)
    assert placement.lower_bound is not None
    assert placement.lower_bound <= placement.makespan
    assert placement.policy == method


@pytest.mark.parametrize("allocation", ALLOCATIONS)
def test_every_allocation_rule_can_be_asked_for(allocation):
    options = PlaceOptions(allocation=allocation)
    placement = place(paper_federation(), paper_queue("WL-5"), "fpfs", options)
    assert placement.facts["allocation"] == allocation


def test_a_queue_is_placed_as_it_stands():
    jobs = FederationJobs([1, 1], [10, 10], [0, 0], [1, 1], submit=[50, 9], id=["late", "early"])
    placement = place(paper_federation(), jobs, "fcfs")
    assert job_names(placement) == ("early", "late")
    assert placement.start.tolist() == [0, 0]


@pytest.mark.parametrize("method", ["fcfs", "prices", "slots", "oas"])
def test_a_job_that_fast_nodes_do_in_no_time_takes_a_second(method):
    federation = Federation([FederationCluster("fast", 1, 1e6)])
    jobs = FederationJobs([1, 1], [0.001, 0.002], [0, 0], [1, 1])
    placement = place(federation, jobs, method, PlaceOptions(steps=100))
    assert sorted(placement.end.tolist()) == [1, 2]
    assert placement.lower_bound == 2


def test_a_bound_that_one_method_proves_holds_for_all():
    queues = [paper_queue("WL-1"), paper_queue("WL-2")]
    shares = []
    found = compare_methods(paper_federation(), queues, ["fcfs", "lpt"], progress=shares.append)
    assert [(one.workload.name, one.policy) for one in found] == [
        ("WL-1", "fcfs"), ("WL-1", "lpt"), ("WL-2", "fcfs"), ("WL-2", "lpt"),
    ]  # fmt: skip
    assert found[0].lower_bound == found[1].lower_bound
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_unknown_methods_and_jobs_that_cannot_run_are_refused():
    with pytest.raises(UsageError, match=r"no method 'fpfss'. Did you mean 'fpfs'\?"):
        place(paper_federation(), paper_queue("WL-1"), "fpfss")
    with pytest.raises(UsageError, match="no method 'x'"):
        compare_methods(paper_federation(), [paper_queue("WL-1")], ["fcfs", "x"])
    with pytest.raises(WorkloadError, match="13 tasks"):
        place(paper_federation(), FederationJobs([13], [1], [0], [1]), "fcfs")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("seconds", 0), ("slot_percent", 0), ("saturation", 0.9), ("seed", -1), ("workers", 0)],
)
def test_wrong_options_are_refused(setting, value):
    with pytest.raises(UsageError):
        PlaceOptions(**{setting: value})

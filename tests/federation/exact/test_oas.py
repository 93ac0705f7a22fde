import itertools
from typing import Any

import pytest
from hypothesis import assume, given, settings

from queuesmith.base import extras
from queuesmith.base.errors import QueuesmithError, UsageError, WorkloadError
from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.exact import provers as provers_module
from queuesmith.federation.exact import tree as tree_module
from queuesmith.federation.exact.oas import solve_oas
from queuesmith.federation.heuristics.heuristics import ALLOCATIONS, HEURISTICS, place_by_heuristic
from queuesmith.federation.methods import place
from queuesmith.federation.model.generate import (
    generate_federation,
    generate_queue,
    paper_federation,
    paper_queue,
)
from queuesmith.federation.model.placed import task_nodes
from queuesmith.federation.options import PlaceOptions
from queuesmith.schedule.verify import verify
from queuesmith.solving.status import Status
from tests.federation.every_plan import shortest_makespan, tiny_queues


@settings(max_examples=20, deadline=None)
@given(tiny_queues())
def test_the_makespan_is_that_of_the_best_of_all_plans(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    found = verify(solve_oas(federation, jobs, seconds=20, workers=1))
    assert found.makespan == least
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("name", ["WL-1", "WL-2", "WL-5"])
def test_the_paper_s_workloads_are_solved_to_proven_optimality(name: str) -> None:
    federation, jobs = paper_federation(), paper_queue(name)
    found = verify(solve_oas(federation, jobs, seconds=60))
    assert found.status is Status.OPTIMAL
    for heuristic, allocation in itertools.product(HEURISTICS, ALLOCATIONS):
        other = place_by_heuristic(federation, jobs, heuristic, allocation)
        assert found.makespan <= other.makespan


@pytest.mark.parametrize("count", [12, 20, 70])
def test_larger_queues_lie_between_their_bound_and_every_heuristic(count: int) -> None:
    federation, jobs = paper_federation(), generate_queue("general", count, seed=2)
    found = verify(solve_oas(federation, jobs, seconds=1.5))
    assert found.lower_bound is not None
    assert found.lower_bound <= found.makespan
    for heuristic, allocation in itertools.product(HEURISTICS, ALLOCATIONS):
        other = place_by_heuristic(federation, jobs, heuristic, allocation)
        assert found.makespan <= other.makespan


def test_cpsat_joins_where_the_tree_cannot_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MOST_JOBS", 2)
    jobs = generate_queue("general", 6, seed=0)
    found = verify(solve_oas(paper_federation(), jobs, seconds=6))
    assert "cpsat" in found.facts
    monkeypatch.undo()
    best = solve_oas(paper_federation(), jobs, seconds=30)
    assert found.lower_bound is not None
    assert found.lower_bound <= best.makespan <= found.makespan


def test_the_tree_raises_bounds_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provers_module, "AT_ONCE_JOBS", 3)
    jobs = generate_queue("general", 7, seed=0)
    found = verify(solve_oas(paper_federation(), jobs, seconds=60))
    assert found.status is Status.OPTIMAL


def test_too_many_modes_to_list_are_searched_and_bounded() -> None:
    federation = generate_federation(8, 24, seed=1)
    jobs = generate_queue("general", 40, nodes=federation.nodes, most_tasks=80, seed=1)
    found = verify(solve_oas(federation, jobs, seconds=1))
    assert found.gap_percent is not None
    assert "lp_bound" not in found.facts


def test_allowing_saturation_never_makes_the_placement_longer() -> None:
    federation = Federation(
        [FederationCluster("a", 3, 1.0, 100.0), FederationCluster("b", 3, 0.75, 100.0)]
    )
    jobs = FederationJobs([4, 4, 2, 2, 5], [90, 70, 60, 50, 30], [60.0] * 5, [0.7] * 5)
    calm = verify(solve_oas(federation, jobs, seconds=5, saturation=1.2))
    wild = verify(solve_oas(federation, jobs, seconds=5, saturation=3.0))
    assert wild.makespan <= calm.makespan
    assert wild.facts["saturation"] == 3.0
    assert wild.lower_bound is not None
    assert wild.lower_bound <= wild.makespan


def test_a_job_that_fits_only_with_saturation_is_placed_with_it() -> None:
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 100.0), FederationCluster("b", 2, 1.0, 100.0)]
    )
    jobs = FederationJobs([4], [100], [100.0], [0.5])
    with pytest.raises(WorkloadError, match="beyond 1 times its bandwidth"):
        solve_oas(federation, jobs, seconds=1)
    found = verify(solve_oas(federation, jobs, seconds=1, saturation=2.0))
    # Half of the time is communication, slowed by the load of 4/3; rounded up to the limit of 2.
    assert 117 <= found.makespan <= 150


def test_a_start_is_never_made_longer() -> None:
    federation, jobs = paper_federation(), generate_queue("general", 14, seed=4)
    start = solve_oas(federation, jobs, seconds=0.5)
    again = solve_oas(federation, jobs, seconds=0.3, start=start)
    assert again.makespan <= start.makespan


def test_progress_is_told_of_better_placements_and_bounds() -> None:
    told: list[tuple[float, int, int]] = []
    jobs = generate_queue("general", 12, seed=0)
    found = solve_oas(
        paper_federation(), jobs, seconds=1, progress=lambda *facts: told.append(facts)
    )
    assert told[-1][1:] == (found.makespan, found.lower_bound)
    assert all(before[1] >= after[1] for before, after in itertools.pairwise(told))


def test_the_method_of_that_name_takes_the_options() -> None:
    shares: list[float] = []
    options = PlaceOptions(seconds=2, workers=1, seed=3)
    found = place(
        paper_federation(),
        generate_queue("general", 6, seed=1),
        "oas",
        options,
        progress=shares.append,
    )
    assert found.policy == "oas"
    assert shares
    assert max(shares) <= 1.0


def test_one_job_takes_the_fastest_nodes() -> None:
    found = solve_oas(paper_federation(), FederationJobs([3], [100], [10.0], [0.7]), seconds=1)
    assert found.makespan == 100
    assert found.status is Status.OPTIMAL
    assert (task_nodes(found) < 4).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0}, "the number of seconds is 0"),
        ({"seconds": -1}, "the number of seconds is -1"),
        ({"workers": 0}, "the number of workers is 0"),
        ({"seed": -1}, "the seed is -1"),
    ],
)
def test_a_wrong_call_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve_oas(paper_federation(), generate_queue(), **options)


@pytest.mark.parametrize("missing", ["scipy", "ortools"])
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    real = extras.importlib.import_module

    def refuse(name: str) -> Any:
        if name.startswith(missing):
            raise ImportError(f"No module named '{missing}'")
        return real(name)

    monkeypatch.setattr(extras.importlib, "import_module", refuse)
    with pytest.raises(QueuesmithError, match=rf"{missing}.*pip install 'queuesmith\[exact\]'"):
        solve_oas(
            paper_federation(),
            generate_queue("general", provers_module.AT_ONCE_JOBS + 1),
            seconds=1,
        )


@pytest.mark.parametrize("count", [7, 12, 20])
def test_a_count_makes_it_the_same_on_any_number_of_workers(count: int) -> None:
    federation, jobs = paper_federation(), generate_queue("general", count, seed=5)
    one, two = (
        verify(solve_oas(federation, jobs, steps=2000, workers=workers)) for workers in (1, 2)
    )
    assert one.start.tolist() == two.start.tolist()
    assert task_nodes(one).tolist() == task_nodes(two).tolist()
    assert one.lower_bound == two.lower_bound
    more = solve_oas(federation, jobs, steps=20_000)
    assert (more.lower_bound or 0) <= more.makespan <= one.makespan

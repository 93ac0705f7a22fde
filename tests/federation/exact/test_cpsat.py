import numpy as np
import pytest
from hypothesis import assume, given, settings

from queuesmith.federation import Federation, FederationJobs
from queuesmith.federation.exact import cpsat as cpsat_module
from queuesmith.federation.exact.configuration_bound import configuration_bound
from queuesmith.federation.exact.cpsat import never_together, solve_cpsat
from queuesmith.federation.exact.modes import list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import ModePlan, plan_of
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import generate_queue, paper_federation
from queuesmith.schedule.verify import verify
from tests.federation.every_plan import shortest_makespan, tiny_queues


def _start(packed: Packed) -> ModePlan:
    plan = plan_of(packed, place_by_heuristic(packed.modes.federation, packed.modes.jobs, "fcfs"))
    assert plan is not None
    return plan


@settings(max_examples=12)
@given(tiny_queues())
def test_it_proves_the_best_of_all_plans_and_agrees_with_the_bound(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    packed = Packed(list_modes(federation, jobs))
    bound = configuration_bound(packed).value
    proof = solve_cpsat(packed, _start(packed), bound=bound, seconds=20, workers=1)
    assert proof.plan is not None
    assert proof.plan.span == proof.bound == least
    verify(packed.modes.schedule(proof.plan.mode, proof.plan.start, "cpsat"))


def test_a_flag_stops_it_and_what_is_proven_holds() -> None:
    packed = Packed(list_modes(paper_federation(), generate_queue("general", 20, seed=1)))
    told: list[ModePlan] = []
    halt = np.ones(1, np.int64)
    start = _start(packed)
    proof = solve_cpsat(packed, start, bound=1, seconds=60, found=told.append, halt=halt)
    assert 1 <= proof.bound <= start.span
    assert all(plan.span <= start.span for plan in told)


def test_a_horizon_beyond_its_numbers_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat_module, "LONGEST", 10)
    packed = Packed(list_modes(paper_federation(), generate_queue("general", 5, seed=1)))
    assert solve_cpsat(packed, _start(packed), bound=7, seconds=1).bound == 7


def test_jobs_that_never_overlap_are_found() -> None:
    jobs = FederationJobs([7, 3, 6, 8, 5], [10] * 5, [0.0] * 5, [0.7] * 5)
    assert sorted(never_together(list_modes(paper_federation(), jobs))) == [0, 2, 3]

import numpy as np
import pytest
from hypothesis import assume, given, settings

from queuesmith.federation import Federation, FederationJobs
from queuesmith.federation.exact.configuration_bound import configuration_bound
from queuesmith.federation.exact.modes import list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.exact.search import (
    anneal_plan,
    anneal_steps,
    beam_plan,
    halting,
    plan_in_order,
    plan_of,
)
from queuesmith.federation.exact.tree import Forest
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import generate_queue, paper_federation
from queuesmith.schedule.verify import verify
from tests.federation.every_plan import makespan_of, shortest_makespan, tiny_queues

pytestmark = pytest.mark.uncompiled

RUNNING = np.zeros(1, np.int64)


def _packed(count: int, seed: int = 0) -> Packed:
    return Packed(list_modes(paper_federation(), generate_queue("general", count, seed=seed)))


@settings(max_examples=80)
@given(tiny_queues())
def test_an_order_is_planned_as_the_slow_twin_does(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    modes = list_modes(federation, jobs)
    assume((np.diff(modes.first) > 0).all())
    rng = np.random.default_rng(len(jobs))
    mode = np.array(
        [rng.integers(a, b) for a, b in zip(modes.first, modes.first[1:], strict=False)]
    )
    order = rng.permutation(len(jobs))
    plan = plan_in_order(Packed(modes), order, mode)
    counts = [tuple(modes.counts[m].tolist()) for m in mode]
    assert plan.span == makespan_of(federation, jobs, order.tolist(), counts)
    verify(modes.schedule(plan.mode, plan.start, "order"))


@settings(max_examples=15)
@given(tiny_queues())
def test_a_wide_beam_and_the_tree_find_the_best_of_all_plans(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    packed = Packed(list_modes(federation, jobs))
    bound = configuration_bound(packed)
    wide = beam_plan(packed, bound.price, width=3000, bias=0.0, best=10**9, halt=RUNNING)
    assert wide is not None
    assert wide.span == least
    for workers in (1, 2):
        plan, ended = Forest(packed, bound).search(least + 5, workers=workers, halt=RUNNING)
        assert ended
        assert plan is not None
        assert plan.span == least
        verify(packed.modes.schedule(plan.mode, plan.start, "tree"))
    assert Forest(packed, bound).search(least, workers=1, halt=RUNNING) == (None, True)


def test_annealing_never_returns_a_longer_plan_and_repeats_itself() -> None:
    packed = _packed(12)
    start = plan_of(packed, place_by_heuristic(packed.modes.federation, packed.modes.jobs, "fcfs"))
    assert start is not None
    one, two = (anneal_steps(packed, start, steps=500, seed=4) for _ in range(2))
    assert one.span < start.span
    assert one.span == two.span
    verify(packed.modes.schedule(one.mode, one.start, "annealed"))
    with halting(0.2) as halt:
        timed = anneal_plan(packed, start, seconds=0.2, seed=1, halt=halt)
    assert timed.span <= start.span


def test_a_beam_builds_valid_plans_shorter_than_asked() -> None:
    packed = _packed(6)
    price = configuration_bound(packed).price
    plan = beam_plan(packed, price, width=8, bias=0.02, best=2**60, halt=RUNNING)
    assert plan is not None
    assert verify(packed.modes.schedule(plan.mode, plan.start, "beam")).makespan == plan.span
    assert beam_plan(packed, price, width=2, bias=0.0, best=1000, halt=RUNNING) is None


def test_a_search_that_is_halted_ends() -> None:
    packed = _packed(5)
    bound = configuration_bound(packed)
    with halting(0.0) as halt:
        while not halt[0]:
            pass
        assert beam_plan(packed, bound.price, width=50, bias=0, best=2**60, halt=halt) is None
        assert Forest(packed, bound).search(2**60, workers=2, halt=halt) == (None, False)

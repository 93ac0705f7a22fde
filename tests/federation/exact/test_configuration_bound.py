import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.federation.every_plan import shortest_makespan, tiny_queues

from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.exact import configuration_bound as bound_module
from queuesmith.federation.exact.configuration_bound import best_configurations, configuration_bound
from queuesmith.federation.exact.modes import Modes, list_modes
from queuesmith.federation.exact.packed import Packed
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import generate_queue, paper_federation


def _most_earned(modes: Modes, price: np.ndarray) -> float:
    """Every set of modes, the slow way."""
    choices = [
        [-1, *range(int(modes.first[job]), int(modes.first[job + 1]))]
        for job in range(len(modes.jobs))
    ]
    best = 0.0
    for chosen in itertools.product(*choices):
        own = [mode for mode in chosen if mode >= 0]
        if (modes.counts[own].sum(axis=0) <= modes.federation.group_nodes).all() and (
            modes.use[own].sum(axis=0) <= modes.limit
        ).all():
            best = max(best, float((price[modes.job[own]] / modes.duration[own]).sum()))
    return best


@settings(max_examples=25)
@given(tiny_queues())
def test_no_plan_is_below_the_bound(queue: tuple[Federation, FederationJobs]) -> None:
    federation, jobs = queue
    least = shortest_makespan(federation, jobs)
    assume(least is not None)
    bound = configuration_bound(Packed(list_modes(federation, jobs)))
    assert bound.converged
    assert bound.value <= least


@settings(max_examples=50)
@given(tiny_queues())
def test_the_best_configuration_is_the_best_of_all(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    modes = list_modes(federation, jobs)
    assume((np.diff(modes.first) > 0).all())
    price = np.random.default_rng(len(jobs)).uniform(0, 50, len(jobs))
    found = best_configurations(Packed(modes), price)
    earned = (price[modes.job] / modes.duration)[found.columns[0]].sum()
    assert earned == pytest.approx(_most_earned(modes, price))
    assert found.bound == pytest.approx(price.sum() / earned)


@pytest.mark.parametrize("count", [8, 30])
def test_the_bound_is_close_below_heuristics_and_never_above(count: int) -> None:
    federation, jobs = paper_federation(), generate_queue("general", count, seed=1)
    bound = configuration_bound(Packed(list_modes(federation, jobs)))
    span = place_by_heuristic(federation, jobs, "lpt-fit").makespan
    assert 0.7 * span < bound.value <= span


def test_a_search_given_up_still_proves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    federation = Federation(
        [
            FederationCluster(name, 4, power, 300.0)
            for name, power in zip("abc", (1, 0.75, 0.5), strict=True)
        ]
    )
    jobs = generate_queue("general", 12, seed=5, task_bandwidth=(50.0, 120.0))
    packed = Packed(list_modes(federation, jobs))
    full = configuration_bound(packed)
    monkeypatch.setattr(bound_module, "MOST_NODES", 3)
    assert configuration_bound(packed, seconds=3).value <= full.value


def test_no_time_still_proves_the_longest_job() -> None:
    packed = Packed(list_modes(paper_federation(), generate_queue("general", 8, seed=0)))
    assert configuration_bound(packed, seconds=0).value == packed.modes.shortest.max()

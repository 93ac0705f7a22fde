import numpy as np
import pytest
from hypothesis import assume, given, settings

from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.exact import modes as modes_module
from queuesmith.federation.exact.modes import LINK_UNITS, list_modes
from queuesmith.federation.heuristics.heuristics import place_by_heuristic
from queuesmith.federation.model.generate import (
    generate_federation,
    generate_queue,
    paper_federation,
)
from queuesmith.schedule.verify import verify
from tests.federation.every_plan import link_use, modes_of, seconds_of, tiny_queues


@settings(max_examples=60)
@given(tiny_queues())
def test_all_modes_are_listed_with_their_durations_and_loads(
    queue: tuple[Federation, FederationJobs],
) -> None:
    federation, jobs = queue
    assume(all(any(modes_of(federation, jobs, job)) for job in range(len(jobs))))
    modes = list_modes(federation, jobs)
    assert modes.complete
    for job in range(len(jobs)):
        mine = range(int(modes.first[job]), int(modes.first[job + 1]))
        listed = [tuple(modes.counts[mode].tolist()) for mode in mine]
        assert sorted(listed) == sorted(modes_of(federation, jobs, job))
        for mode, counts in zip(mine, listed, strict=True):
            assert modes.duration[mode] == seconds_of(federation, jobs, job, counts)
            wanted = float(jobs.task_bandwidth[job])
            load = link_use(federation, counts, int(jobs.tasks[job]), wanted)
            share = modes.use[mode] / LINK_UNITS * federation.bandwidth
            assert share == pytest.approx(load, abs=1e-6)


def test_a_job_on_several_clusters_is_planned_with_the_slowdown_that_is_allowed() -> None:
    federation = Federation(
        [FederationCluster("a", 2, 1.0, 100.0), FederationCluster("b", 2, 1.0, 100.0)]
    )
    jobs = FederationJobs([2], [100], [50.0], [0.6])
    slowed = list_modes(federation, jobs, saturation=1.5)
    bound = list_modes(federation, jobs, saturation=1.5, slowed=False)
    spread = (slowed.counts > 0).sum(axis=1) == 2
    assert slowed.duration[spread].tolist() == [120]  # 100 (0.6 + 0.4 * 1.5)
    assert slowed.duration[~spread].tolist() == [100, 100]
    assert set(bound.duration.tolist()) == {100}


def test_a_placement_is_read_as_modes_and_made_again() -> None:
    federation, jobs = paper_federation(), generate_queue("general", 10, seed=3)
    placement = place_by_heuristic(federation, jobs, "lpt-fit")
    modes = list_modes(federation, jobs)
    chosen = modes.of(placement)
    assert (chosen >= 0).all()
    again = verify(modes.schedule(chosen, placement.start, "again"))
    assert again.makespan == placement.makespan


def test_too_many_modes_are_chosen_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes_module, "MOST_MODES", 3)
    federation = generate_federation(4, 6, spread=0.3, seed=2)
    jobs = generate_queue("general", 12, nodes=federation.nodes, seed=2)
    start = place_by_heuristic(federation, jobs, "fpfs")
    modes = list_modes(federation, jobs, also=[start])
    assert not modes.complete
    assert (modes.of(start) >= 0).all()
    assert (modes.counts.sum(axis=1) == jobs.tasks[modes.job]).all()
    assert (modes.counts <= federation.group_nodes).all()


def test_links_without_limit_carry_everything() -> None:
    federation = Federation(
        [FederationCluster("a", 2, 1.0, np.inf), FederationCluster("b", 2, 0.5, np.inf)]
    )
    modes = list_modes(federation, FederationJobs([3], [10], [1e9], [0.7]))
    assert len(modes.duration) == 2
    assert not modes.use.any()

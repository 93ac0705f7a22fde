"""Plans made while jobs run: the best where that is proven, and never ahead of their time."""

import itertools

import numpy as np
import pytest

from queuesmith.federation import Federation, FederationCluster, FederationJobs
from queuesmith.federation.exact import modes as modes_module
from queuesmith.federation.exact.modes import LINK_UNITS, list_modes
from queuesmith.federation.exact.rolling import LAST_END, TAKEN, RollingPlanner, StillRunning
from queuesmith.federation.model.generate import generate_queue, paper_federation
from queuesmith.federation.model.placed import peak_link_load
from queuesmith.federation.online import replay
from queuesmith.federation.options import PlaceOptions
from queuesmith.schedule.verify import verify
from tests.federation.cases import chance_federation, chance_jobs

NOBODY = StillRunning(np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros(0, np.int64))


def arriving(count, seed, span=3_000_000):
    queue = generate_queue("general", count, seed=seed)
    submit = np.sort(np.random.default_rng(seed).integers(0, span, count))
    return FederationJobs(
        queue.tasks, queue.base_time, queue.task_bandwidth, queue.sigma, submit=submit
    )


def cost_slowly(federation, modes, running, order, mode):
    """What a plan costs, second by second where something changes."""
    placed = [
        (0, int(end), counts, np.floor(use * LINK_UNITS).astype(np.int64))
        for counts, use, end in zip(running.counts, running.use, running.end, strict=True)
    ]
    ends, taken = [], 0.0
    price = federation.group_power / (federation.group_power @ federation.group_nodes)
    for job in order:
        counts, use = modes.counts[mode[job]], modes.use[mode[job]]
        length = int(modes.duration[mode[job]])
        start = min(
            begin
            for begin in sorted({0, *(end for _, end, _, _ in placed)})
            if fits(federation, modes, placed, begin, begin + length, counts, use)
        )
        placed.append((start, start + length, counts, use))
        ends.append(start + length)
        taken += TAKEN * float(price @ counts) * length
    return (sum(ends) + taken) / len(ends) + LAST_END * max(ends)


def fits(federation, modes, placed, begin, end, counts, use):
    moments = {begin, *(start for start, _, _, _ in placed if begin < start < end)}
    for moment in moments:
        there = [(c, u) for start, stop, c, u in placed if start <= moment < stop]
        nodes = sum((c for c, _ in there), counts)
        load = sum((u for _, u in there), use)
        if (nodes > federation.group_nodes).any() or (load > modes.limit).any():
            return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_a_proven_plan_is_the_best_of_all_orders_and_modes(seed):
    rng = np.random.default_rng(seed)
    federation = chance_federation(rng)
    jobs = chance_jobs(rng, federation, 3, latest=0).fitting(federation)
    runners = chance_jobs(rng, federation, 1, latest=0).fitting(federation)
    if not len(jobs):
        return
    ways = list_modes(federation, runners) if len(runners) else None
    held = [0] if ways is not None and 2 * int(ways.counts[0].sum()) > federation.nodes else []
    running = StillRunning(
        ways.counts[held] if held else np.zeros((0, len(federation.group_nodes)), np.int64),
        ways.use[held] / LINK_UNITS if held else np.zeros((0, len(federation.clusters))),
        np.full(len(held), 40),
    )
    plan = RollingPlanner(federation, jobs, steps=20_000).plan(range(len(jobs)), running)
    modes = list_modes(federation, jobs.queued())
    choices = [range(a, b) for a, b in itertools.pairwise(modes.first.tolist())]
    if np.prod([len(choice) for choice in choices]) > 300:
        return
    best = min(
        cost_slowly(federation, modes, running, order, mode)
        for order in itertools.permutations(range(len(jobs)))
        for mode in itertools.product(*choices)
    )
    assert plan.proven
    assert plan.cost == pytest.approx(best)
    stopped = RollingPlanner(federation, jobs, steps=1).plan(range(len(jobs)), running)
    assert stopped.bound <= best * (1 + 1e-9)
    assert stopped.cost >= best * (1 - 1e-9)


def test_a_plan_waits_for_the_nodes_that_running_jobs_hold():
    federation = Federation([FederationCluster("a", 2, 1.0)])
    jobs = FederationJobs([2, 1], [10, 5], [0, 0], [1.0, 1.0])
    running = StillRunning(np.array([[1]]), np.zeros((1, 1)), np.array([7]))
    plan = RollingPlanner(federation, jobs).plan([0, 1], running)
    assert plan.start.tolist() == [7, 0]
    assert plan.proven


def test_links_that_running_jobs_load_are_not_loaded_further():
    federation = Federation([FederationCluster(name, 2, 1.0, 100) for name in "ab"])
    jobs = FederationJobs([2], [10], [80], [0.5])
    crowd = StillRunning(np.array([[1, 1]]), np.full((1, 2), 0.8), np.array([50]))
    plan = RollingPlanner(federation, jobs).plan([0], crowd)
    assert plan.start.tolist() == [50]  # on two clusters the links are too full until then


@pytest.mark.parametrize("steps", [300, 2000])
def test_a_replay_by_plans_is_right_and_the_same_each_time(steps):
    federation, jobs = paper_federation(), arriving(14, 3)
    options = PlaceOptions(steps=steps)
    found = verify(replay(federation, jobs, "oas", saturation=1.0, options=options))
    assert (found.start >= jobs.submit).all()
    assert peak_link_load(found) <= 1 + 1e-9
    facts = found.facts
    assert facts["plans_proven"] <= facts["plans"] == len(facts["plan_gaps_percent"])
    assert 0 <= facts["plan_gap_percent_mean"] <= facts["plan_gap_percent_worst"]
    again = replay(federation, jobs, "oas", saturation=1.0, options=options)
    assert np.array_equal(found.start, again.start)
    assert np.array_equal(found.pieces.place, again.pieces.place)


def test_nothing_is_decided_by_what_comes_later():
    federation, jobs = paper_federation(), arriving(14, 5)
    options = PlaceOptions(steps=300)
    whole = replay(federation, jobs, "oas", saturation=1.0, options=options)
    part = replay(federation, jobs.select(range(9)), "oas", saturation=1.0, options=options)
    before = whole.start[:9] < jobs.submit[9]
    assert before.sum() >= 3
    assert np.array_equal(whole.start[:9][before], part.start[before])


def test_plans_beat_every_heuristic_of_the_paper_on_the_mean_wait():
    federation = paper_federation()
    names = ("oas", "fcfs", "sjf", "bjf", "fpfs", "spt", "lpt")
    waits = dict.fromkeys(names, 0.0)
    for seed in range(2000, 2004):
        jobs = arriving(16, seed)
        for name in names:
            options = PlaceOptions(steps=500)
            found = replay(federation, jobs, name, saturation=1.0, options=options)
            waits[name] += float(found.wait.mean())
    assert min(waits, key=waits.__getitem__) == "oas"


def test_jobs_that_end_before_their_time_are_planned_with():
    # Above 1 a job on both links is planned as if they were full; alone it ends earlier.
    federation = Federation([FederationCluster(name, 2, 1.0, 50) for name in "ab"])
    jobs = FederationJobs([3, 3], [100, 100], [30, 30], [0.5, 0.5], submit=[0, 10])
    options = PlaceOptions(steps=500, saturation=2.0)
    found = verify(replay(federation, jobs, "oas", saturation=2.0, options=options))
    assert found.start[1] == found.end[0]


def test_a_window_is_of_the_first_to_arrive_and_of_the_small_ones():
    federation, jobs = paper_federation(), generate_queue("general", 20, seed=1)
    plan = RollingPlanner(federation, jobs, steps=200, window=6).plan(range(20), NOBODY)
    assert len(plan.jobs) == 6
    assert {0, 1, 2} <= set(plan.jobs.tolist())
    work = jobs.tasks * jobs.base_time
    assert set(np.argsort(work[3:], kind="stable")[:3] + 3) <= set(plan.jobs.tolist())
    more = RollingPlanner(federation, jobs, steps=5000).plan(range(20), NOBODY)
    assert len(more.jobs) == 20  # more steps, a wider window


def test_the_clock_stops_plans_too():
    federation, jobs = paper_federation(), arriving(8, 1)
    found = replay(
        federation, jobs, "oas", saturation=1.0, options=PlaceOptions(seconds=0.01), window=5
    )
    verify(found)


def test_where_modes_are_too_many_to_list_no_gap_is_claimed(monkeypatch):
    monkeypatch.setattr(modes_module, "MOST_MODES", 0)
    found = replay(
        paper_federation(), arriving(4, 1), "oas", saturation=1.0, options=PlaceOptions(steps=50)
    )
    assert verify(found).facts["plans_without_bound"] == found.facts["plans"] > 0
    assert found.facts["plans_proven"] == 0
    assert found.facts["plan_gap_percent_mean"] is None

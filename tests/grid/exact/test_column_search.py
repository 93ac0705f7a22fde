import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.generate import generate_etc
from queuesmith.grid.exact.bounds import Bound, lower_bound
from queuesmith.grid.exact.column_search import CHUNK, MOST, ColumnSearch
from queuesmith.grid.exact.kernels.columns import (
    HOPELESS,
    JOB,
    MACHINE,
    Columns,
    anneal_columns,
)
from queuesmith.grid.exact.pair_search import PairSearch
from queuesmith.grid.exact.run import greedy
from tests.grid.brute_force import best_of, tiny_instances
from tests.grid.exact.random_bounds import makespan_of, random_bound
from tests.grid.genetic.genetic_twins import Dice


class Twin:
    """The compiled annealing in plain Python, which computes all loads and their cost each time."""

    def __init__(self, bound: Bound, columns: Columns, used: np.ndarray, seed: int) -> None:
        self.ready = bound.matrix.ready / bound.value
        self.columns, self.used, self.dice = columns, used.copy(), Dice(seed)
        self.owner, self.machine = columns.pair.T
        own = self.machine[used].tolist()
        self.member = [
            [job for job, at in enumerate(own) if at == each] for each in range(len(self.ready))
        ]

    def load(self) -> np.ndarray:
        load = self.ready.copy()
        for column in self.used:
            load[self.machine[column]] += self.columns.time[column]
        return load

    def cost(self, target: float, steep: float) -> float:
        late = np.maximum(self.load() - target, 0.0)
        return math.fsum(self.columns.price * (late + steep * late**2))

    def step(self, target: float, steep: float, temperature: float, swaps: float) -> None:
        column = int(self.dice.uniform() ** 2 * len(self.owner))
        before = self.used[self.owner[column]]
        if column == before or self.take([column], target, steep, temperature):
            return
        home, goal = self.machine[before], self.machine[column]
        if swaps == 0 or not self.member[goal] or self.dice.uniform() >= swaps:
            return
        back = self.returned(home, goal)
        if back is not None:
            self.take([column, back], target, steep, temperature)

    def take(self, taken: list[int], target: float, steep: float, temperature: float) -> bool:
        """Use other columns if Metropolis' rule allows; tell whether it did."""
        before, cost = self.used.copy(), self.cost(target, steep)
        self.used[self.owner[taken]] = taken
        worse = self.cost(target, steep) - cost
        hopeless = worse >= HOPELESS * temperature
        if worse > 0 and (hopeless or self.dice.uniform() >= math.exp(-worse / temperature)):
            self.used = before
            return False
        for each in taken:
            self.put(self.owner[each], self.machine[before[self.owner[each]]], each)
        return True

    def returned(self, home: int, goal: int) -> int | None:
        """The column by which the next job of the goal that can go home does so."""
        jobs = self.member[goal]
        begin = self.dice.below(len(jobs))
        for peer in jobs[begin:] + jobs[:begin]:
            ways = np.flatnonzero((self.owner == peer) & (self.machine == home))
            if len(ways):
                return int(ways[0])
        return None

    def put(self, job: int, home: int, column: int) -> None:
        """Move a job from one list to another; the last of the first takes its place."""
        jobs = self.member[home]
        place, last = jobs.index(job), jobs.pop()
        if place < len(jobs):
            jobs[place] = last
        self.member[self.machine[column]].append(job)


@given(
    jobs=st.integers(2, 20),
    machines=st.integers(2, 5),
    target=st.floats(0.5, 1.5),
    steep=st.sampled_from([0.0, 3.0, 1000.0]),
    temperature=st.sampled_from([1e-6, 0.01, 0.3]),
    swaps=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_every_step_equals_that_of_a_slow_twin(
    jobs: int,
    machines: int,
    target: float,
    steep: float,
    temperature: float,
    swaps: float,
    seed: int,
) -> None:
    bound = random_bound(jobs, machines, seed)
    search = ColumnSearch(bound, greedy(bound.matrix), seed=seed)
    # At the prices of the LP many moves cost nothing, but for rounding, on which both may differ.
    prices = np.random.default_rng(seed).uniform(0.1, 1, machines)
    columns, state = search._columns._replace(price=prices), search._state
    twin = Twin(bound, columns, state.column, int(state.seed[0]))
    for _ in range(60):
        anneal_columns(columns, state, target, steep, temperature, swaps, 1)
        twin.step(target, steep, temperature, swaps)
        assert state.column.tolist() == twin.used.tolist()
    assert state.load == pytest.approx(twin.load(), rel=1e-9)
    assert int(state.seed[0]) == twin.dice.state
    for own, count in enumerate(state.count):
        assert state.member[own, :count].tolist() == twin.member[own]


def test_the_makespan_stated_is_that_of_the_mapping_returned() -> None:
    bound = random_bound(600, 30)
    search = ColumnSearch(bound, greedy(bound.matrix))
    stated = search.run(20 * CHUNK)
    assert stated == pytest.approx(makespan_of(bound, search.machine), rel=1e-12)


def test_loads_kept_on_the_way_are_those_computed_afresh() -> None:
    bound = random_bound(600, 30)
    search = ColumnSearch(bound, greedy(bound.matrix))
    search.run(5 * CHUNK)
    state, columns = search._state, search._columns
    completion = bound.matrix.completion(columns.pair[state.column, MACHINE])
    assert state.load == pytest.approx(completion / bound.value, rel=1e-9)
    assert np.array_equal(columns.pair[state.column, JOB], np.arange(bound.matrix.jobs))


def test_it_comes_close_to_the_bound() -> None:
    bound = random_bound(600, 30)
    start = greedy(bound.matrix)
    search = ColumnSearch(bound, start)
    found = search.run(100 * CHUNK)
    assert bound.value <= found < 1.03 * bound.value < makespan_of(bound, start)


def test_a_start_is_never_made_worse() -> None:
    bound = random_bound(40, 5)
    start = greedy(bound.matrix)
    search = ColumnSearch(bound, start)
    search.run(CHUNK)
    assert makespan_of(bound, search.machine) <= makespan_of(bound, start) * (1 + 1e-12)


def test_jobs_of_the_start_that_take_far_too_long_are_moved() -> None:
    matrix = generate_etc("u_s_hihi", jobs=200, machines=10, seed=0)
    search = ColumnSearch(lower_bound(matrix), matrix.times.argmax(axis=1))
    assert search.run(20 * CHUNK) < 1.5 * lower_bound(matrix).value


def test_few_machines_are_late_at_the_end_and_pairs_mend_them() -> None:
    # Slow machines hold few long jobs, and no single move makes such a machine end in time.
    bound = lower_bound(generate_etc("u_s_hihi", jobs=1600, machines=80, seed=0))
    assert bound.rounded is not None
    search = ColumnSearch(bound, bound.rounded)
    search.run(200 * CHUNK)
    load = bound.matrix.completion(search.last) / bound.value
    assert np.quantile(load, 0.9) < 1.04
    pairs = PairSearch(bound, search.last)
    assert pairs.run(20_000) < 1.05 * bound.value


def test_the_price_of_a_machine_rises_while_it_is_late_and_falls_back_once_it_is_in_time() -> None:
    search = ColumnSearch(
        lower_bound(generate_etc("u_i_hihi", 160, 80, seed=0)), np.arange(160) % 80
    )
    load = search._state.load
    load[:] = 1.0
    load[7] = 1.5
    for _ in range(3):
        search._urge(1.1)
    assert np.flatnonzero(search._urgency).tolist() == [7]
    assert search._urgency[7] == pytest.approx(3 * search._ending.urgent)
    load[7] = 1.0
    for _ in range(4):
        search._urge(1.1)
    assert not search._urgency.any()


def test_the_price_of_a_late_machine_does_not_rise_for_ever() -> None:
    search = ColumnSearch(
        lower_bound(generate_etc("u_i_hihi", 160, 80, seed=0)), np.arange(160) % 80
    )
    search._state.load[7] = 99.0
    for _ in range(int(2 * math.log(MOST) / search._ending.urgent)):
        search._urge(1.1)
    assert search._urgency.max() == pytest.approx(math.log(MOST))


def test_the_same_seed_gives_the_same_mapping() -> None:
    bound = random_bound(600, 30)
    one, two = (ColumnSearch(bound, greedy(bound.matrix), seed=4) for _ in range(2))
    one.run(10 * CHUNK)
    two.run(10 * CHUNK)
    assert np.array_equal(one.machine, two.machine)


def test_it_stops_when_told() -> None:
    bound = random_bound(40, 5)
    start = greedy(bound.matrix)
    search = ColumnSearch(bound, start)
    assert search.run_for(1e9, stopped=lambda: True) == pytest.approx(makespan_of(bound, start))


@settings(max_examples=25, deadline=None)
@given(tiny_instances())
def test_it_finds_no_less_than_the_optimum(matrix: EtcMatrix) -> None:
    bound = lower_bound(matrix)
    search = ColumnSearch(bound, greedy(matrix))
    search.run(CHUNK)
    assert makespan_of(bound, search.machine) >= best_of(matrix, "makespan")


@pytest.mark.parametrize("search", [ColumnSearch, PairSearch])
def test_the_time_of_a_search_is_counted_by_the_clock_that_is_given(search: Any) -> None:
    bound, looks = random_bound(600, 30), itertools.count()
    search(bound, greedy(bound.matrix), seed=1).run_for(9, clock=lambda: float(next(looks)))
    assert 9 < next(looks) < 20

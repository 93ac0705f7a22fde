"""The search over orders."""

import numpy as np
import pytest

from queuesmith.planning.order_search import OrderSearch
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.solve import load_kernels
from tests.planning.twins import random_snapshot

pytestmark = pytest.mark.uncompiled


@pytest.fixture
def problem():
    return PlanningProblem.of(random_snapshot(15, seed=4), "artww")


def test_the_order_found_is_never_worse_and_costs_what_is_told(problem):
    search = OrderSearch(problem, [np.arange(15)], seed=1)
    before = search.cost
    search.anneal(5000)
    assert search.cost <= before
    assert placed(problem, search.order)[0] == search.cost
    assert sorted(search.order.tolist()) == list(range(15))


def test_the_same_seed_finds_the_same_order(problem):
    orders = []
    for _ in range(2):
        search = OrderSearch(problem, [np.arange(15)], seed=7)
        search.anneal(3000)
        orders.append(search.order.tolist())
    assert orders[0] == orders[1]


def test_it_begins_with_the_best_of_the_orders(problem):
    orders = [np.random.default_rng(i).permutation(15) for i in range(5)]
    assert OrderSearch(problem, orders).cost == min(placed(problem, each)[0] for each in orders)


def test_it_stops_when_told(problem):
    load_kernels()
    search = OrderSearch(problem, [np.arange(15)])
    search.run_for(60, stopped=lambda: True)
    search.run_for(60, most=1000)
    assert search.placings < 5000


def test_a_single_job_needs_no_search():
    search = OrderSearch(PlanningProblem.of(random_snapshot(1), "artww"), [np.arange(1)])
    search.run_for(0.01)
    assert search.order.tolist() == [0]

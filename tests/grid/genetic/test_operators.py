import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.grid import EtcMatrix
from queuesmith.grid.genetic.config import GeneticConfig
from queuesmith.grid.genetic.evolution import evolve
from queuesmith.grid.genetic.kernels.permutation import arrange, read_permutation
from queuesmith.grid.genetic.kernels.problem import MAKESPAN, PRIMARY
from queuesmith.grid.genetic.kernels.rebalancing import rebalance, rebalance_literally
from queuesmith.grid.genetic.kernels.starting import start_min_min
from queuesmith.grid.genetic.kernels.value import become, evaluate, inherit, settle
from queuesmith.grid.genetic.operators import (
    CROSSOVERS,
    IMPROVEMENTS,
    INITIALS,
    MUTATIONS,
    SELECTIONS,
    add_crossover,
    add_mutation,
    below,
    uniform,
)
from tests.grid.genetic.genetic_twins import Bench, cross_slowly, permutation_of, random_matrix

pytestmark = pytest.mark.uncompiled

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 6), st.integers(0, 10**6))
HOLES = st.sampled_from([0.0, 0.5])
BUILT_IN_CROSSOVERS = tuple(CROSSOVERS)
BUILT_IN_MUTATIONS = tuple(MUTATIONS)


def is_valid(bench, genes):
    own = bench.matrix.times[np.arange(bench.matrix.jobs), genes]
    return bool(np.isfinite(own).all())


@pytest.fixture
def tidy():
    """Takes the operators that a test adds out of the registries again."""
    before = dict(CROSSOVERS), dict(MUTATIONS)
    yield
    for registry, old in zip((CROSSOVERS, MUTATIONS), before, strict=True):
        registry.clear()
        registry.update(old)


def test_random_numbers_equal_those_of_the_twin():
    bench = Bench(random_matrix(5, 2))
    dice = bench.dice()
    assert [uniform(bench.work.random) for _ in range(100)] == [dice.uniform() for _ in range(100)]
    assert below(bench.work.random, 7) == dice.below(7)


def test_random_numbers_are_spread_evenly():
    state = Bench(random_matrix(5, 2)).work.random
    numbers = np.array([uniform(state) for _ in range(20_000)])
    assert np.histogram(numbers, 10, (0, 1))[0] == pytest.approx(np.full(10, 2000), rel=0.1)


@given(shape=SHAPES, name=st.sampled_from(BUILT_IN_CROSSOVERS), holes=HOLES)
@settings(max_examples=60, deadline=None)
def test_every_crossover_equals_its_twin_and_keeps_chromosomes_valid(shape, name, holes):
    bench = Bench(random_matrix(*shape, holes=holes), shape[2])
    operator = CROSSOVERS[name]
    parameter = float(operator.parameter or 0.0)
    child = np.zeros(shape[0], np.int64)
    expected = cross_slowly(name, bench, 0, 1, parameter, bench.dice())
    people = bench.individual(0), bench.individual(1)
    operator.function(bench.problem, *people, child, parameter, bench.work)
    assert child.tolist() == expected
    assert is_valid(bench, child)


@pytest.mark.parametrize("name", ["one-point", "two-point", "k-point", "uniform"])
def test_exchanging_the_parents_gives_the_complementary_child(name):
    bench = Bench(random_matrix(40, 5), 3)
    operator, state = CROSSOVERS[name], bench.work.random[0]
    children = np.zeros((2, 40), np.int64)
    for k, parents in enumerate(((0, 1), (1, 0))):
        bench.work.random[0] = state
        people = (bench.individual(slot) for slot in parents)
        operator.function(
            bench.problem, *people, children[k], operator.parameter or 0.0, bench.work
        )
    both = np.sort(bench.pool.genes[:2], axis=0)
    assert (np.sort(children, axis=0) == both).all()


@given(shape=SHAPES)
@settings(max_examples=40, deadline=None)
def test_the_permutation_encoding_and_back_is_the_same_mapping(shape):
    bench = Bench(random_matrix(*shape), shape[2])
    individual = bench.individual(0)
    arrange(bench.problem, individual, bench.work)
    expected, _ = permutation_of(individual.genes.tolist(), bench.matrix.times)
    assert individual.sequence.tolist() == expected
    assert individual.sequence[individual.place].tolist() == list(range(shape[0]))
    back = np.full(shape[0], -1, np.int64)
    read_permutation(bench.problem, individual, individual.sequence, back)
    assert (back == individual.genes).all()


def test_a_permutation_that_is_kept_is_written_anew_after_a_change():
    bench = Bench(random_matrix(30, 4), 1)
    individual = bench.individual(0)
    for name in ("move", "swap", "rebalance"):
        arrange(bench.problem, individual, bench.work)
        MUTATIONS[name].function(bench.problem, individual, 0.5, bench.work)
        arrange(bench.problem, individual, bench.work)
        expected, _ = permutation_of(individual.genes.tolist(), bench.matrix.times)
        assert individual.sequence.tolist() == expected


@given(shape=SHAPES, name=st.sampled_from([*BUILT_IN_MUTATIONS, *IMPROVEMENTS]), holes=HOLES)
@settings(max_examples=60, deadline=None)
def test_every_mutation_and_improvement_keeps_chromosomes_valid_and_figures_right(
    shape, name, holes
):
    for objective in ("simultaneous", "makespan"):
        matrix = random_matrix(*shape, holes=holes, ready=True)
        bench = Bench(matrix, shape[2], objective)
        operator = MUTATIONS.get(name) or IMPROVEMENTS[name]
        operator.function(
            bench.problem, bench.individual(0), float(operator.parameter or 0.0), bench.work
        )
        assert is_valid(bench, bench.pool.genes[0])
        bench.problem.weights.setflags(write=True)
        bench.problem.weights[:] = (0.75, 0.25 / shape[1], 0, 0)
        settle(bench.problem, bench.individual(0))
        assert bench.is_right(0)


def test_figures_that_are_kept_stay_right_over_thousands_of_steps():
    bench = Bench(random_matrix(60, 7, holes=0.3, ready=True), 5)
    individual = bench.individual(0)
    for step in range(200 if PLAIN else 5000):
        operator = MUTATIONS[BUILT_IN_MUTATIONS[step % len(BUILT_IN_MUTATIONS)]]
        operator.function(bench.problem, individual, float(operator.parameter or 0), bench.work)
    assert bench.is_right(0)


@given(shape=SHAPES, changes=st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_a_child_is_valued_right_however_many_genes_differ(shape, changes):
    bench = Bench(random_matrix(*shape, ready=True), shape[2])
    child, parent = bench.individual(0), bench.individual(1)
    become(child, parent)
    for job in range(min(changes, shape[0])):
        child.genes[job] = (child.genes[job] + 1) % shape[1]
    inherit(bench.problem, child, parent, bench.work)
    assert bench.is_right(0)
    assert bench.is_right(1)


def test_a_move_changes_one_job_and_a_swap_exchanges_two():
    bench = Bench(random_matrix(30, 4), 1)
    before = bench.pool.genes.copy()
    MUTATIONS["move"].function(bench.problem, bench.individual(0), 0.0, bench.work)
    assert (bench.pool.genes[0] != before[0]).sum() == 1
    MUTATIONS["swap"].function(bench.problem, bench.individual(1), 0.0, bench.work)
    changed = np.flatnonzero(bench.pool.genes[1] != before[1])
    assert changed.size == 2
    assert bench.pool.genes[1][changed].tolist() == before[1][changed][::-1].tolist()


def test_move_and_swap_moves_as_often_as_its_probability():
    bench = Bench(random_matrix(40, 4), 1)
    moves = 0
    for _ in range(1000):
        before = bench.pool.genes[0].copy()
        MUTATIONS["move-and-swap"].function(bench.problem, bench.individual(0), 0.3, bench.work)
        moves += (bench.pool.genes[0] != before).sum() == 1
    assert moves == pytest.approx(300, rel=0.2)


def test_rebalancing_takes_load_from_a_machine_and_never_makes_the_makespan_longer():
    relieved = []
    for seed in range(30):
        bench = Bench(random_matrix(40, 4), seed)
        individual = bench.individual(3)  # the worst
        before = individual.completion.copy()
        if not rebalance(bench.problem, individual, bench.work):
            assert np.array_equal(individual.completion, before)
            continue
        settle(bench.problem, individual)
        assert (individual.completion < before).any()
        assert individual.value[MAKESPAN] <= before.max()
        assert bench.is_right(3)
        relieved.append(individual.completion[before.argmax()] < before.max())
    assert sum(relieved) > 15  # mostly it is the machine that finishes last


def test_rebalancing_moves_where_no_swap_helps():
    bench = Bench(EtcMatrix([[5.0, 5.0], [5.0, 5.0]]))
    individual = bench.individual(0)
    individual.genes[:] = 0
    evaluate(bench.problem, individual, bench.work, True)
    assert rebalance(bench.problem, individual, bench.work)
    assert sorted(individual.genes.tolist()) == [0, 1]


def test_rebalancing_as_printed_takes_a_job_from_a_late_machine():
    bench = Bench(random_matrix(40, 8), 2)
    individual = bench.individual(3)
    for _ in range(20):
        late = np.argsort(-individual.completion, kind="stable")[:2]  # a quarter of the machines
        before = individual.genes.copy()
        assert rebalance_literally(bench.problem, individual, bench.work)
        settle(bench.problem, individual)
        changed = np.flatnonzero(individual.genes != before)
        assert len(changed) == 2
        assert any(before[job] in late for job in changed)
        assert bench.is_right(3)


def test_rebalancing_as_printed_moves_where_there_is_nothing_to_swap():
    bench = Bench(EtcMatrix([[5.0, 5.0], [5.0, 5.0]]))
    individual = bench.individual(0)
    individual.genes[:] = 0
    evaluate(bench.problem, individual, bench.work, True)
    moved = [rebalance_literally(bench.problem, individual, bench.work) for _ in range(9)]
    assert any(moved)


def test_climbing_never_makes_it_worse():
    bench = Bench(random_matrix(40, 4), 1)
    before = bench.pool.value[0, PRIMARY]
    IMPROVEMENTS["climb"].function(bench.problem, bench.individual(0), 500.0, bench.work)
    assert bench.pool.value[0, PRIMARY] < before


def test_annealing_comes_close_to_the_priced_bound():
    bench = Bench(random_matrix(200, 5), 1, "makespan")
    start_min_min(bench.problem, bench.pool.genes[0], bench.work)
    evaluate(bench.problem, bench.individual(0), bench.work, True)
    before = bench.pool.value[0, MAKESPAN]
    IMPROVEMENTS["anneal"].function(bench.problem, bench.individual(0), 500.0, bench.work)
    bound = (bench.problem.prices * bench.matrix.times).min(axis=1).sum()
    assert bound <= bench.pool.value[0, MAKESPAN] < min(before, 1.01 * bound)


@given(shape=SHAPES, name=st.sampled_from(list(INITIALS)), holes=HOLES)
@settings(max_examples=60, deadline=None)
def test_every_initial_method_gives_every_job_a_machine_that_can_run_it(shape, name, holes):
    bench = Bench(random_matrix(*shape, holes=holes, ready=True), shape[2])
    genes = np.full(shape[0], -1, np.int64)
    INITIALS[name].function(bench.problem, genes, bench.work)
    assert genes.min() >= 0
    assert is_valid(bench, genes)


def test_min_min_takes_the_job_that_finishes_first():
    bench = Bench(EtcMatrix([[4, 9], [2, 3], [3, 3.5]]))
    genes = np.zeros(3, np.int64)
    INITIALS["min-min"].function(bench.problem, genes, bench.work)
    assert genes.tolist() == [0, 0, 1]


def test_ljfr_sjfr_gives_the_longest_jobs_to_the_fastest_machines_then_alternates():
    # Machine 1 is twice as fast. Longest: job 3 to machine 1, job 2 to machine 0, which are free at
    # 20 and 30; then the longest (job 1) to machine 1, free at 32; then job 0 to machine 0.
    work = np.array([10.0, 24.0, 30.0, 40.0])
    bench = Bench(EtcMatrix(np.column_stack([work, work / 2])))
    genes = np.zeros(4, np.int64)
    INITIALS["ljfr-sjfr"].function(bench.problem, genes, bench.work)
    assert genes.tolist() == [0, 1, 0, 1]


def test_selections_prefer_the_better_as_they_should():
    work = Bench(random_matrix(5, 2)).work
    count, draws = 10, 20_000

    def shares(name, parameter):
        pick = SELECTIONS[name].function
        ranks = [pick(count, turn, float(parameter), work) for turn in range(draws)]
        return np.bincount(ranks, minlength=count) / draws

    rank = np.arange(count)
    assert shares("random", 0) == pytest.approx(np.full(count, 0.1), abs=0.01)
    assert shares("best", 0) == pytest.approx(np.full(count, 0.1))
    tournament = ((count - rank) ** 3 - (count - rank - 1) ** 3) / count**3
    assert shares("n-tournament", 3) == pytest.approx(tournament, abs=0.01)
    binary = ((count - rank) ** 2 - (count - rank - 1) ** 2) / count**2
    assert shares("binary-tournament", 1) == pytest.approx(binary, abs=0.01)
    linear = (1.5 - (rank + 0.5) / count) / count
    assert shares("linear-ranking", 1.5) == pytest.approx(linear, abs=0.01)
    assert shares("linear-ranking", 1) == pytest.approx(np.full(count, 0.1), abs=0.01)


def test_selecting_the_best_takes_them_in_turn():
    work = Bench(random_matrix(5, 2)).work
    assert [SELECTIONS["best"].function(3, turn, 0.0, work) for turn in range(4)] == [0, 1, 2, 0]


def test_a_user_adds_a_crossover_with_a_number_of_its_own(tidy):
    def blocks(problem, mother, father, child, random, size=4):
        """Blocks of jobs from either parent."""
        for job in range(len(child)):
            if (job // int(size)) % 2 == 1:
                child[job] = father[job]

    operator = add_crossover(blocks, low=1, high=100)
    assert CROSSOVERS["blocks"] is operator
    assert (operator.parameter, operator.summary) == (4.0, "Blocks of jobs from either parent.")
    bench = Bench(random_matrix(16, 3), 2)
    child = np.zeros(16, np.int64)
    operator.function(
        bench.problem, bench.individual(0), bench.individual(1), child, 4.0, bench.work
    )
    mother, father = bench.pool.genes[:2]
    assert child.tolist() == [*mother[:4], *father[4:8], *mother[8:12], *father[12:]]
    config = GeneticConfig(crossover="blocks", crossover_parameter=2, generations=20)
    assert evolve(bench.matrix, config).generations == 20


def test_a_user_adds_a_mutation_and_the_figures_stay_right(tidy):
    def to_the_idlest(problem, genes, completion, random):
        job = below(random, len(genes))
        for i in range(problem.option_count[job]):
            machine = problem.options[job, i]
            if completion[machine] < completion[genes[job]]:
                genes[job] = machine

    operator = add_mutation(to_the_idlest)
    assert operator.parameter is None
    bench = Bench(random_matrix(30, 4), 2)
    for _ in range(50):
        operator.function(bench.problem, bench.individual(0), 0.0, bench.work)
    assert bench.is_right(0)
    config = GeneticConfig(mutation="to-the-idlest", generations=30)
    assert evolve(bench.matrix, config).best.makespan > 0


def test_a_users_operator_that_names_an_impossible_machine_is_told_so(tidy):
    def beyond(problem, genes, completion, random):
        genes[3] = 99

    add_mutation(beyond)
    config = GeneticConfig(mutation="beyond", mutation_probability=1, generations=5)
    with pytest.raises(UsageError, match=r"'beyond' puts job 3 on machine 99, which cannot run it"):
        evolve(random_matrix(10, 3), config)


def test_a_users_operator_may_not_spoil_its_parents(tidy):
    def vandal(problem, mother, father, child, random):
        for job in range(len(child)):
            mother[job] = -5
            father[job] = -5

    operator = add_crossover(vandal)
    bench = Bench(random_matrix(10, 3))
    before = bench.pool.genes.copy()
    child = np.zeros(10, np.int64)
    operator.function(
        bench.problem, bench.individual(0), bench.individual(1), child, 0.0, bench.work
    )
    assert (bench.pool.genes == before).all()
    assert (child == before[0]).all()


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_operators_that_cannot_be_compiled_are_explained(tidy):
    def misspelt(problem, genes, completion, random):
        genes[0] = problem.optoins[0, 0]

    def listing(problem, genes, completion, random):
        genes[0] = len([job + 1 for job in genes])

    def unknown(problem, genes, completion, random):
        genes[0] = nowhere(1)  # noqa: F821

    with pytest.raises(UsageError, match="asks for 'optoins', which a problem does not have"):
        add_mutation(misspelt)
    with pytest.raises(UsageError, match="makes a list or an array"):
        add_mutation(listing)
    with pytest.raises(UsageError, match=r"operator 'unknown'.*cannot be compiled.*nowhere"):
        add_mutation(unknown)
    with pytest.raises(UsageError, match=r"it must take \(problem, genes, completion, random\)"):
        add_mutation(lambda genes: None)
    with pytest.raises(UsageError, match="it must take"):
        add_crossover(lambda a, b, c, d, e, f=1, g=2: None)

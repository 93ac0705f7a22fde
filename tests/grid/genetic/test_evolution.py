import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.grid import OBJECTIVES, EtcMatrix
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.etc.mapping import flowtime, machine_of, mapping_facts
from queuesmith.grid.genetic.arrays import machine_prices
from queuesmith.grid.genetic.config import GeneticConfig, preset, preset_names
from queuesmith.grid.genetic.evolution import _Evolution, evolve
from queuesmith.grid.genetic.kernels.problem import FLOWTIME, MAKESPAN, PRIMARY, SECONDARY
from queuesmith.grid.genetic.operators import CROSSOVERS, MUTATIONS, REPLACEMENTS, SELECTIONS
from queuesmith.grid.genetic.result import Course
from queuesmith.grid.genetic.runs import Statistics, evolve_many
from queuesmith.schedule.verify import verify
from tests.grid.genetic.genetic_twins import random_matrix

QUICK = GeneticConfig(population=12, generations=30)


@given(
    jobs=st.integers(1, 25),
    machines=st.integers(1, 5),
    crossover=st.sampled_from(list(CROSSOVERS)),
    mutation=st.sampled_from(list(MUTATIONS)),
    selection=st.sampled_from(list(SELECTIONS)),
    replacement=st.sampled_from(list(REPLACEMENTS)),
    improvement=st.sampled_from(["none", "climb", "anneal"]),
    objective=st.sampled_from(OBJECTIVES),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_any_combination_of_operators_keeps_every_individual_right(
    jobs, machines, crossover, mutation, selection, replacement, improvement, objective, seed
):
    matrix = random_matrix(jobs, machines, seed, holes=0.3, ready=True)
    config = GeneticConfig(
        population=9,
        crossover=crossover,
        mutation=mutation,
        selection=selection,
        replacement=replacement,
        improvement=improvement,
        improvement_parameter=None if improvement == "none" else 5,
        initial={"random": 1, "mct": 1, "ljfr-sjfr": 1, "min-min": 1},
        generations=12,
    )
    run = _Evolution(matrix, config, objective, seed, ())
    run.least = 0.0  # to go on where the makespan is proven the shortest
    assert run.until_stopped(None, None) == "generations"
    for genes, value in zip(run.pool.genes, run.pool.value, strict=True):
        assert value[MAKESPAN] == pytest.approx(matrix.makespan(genes), rel=1e-9)
        assert value[FLOWTIME] == pytest.approx(flowtime(matrix, genes), rel=1e-9)
    slots = sorted([*run.parents, *run.children])
    assert slots == list(range(len(run.pool.genes) - 1))
    keys = run.pool.value[run.parents][:, [PRIMARY, SECONDARY]].tolist()
    assert keys == sorted(keys)


@pytest.mark.parametrize("name", ["braun", "carretero", "queuesmith", "steady-state"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_preset_improves_on_its_first_population(name, objective):
    matrix = random_matrix(60, 5, 3)
    config = dataclasses.replace(
        preset(name),
        generations=40,
        seconds=None,
        initial={"random": 1},
        improvement_parameter=None,
    )
    result = evolve(matrix, config, objective=objective, seed=1)
    first = _Evolution(matrix, config, objective, 1, ()).pool.value[-1]
    assert result.value < first[PRIMARY]
    assert verify(result.best).proof.objective == objective
    assert result.best.policy == f"ga:{name}"


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    matrix = random_matrix(40, 5)
    one, again, other = (evolve(matrix, QUICK, seed=seed) for seed in (3, 3, 4))
    assert (machine_of(one.best) == machine_of(again.best)).all()
    assert (one.course.makespan == again.course.makespan).all()
    assert (one.course.generation == again.course.generation).all()
    assert (machine_of(one.best) != machine_of(other.best)).any()


def test_a_longer_run_begins_like_a_shorter_one():
    matrix = random_matrix(40, 5)
    short = evolve(matrix, QUICK)
    long = evolve(matrix, dataclasses.replace(QUICK, generations=60))
    count = len(short.course.makespan) - 1  # the last point is the end
    assert (short.course.makespan[:count] == long.course.makespan[:count]).all()


def test_runs_are_the_same_on_any_number_of_workers():
    matrix = random_matrix(40, 5)
    alone = evolve_many(matrix, QUICK, runs=4, seed=7, workers=1)
    together = evolve_many(matrix, QUICK, runs=4, seed=7, workers=3)
    for one, other in zip(alone.results, together.results, strict=True):
        assert (machine_of(one.best) == machine_of(other.best)).all()
        assert one.seed == other.seed
    makespans = [r.makespan for r in alone.results]
    assert alone.makespan == Statistics(
        pytest.approx(np.mean(makespans)), min(makespans), pytest.approx(np.std(makespans, ddof=1))
    )
    assert alone.flowtime.best == min(r.flowtime for r in alone.results)
    assert alone.best.proof.value == alone.value.best
    single = evolve(matrix, QUICK, seed=9)
    assert (machine_of(single.best) == machine_of(alone.results[2].best)).all()


def test_the_deviation_of_one_run_is_zero():
    assert Statistics.of([4.0]) == (4.0, 4.0, 0.0)


def test_a_run_stops_after_its_generations():
    result = evolve(random_matrix(20, 3), QUICK)
    assert (result.generations, result.stopped) == (30, "generations")
    assert result.evaluations == 12 + 30 * 12
    assert result.course.generation[-1] == 30


def test_a_run_stops_after_the_generations_asked_for_whatever_its_configuration_says():
    config = GeneticConfig(population=12, generations=None, seconds=1e-6, stagnation=1)
    one, again = (evolve(random_matrix(20, 3), config, generations=9) for _ in range(2))
    assert (one.generations, one.stopped) == (9, "generations")
    assert (machine_of(one.best) == machine_of(again.best)).all()


def test_a_run_stops_after_its_seconds():
    config = GeneticConfig(population=12, generations=None, seconds=60)
    result = evolve(random_matrix(40, 4), config, seconds=0.3)
    assert result.stopped == "seconds"
    assert result.best.seconds >= 0.3
    assert result.generations > 0


def test_looking_at_the_clock_in_the_middle_of_a_generation_changes_nothing(monkeypatch):
    matrix = random_matrix(40, 5)
    config = dataclasses.replace(QUICK, restart=7)
    whole = evolve(matrix, config)
    monkeypatch.setattr("queuesmith.grid.genetic.evolution.BLOCK_SECONDS", 0.0)
    pieces = evolve(matrix, config)
    assert (machine_of(pieces.best) == machine_of(whole.best)).all()
    assert (pieces.course.generation == whole.course.generation).all()
    assert (pieces.course.makespan == whole.course.makespan).all()
    assert pieces.evaluations == whole.evaluations


def test_a_run_may_stop_within_its_first_generation():
    config = GeneticConfig(population=12, improvement="climb", improvement_parameter=1e6)
    result = evolve(random_matrix(200, 8), config, seconds=0.01)
    assert (result.generations, result.stopped) == (0, "seconds")
    assert result.evaluations < 12 + 12
    assert result.course.makespan[-1] == pytest.approx(result.best.makespan)


def test_a_course_tells_what_was_found_by_a_moment():
    course = Course(
        np.array([0, 3, 9]), np.array([0.1, 0.5, 2.0]), np.array([9.0, 7.0, 6.0]), np.ones(3)
    )
    assert [course.at(seconds).makespan for seconds in (0, 0.5, 1.9, 2, 90)] == [9, 7, 7, 6, 6]
    assert course.at(1).generation == 3


def test_copies_that_do_not_stand_side_by_side_die_too():
    # Where the makespan alone counts, another one of the same makespan may stand between copies.
    config = dataclasses.replace(QUICK, population=30, generations=60)
    for seed in range(5):
        run = _Evolution(random_matrix(30, 4), config, "makespan", seed, ())
        run.until_stopped(None, None)
        values = run.pool.value[run.parents][:, : FLOWTIME + 1].round(6)
        assert len(np.unique(values, axis=0)) == len(values)


def test_a_run_stops_where_it_stagnates():
    matrix = EtcMatrix([[1.0, 9.0], [9.0, 1.0]])
    config = GeneticConfig(population=6, generations=None, stagnation=25)
    result = evolve(matrix, config, objective="flowtime")
    assert result.stopped == "stagnation"
    assert result.best.makespan == 1
    assert result.generations <= 25 + 20


def test_a_restart_keeps_the_best_and_goes_on():
    matrix = random_matrix(30, 4)
    config = dataclasses.replace(QUICK, generations=300, restart=10)
    result = evolve(matrix, config, objective="makespan")
    assert result.generations == 300
    assert result.evaluations > 12 + 300 * 12
    assert (np.diff(result.course.makespan) <= 0).all()
    again = evolve(matrix, config, objective="makespan")
    assert (machine_of(again.best) == machine_of(result.best)).all()


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 0, 0), (0.1, 20, 140), (1.0, 200, 400)])
def test_a_restart_gives_new_machines_to_its_share_of_the_jobs(share, least, most):
    config = dataclasses.replace(QUICK, restart=10, restart_share=share)
    run = _Evolution(random_matrix(400, 8), config, "simultaneous", 0, ())
    run.until_stopped(None, None)
    best = run.pool.genes[-1].copy()
    run._begin_anew()
    assert (run.pool.genes[-1] == best).all()
    changed = (run.pool.genes[run.parents] != best).sum(axis=1)
    assert least <= changed.min()
    assert changed.max() <= most
    assert (np.diff(run.pool.value[run.parents, PRIMARY]) >= 0).all()


def test_the_best_ever_is_kept_where_parents_die():
    matrix = random_matrix(30, 4)
    config = dataclasses.replace(QUICK, replacement="generational", mutation_probability=1.0)
    result = evolve(matrix, config, objective="makespan")
    assert result.best.makespan == pytest.approx(result.course.makespan.min())
    assert (np.diff(result.course.makespan) <= 0).all()


def test_elitists_keep_two_parents_and_steady_states_replace_the_worst():
    matrix = random_matrix(30, 4)
    for replacement, kept in (("elitist", 2), ("steady-state", 8), ("generational", 0)):
        config = dataclasses.replace(QUICK, replacement=replacement, generations=1)
        run = _Evolution(matrix, config, "makespan", 0, ())
        before = run.parents.copy()
        run.until_stopped(None, None)
        assert sorted(set(before) & set(run.parents)) == sorted(before[:kept])


def test_only_the_best_of_all_survive_if_better():
    run = _Evolution(random_matrix(30, 4), QUICK, "makespan", 0, ())
    run.until_stopped(None, None)
    alive = run.pool.value[run.parents, MAKESPAN]
    dead = run.pool.value[run.children, MAKESPAN]
    better = dead[dead < alive.max() * (1 - 1e-9)]
    assert np.isclose(better[:, None], alive, rtol=1e-9).any(axis=1).all()  # copies of survivors


def test_of_those_alike_only_one_survives():
    run = _Evolution(random_matrix(30, 4), QUICK, "makespan", 0, ())
    run.until_stopped(None, None)
    values = run.pool.value[run.parents][:, : FLOWTIME + 1].round(6)
    assert len(np.unique(values, axis=0)) == len(values)


def test_copies_survive_where_they_may():
    config = dataclasses.replace(QUICK, distinct=False, generations=60, mutation_probability=0.1)
    run = _Evolution(random_matrix(30, 4), config, "makespan", 0, ())
    run.until_stopped(None, None)
    values = run.pool.value[run.parents][:, : FLOWTIME + 1].round(6)
    assert len(np.unique(values, axis=0)) < len(values)


def test_makespans_of_one_step_let_the_flowtime_decide_and_the_least_is_kept():
    config = dataclasses.replace(QUICK, makespan_step=0.05, generations=40)
    run = _Evolution(random_matrix(40, 4, 3), config, "hierarchic", 0, ())
    run.until_stopped(None, None)
    value = run.pool.value[run.parents]
    order = np.lexsort((value[:, FLOWTIME], value[:, PRIMARY]))
    assert (order == np.arange(len(order))).all()
    assert len(np.unique(value[:, PRIMARY])) < len(np.unique(value[:, MAKESPAN]))
    assert (np.diff(run.result("generations").course.makespan) <= 0).all()


def test_copies_survive_where_there_is_nothing_else():
    config = dataclasses.replace(QUICK, generations=5)
    run = _Evolution(EtcMatrix([[1.0]]), config, "makespan", 0, ())
    run.until_stopped(None, None)
    assert sorted([*run.parents, *run.children]) == list(range(24))


def test_hierarchic_runs_prefer_the_makespan_then_the_flowtime():
    # Every mapping of both jobs apart has the makespan 5; machine 1 is quicker for the short job.
    matrix = EtcMatrix([[5.0, 9.0, 9.0], [3.0, 2.0, 1.0]])
    best = evolve(matrix, QUICK, objective="hierarchic")
    assert (best.makespan, best.flowtime) == (5, 6)


def test_given_mappings_begin_the_first_population():
    matrix = random_matrix(30, 4)
    good = evolve(matrix, QUICK, objective="makespan").best
    config = dataclasses.replace(QUICK, generations=1)
    result = evolve(matrix, config, objective="makespan", start=[good])
    assert result.course.makespan[0] <= good.makespan * (1 + 1e-12)


def test_the_shares_make_up_the_first_population():
    matrix = random_matrix(30, 4)
    config = GeneticConfig(population=10, scatter=0.0, initial={"min-min": 1, "ljfr-sjfr": 1})
    run = _Evolution(matrix, config, "makespan", 0, ())
    _, counts = np.unique(run.pool.genes[:10], axis=0, return_counts=True)
    assert counts.tolist() == [5, 5]
    scattered = dataclasses.replace(config, scatter=0.5)
    run = _Evolution(matrix, scattered, "makespan", 0, ())
    assert len(np.unique(run.pool.genes[:10], axis=0)) == 10


def test_progress_is_told_and_may_stop_the_run():
    seen = []
    evolve(random_matrix(20, 3), QUICK, progress=seen.append)
    assert seen[-1].generation == 30
    assert seen[-1].makespan > 0

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evolve(random_matrix(20, 3), QUICK, progress=stop)


def test_the_facts_of_a_mapping_tell_the_run_in_json():
    best = evolve(random_matrix(20, 3), QUICK, seed=5).best
    facts = json.loads(json.dumps(mapping_facts(best)))
    assert (facts["generations"], facts["seed"], facts["preset"]) == (30, 5, "custom")
    assert facts["history"][0]["generation"] == 0
    assert facts["history"][-1]["makespan"] == pytest.approx(best.makespan)


@given(jobs=st.integers(1, 40), machines=st.integers(1, 6), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_prices_prove_a_bound_that_no_mapping_is_below(jobs, machines, seed):
    matrix = random_matrix(jobs, machines, seed, holes=0.3, ready=True)
    prices, bound = machine_prices(matrix)
    assert prices.sum() == pytest.approx(1)
    priced = (prices * matrix.times).min(axis=1).sum() + prices @ matrix.ready
    assert bound == pytest.approx(priced)
    found = evolve(matrix, QUICK, objective="makespan").best
    # A machine that gets no job is busy until it is ready, all the same.
    assert max(found.makespan, matrix.ready.max()) >= bound * (1 - 1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "cost"}, "there is no objective 'cost'. Choose from: makespan, flowtime"),
        ({"seed": -1}, "the seed is -1"),
        ({"seconds": 0}, "seconds is 0"),
        ({"config": "none-such"}, "there is no preset 'none-such'"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(arguments, message):
    with pytest.raises(UsageError) as caught:
        evolve(random_matrix(5, 2), **{"config": QUICK, **arguments})
    assert message in str(caught.value)


def test_runs_and_workers_must_be_numbers():
    with pytest.raises(UsageError, match="runs is 0"):
        evolve_many(random_matrix(5, 2), QUICK, runs=0)
    with pytest.raises(UsageError, match="workers is 0"):
        evolve_many(random_matrix(5, 2), QUICK, workers=0)


def test_one_job_and_one_machine_are_no_trouble():
    for name in preset_names():
        config = dataclasses.replace(preset(name), generations=3, seconds=None)
        assert evolve(EtcMatrix([[3.0]]), config).best.makespan == 3
        assert evolve(EtcMatrix([[3.0, 2.0]]), config).best.makespan == 2


@pytest.mark.data
def test_the_papers_scheduler_beats_min_min(data):
    matrix = read_etc(data / "etc" / "512x16" / "u_c_hihi.0")
    config = dataclasses.replace(preset("carretero"), generations=2500, seconds=None)
    assert evolve(matrix, config).best.makespan < 8460675


@pytest.mark.data
def test_our_scheduler_comes_within_two_per_cent_of_the_bound_in_three_generations(data):
    matrix = read_etc(data / "etc" / "512x16" / "u_c_hihi.0")
    config = dataclasses.replace(preset("queuesmith"), generations=3, seconds=None)
    best = evolve(matrix, config, objective="makespan").best
    assert best.makespan < 1.02 * 7346524.18


def test_seconds_are_counted_by_the_clock_that_is_given():
    endless = dataclasses.replace(QUICK, generations=None, seconds=1.0)
    looks = itertools.count()
    result = evolve(random_matrix(20, 4, 0), endless, seconds=1000, clock=lambda: next(looks))
    assert result.stopped == "seconds"
    assert result.best.seconds >= 1000
    assert next(looks) < 1100


#: Eight equal jobs on four equal machines: two each are the shortest makespan, and prices prove it.
EVEN = EtcMatrix(np.full((8, 4), 3.0))


@pytest.mark.parametrize("limit", [{"seconds": 60.0}, {"generations": 10**6}])
def test_a_run_ends_where_its_makespan_is_proven_to_be_the_shortest(limit):
    found = evolve(EVEN, objective="makespan", **limit)
    assert (found.makespan, found.stopped) == (6.0, "bound")
    assert verify(found.best).facts["stopped"] == "bound"


@pytest.mark.parametrize("objective", [each for each in OBJECTIVES if each != "makespan"])
def test_where_flowtime_counts_a_short_makespan_ends_nothing(objective):
    found = evolve(EVEN, objective=objective, generations=30)
    assert (found.generations, found.stopped) == (30, "generations")


def test_a_makespan_above_what_prices_prove_ends_nothing():
    found = evolve(EtcMatrix(np.full((5, 4), 3.0)), objective="makespan", generations=30)
    assert (found.makespan, found.stopped) == (6.0, "generations")

"""The off-line front: nothing on it dominates anything else on it; the seed decides by chance."""

import json

import numpy as np
import pytest

from queuesmith import Cluster, lublin, simulate
from queuesmith.base.errors import MetricError, UsageError
from queuesmith.learning.domination import dominated_by
from queuesmith.learning.offline import WAYS, OfflineSchedules
from queuesmith.learning.offline_front import Front, losses, measure
from queuesmith.learning.pareto import SEVEN_OBJECTIVES, FrontSearch, pareto_front
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.verify import verify

pytest.importorskip("pymoo")

CORES = 64
OBJECTIVE = Objective("10*awrt[1] + 4*awrt[2]")
SMALL = FrontSearch(population=20, generations=3)


@pytest.fixture(scope="module")
def jobs():
    return lublin(150, CORES, load=1.0, users=40, seed=3)


@pytest.fixture(scope="module")
def front(jobs):
    return pareto_front(jobs, policies=["group+easy"], search=SMALL, seed=5)


def test_no_point_of_the_front_dominates_another(front):
    for own in front.losses:
        assert not dominated_by(own, front.losses).any()
    assert front.objectives == SEVEN_OBJECTIVES
    assert front.left_out == ()
    assert len(front) <= front.evaluations == 60


def test_the_front_is_at_least_as_good_as_what_it_began_with(jobs, front):
    with OfflineSchedules(jobs, Cluster(CORES), SMALL.ways, workers=1) as offline:
        for vector in offline.known_vectors():
            schedule = offline.schedule(offline.recipe(vector))
            own = losses(measure(schedule, front.objectives, OBJECTIVE).values, front.objectives)
            assert np.all(front.losses <= own, axis=1).any()


def test_the_same_seed_gives_the_same_front_on_any_number_of_workers(jobs, front):
    alone = pareto_front(jobs, policies=["group+easy"], search=SMALL, seed=5, workers=1)
    assert [p.to_dict() for p in alone.points] == [p.to_dict() for p in front.points]
    other = pareto_front(jobs, search=SMALL, seed=6)
    assert [p.to_dict() for p in other.points] != [p.to_dict() for p in front.points]


def test_global_chance_is_neither_used_nor_changed(jobs):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    pareto_front(jobs, search=FrontSearch(population=8, generations=2), seed=5)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("way", WAYS)
def test_every_way_makes_feasible_schedules_that_its_text_repeats(jobs, way):
    with OfflineSchedules(jobs, Cluster(CORES), [way], workers=1) as offline:
        recipe = offline.recipe(np.random.default_rng(1).random(offline.length))
        schedule = offline.schedule(recipe)
        verify(schedule)
        assert (
            schedule.workload is jobs
        )  # judged by the true jobs, not by those with exact walltimes
        if way != "insert":
            exact = jobs.replaced(walltime=np.maximum(jobs.runtime, 1))
            again = simulate(exact, Cluster(CORES), str(recipe))
            assert again.start.tolist() == schedule.start.tolist()


def test_groups_in_strict_order_do_not_feel_those_behind_them(jobs):
    with OfflineSchedules(jobs, Cluster(CORES), ["insert"], workers=1) as offline:
        _, one_by_one, _ = offline.known_vectors()
        schedule = offline.schedule(offline.recipe(one_by_one))
        first = jobs.group == 1
        alone = jobs.select(first)
    with OfflineSchedules(alone, Cluster(CORES), ["insert"], workers=1) as offline:
        on_their_own = offline.schedule(offline.recipe(one_by_one))
    assert schedule.start[first].tolist() == on_their_own.start.tolist()


def test_distances_tell_how_far_policies_are_from_the_front(jobs, front):
    assert [policy.name for policy in front.policies] == ["fcfs+easy", "group+easy"]
    easy = front.distances[0]
    schedule = simulate(jobs, cores=CORES, policy="fcfs+easy")
    assert front.distance(schedule).to_dict() == easy.to_dict()
    assert easy.gap_percent == pytest.approx(100 * (OBJECTIVE(schedule) / front.best.value - 1))
    assert easy.dominated_by > 0
    for point in (front.best, front.points[-1]):
        own = front.distance(point)
        assert (own.nearest, own.nearest_percent, own.dominated_by) == (point, 0.0, 0)
    assert front.distance(front.best).gap_percent == 0


def test_the_best_point_is_the_first_also_where_higher_is_better(jobs):
    front = pareto_front(jobs, objective="utilization", search=SMALL, seed=5)
    values = [point.value for point in front.points]
    assert values == sorted(values, reverse=True)
    assert all(distance.gap_percent >= 0 for distance in front.distances)


def test_a_schedule_of_other_jobs_has_no_distance(jobs, front):
    with pytest.raises(UsageError, match="Give a schedule of the same jobs"):
        front.distance(simulate(jobs.head(10), cores=CORES))


def test_the_hypervolume_is_measured_from_twice_easy(front):
    easy = front.policies[0].values
    assert front.reference["awrt[1]"] == 2 * easy["awrt[1]"]
    assert front.reference["utilization"] == 0
    assert 0 < front.hypervolume < front.projected_hypervolume < 1


def test_a_front_is_saved_and_read_again(front, tmp_path):
    front.save(tmp_path / "front.json")
    again = Front.load(tmp_path / "front.json")
    assert again.to_dict() == front.to_dict() == json.loads((tmp_path / "front.json").read_text())
    front.save(tmp_path / "front.json.gz")
    assert Front.load(tmp_path / "front.json.gz").to_dict() == front.to_dict()
    assert (tmp_path / "front.json.gz").stat().st_size < (
        tmp_path / "front.json"
    ).stat().st_size / 2
    front.save(tmp_path / "front.csv")
    lines = (tmp_path / "front.csv").read_text().splitlines()
    assert len(lines) == 1 + len(front.points) + len(front.policies)
    assert len(front.to_frame()) == len(lines) - 1
    assert "schedules of 60" in repr(front)
    assert "schedules of 60" in front._repr_html_()


def test_files_that_are_no_front_are_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"log": "x"}')
    with pytest.raises(UsageError, match="is no front that was saved as JSON"):
        Front.load(tmp_path / "other.json")
    with pytest.raises(UsageError, match="cannot be read"):
        Front.load(tmp_path / "absent.json")


def test_groups_without_jobs_are_left_out_and_named(jobs):
    two = jobs.replaced(group=np.minimum(jobs.group, 2))
    front = pareto_front(two, search=SMALL)
    assert front.objectives == ("awrt[1]", "awrt[2]", "awrt", "utilization")
    assert front.left_out == ("awrt[3]", "awrt[4]", "awrt[5]")


def test_one_group_alone_has_nothing_to_trade(jobs):
    with pytest.raises(MetricError, match="needs two groups"):
        pareto_front(jobs.replaced(group=np.ones(len(jobs), int)), objective="awrt")


def test_an_objective_about_absent_jobs_is_refused_before_the_search(jobs):
    with pytest.raises(MetricError, match=r"objective 'awrt\[9\]' cannot be computed"):
        pareto_front(jobs, objective="awrt[9]")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"algorithm": "spea"}, "there is no algorithm 'spea'"),
        ({"population": 2}, "the population is 2"),
        ({"generations": 0}, "the number of generations is 0"),
        ({"ways": ("easy", "magic")}, "the ways to make schedules are easy, magic"),
        ({"ways": ()}, r"\(none\)"),
    ],
)
def test_wrong_options_of_the_search_are_told(options, complaint):
    with pytest.raises(UsageError, match=complaint):
        FrontSearch(**options)


def test_too_few_workers_are_told(jobs):
    with pytest.raises(UsageError, match="workers is 0"):
        pareto_front(jobs, workers=0)


def test_progress_counts_generations_and_evaluations(jobs):
    seen = []
    search = FrontSearch(algorithm="nsga2", population=8, generations=3)
    pareto_front(jobs, search=search, progress=seen.append)
    assert [(state.round, state.rounds, state.evaluations) for state in seen] == [
        (1, 3, 8),
        (2, 3, 16),
        (3, 3, 24),
    ]
    assert seen[-1].seconds_left == 0
    assert seen[0].best >= seen[-1].best


class StopHereError(Exception):
    pass


def test_a_search_that_was_stopped_goes_on_where_it_was(jobs, front, tmp_path):
    record = tmp_path / "front.sqlite"
    options = {"search": SMALL, "seed": 5, "store": record}

    def stop(state):
        if state.round == 2:
            raise StopHereError

    with pytest.raises(StopHereError):
        pareto_front(jobs, **options, progress=stop)
    heard = []
    resumed = pareto_front(jobs, **options, progress=heard.append)
    assert [state.rate is None for state in heard[:3]] == [True, True, False]
    assert resumed.points == pareto_front(jobs, search=SMALL, seed=5).points
    with pytest.raises(UsageError, match="the seed changed since it was begun, from 5 to 6"):
        pareto_front(jobs, search=SMALL, seed=6, store=record)

"""The environment: the engine's schedules, the twin's choices, Gymnasium's rules."""

import numpy as np
import pytest

from queuesmith import Cluster, Workload, lublin, simulate, verify
from queuesmith.base.errors import ClusterError, UsageError, WorkloadError
from queuesmith.testing.twin_environment import TwinEpisode

gymnasium = pytest.importorskip("gymnasium", reason="the environment needs queuesmith[gym]")
from queuesmith.environment import SchedulingEnvironment  # noqa: E402


@pytest.fixture(scope="module")
def log():
    return lublin(400, 64, load=1.2, users=10, seed=4)


def played(environment, choose, first=0):
    """Play an episode; return its schedule and the rewards added up."""
    seen, info = environment.reset(options={"first": first})
    total, over = 0.0, False
    while not over:
        assert environment.observation_space.contains(seen)
        seen, reward, over, _, info = environment.step(choose(info["action_mask"]))
        total += reward
    return environment.schedule, total


@pytest.mark.parametrize(("backfill", "policy"), [("none", "fcfs"), ("easy", "fcfs+easy")])
def test_who_always_takes_the_first_job_gets_the_engines_schedule(log, backfill, policy):
    environment = SchedulingEnvironment(log, jobs=400, backfill=backfill)
    schedule, total = played(environment, lambda mask: 0)
    verify(schedule)
    assert schedule.start.tolist() == simulate(log, policy=policy).start.tolist()
    assert total == pytest.approx(-schedule.value("mean_bounded_slowdown"))


@pytest.mark.parametrize("backfill", ["none", "easy"])
@pytest.mark.parametrize("seed", range(3))
def test_any_choices_give_what_the_twin_gives(log, backfill, seed):
    environment = SchedulingEnvironment(log, jobs=150, window=9, backfill=backfill)
    chance, taken = np.random.default_rng(seed), []

    def choose(mask):
        taken.append(int(chance.integers(mask.sum())))
        return taken[-1]

    schedule, _ = played(environment, choose, first=seed * 100)
    twin = TwinEpisode(schedule.workload, 64, backfill == "easy")
    seen, _ = environment.reset(options={"first": seed * 100})
    for place in taken:
        np.testing.assert_allclose(twin.look(9), seen, rtol=1e-6)
        twin.step(place)
        seen = environment.step(place)[0]
    assert schedule.start.tolist() == [twin.start[job] for job in range(150)]
    verify(schedule)


def test_gymnasium_finds_nothing_wrong(log):
    from gymnasium.utils.env_checker import check_env

    check_env(SchedulingEnvironment(log, jobs=20, window=5), skip_render_check=True)


def test_the_same_seed_begins_at_the_same_job(log):
    environment = SchedulingEnvironment(log, jobs=20)
    first, _ = environment.reset(seed=5)
    again, _ = environment.reset(seed=5)
    assert np.array_equal(first, again)


def test_a_place_at_which_nobody_waits_stands_for_the_last(log):
    one = SchedulingEnvironment(log, jobs=50, window=8)
    other = SchedulingEnvironment(log, jobs=50, window=8)
    last = played(one, lambda mask: mask.sum() - 1)[0]
    assert last.start.tolist() == played(other, lambda mask: 7)[0].start.tolist()


@pytest.mark.parametrize(
    "wrong", [{"jobs": 401}, {"jobs": 0}, {"window": 0}, {"backfill": "list"}, {"bound": 0}]
)
def test_an_environment_that_cannot_be_is_refused(log, wrong):
    with pytest.raises(UsageError):
        SchedulingEnvironment(log, **wrong)


def test_steps_and_schedules_out_of_order_are_refused(log):
    environment = SchedulingEnvironment(log, jobs=3)
    environment.reset(seed=1)
    with pytest.raises(UsageError, match="not over yet"):
        environment.schedule  # noqa: B018
    with pytest.raises(UsageError, match="must be a whole number from 0 to 397"):
        environment.reset(options={"first": 398})
    played(environment, lambda mask: 0)
    with pytest.raises(UsageError, match="Call reset first"):
        environment.step(0)


@pytest.mark.parametrize("first", [2.5, "a", -1, 10**6, float("nan"), [1]])
def test_the_first_job_is_a_whole_number(log, first):
    with pytest.raises(UsageError, match="must be a whole number from 0 to"):
        SchedulingEnvironment(log, jobs=30).reset(options={"first": first})


def test_an_option_of_reset_that_there_is_not_is_refused(log):
    environment = SchedulingEnvironment(log, jobs=30)
    with pytest.raises(UsageError, match="options have 'frist', but reset knows first"):
        environment.reset(options={"frist": 3})
    with pytest.raises(UsageError, match="options is of the kind list"):
        environment.reset(options=[3])


@pytest.mark.parametrize("action", [None, "a", 2.7, float("nan"), -5, [0, 1]])
def test_an_action_is_a_whole_number(log, action):
    environment = SchedulingEnvironment(log, jobs=30)
    with pytest.raises(UsageError, match="no episode is under way"):
        environment.step(0)
    environment.reset(seed=1)
    with pytest.raises(UsageError, match="must be a whole number from 0 up"):
        environment.step(action)
    environment.step(np.array(0))


def test_windows_of_maintenance_are_refused_as_the_environment_does_not_know_them(log):
    with pytest.raises(ClusterError, match="which the environment does not know"):
        SchedulingEnvironment(log, Cluster(64, maintenance=((0, 100),)), jobs=30)


def test_jobs_that_wait_for_others_are_refused_as_the_environment_does_not_know_them():
    log = Workload([0, 0], [10, 10], [10, 10], [1, 1], extra={"after": np.array([-1, 1])})
    with pytest.raises(WorkloadError, match="which the environment does not know"):
        SchedulingEnvironment(log, cores=2, jobs=2)


def test_an_episode_before_second_0_has_a_schedule():
    log = Workload([-100, -50, 0], [60, 60, 60], [60, 60, 60], [4, 4, 4])
    schedule, _ = played(SchedulingEnvironment(log, cores=4, jobs=3), lambda mask: 0)
    assert schedule.start.tolist() == simulate(log, cores=4, policy="fcfs").start.tolist()

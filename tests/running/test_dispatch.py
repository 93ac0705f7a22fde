import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.knobs import Knobs, TaskJobs, knapsack
from queuesmith.running.dispatch import Demand, forecast, starts
from queuesmith.running.tuning import better_knobs, settings
from queuesmith.workload import Workload


def test_knobs_stay_where_no_bag_fits_the_cores_that_are_there_just_now():
    wide = [Demand(place, 4, 0.0, 1.0, 4, 1, 1) for place in (0, 1)]
    for objective in ("mean_response", "expansion_factor", "makespan"):
        assert better_knobs(objective, wide, {}, 1.0, 2, Knobs()) is None


def demand(place, tasks, submit, runtime, limit=None, cores=1):
    return Demand(place, tasks * cores, submit, runtime, cores, limit or tasks, tasks)


def test_cores_go_to_the_first_bag_then_to_the_next():
    bags = [demand(0, 3, 0, 10), demand(1, 9, 0, 10)]
    assert [(b.place, n) for b, n in starts(bags, 5, 10, Knobs(1, 0, 0))] == [(1, 9), (0, 1)]
    assert [(b.place, n) for b, n in starts(bags, 5, 10, Knobs(-1, 0, 0))] == [(0, 3), (1, 7)]


def test_a_share_caps_a_bag_and_a_bag_that_has_not_come_gets_nothing():
    bags = [demand(0, 9, 0, 10, limit=2), demand(1, 9, 6, 10), demand(2, 9, 0, 10)]
    assert [(b.place, n) for b, n in starts(bags, 5, 10, Knobs(0, 1, 0))] == [(0, 2), (2, 8)]


def test_a_wide_task_that_does_not_fit_lets_others_go_on():
    bags = [demand(0, 2, 0, 10, cores=4), demand(1, 5, 0, 10)]
    assert [(b.place, n) for b, n in starts(bags, 5, 3, Knobs(1, 0, 0))] == [(1, 3)]


bag_lists = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=6
)
exponents = st.sampled_from([-1.0, -0.3, 0.0, 0.7, 1.0])


@given(bag_lists, st.integers(1, 6), exponents, exponents, exponents, st.sampled_from([0.4, 1.0]))
def test_the_forecast_is_the_replay_of_the_knapsack(bags, cores, alpha, beta, gamma, share):
    bags = sorted(bags, key=lambda bag: bag[1])
    tasks, submit, runtime = (np.array(column) for column in zip(*bags, strict=True))
    knobs = Knobs(alpha, beta, gamma)
    log = Workload(submit=submit, runtime=runtime, walltime=runtime, cores=tasks)
    jobs = TaskJobs(log, share=share)
    replayed = knapsack(jobs, cores=cores, knobs=knobs)
    demands = [
        demand(i, int(tasks[i]), float(submit[i]), float(runtime[i]), int(jobs.limit[i]))
        for i in range(len(bags))
    ]
    spans = forecast(demands, float(submit[0]), cores, knobs)
    assert [spans[i][0] for i in range(len(bags))] == replayed.start.tolist()
    assert [spans[i][1] for i in range(len(bags))] == replayed.end.tolist()


def test_what_runs_already_holds_its_cores():
    waiting = [demand(0, 2, 0, 10)]
    waiting[0].running = 1
    spans = forecast(waiting, 5, 1, Knobs(), {0: [8.0]})
    assert spans == {0: (5, 28.0)}


def test_tuning_finds_that_short_bags_should_go_first():
    bags = [demand(0, 10, 0, 100), demand(1, 10, 0, 1)]
    found = better_knobs("mean_response", bags, {}, 1.0, 1, Knobs(0, 0, 1))
    assert found is not None and found.gamma < 0
    assert better_knobs("mean_response", bags, {}, 1.0, 1, found) is None


def test_settings_of_one_direction_are_tried_once():
    tried = list(settings())
    assert Knobs(1, 0, 0) in tried and Knobs(0, 0, 0) in tried
    assert len(tried) == len(set(tried)) == 99


def test_an_unknown_objective_is_told():
    from queuesmith.base.errors import UsageError
    from queuesmith.running import KnobTuning

    with pytest.raises(UsageError, match="Did you mean 'mean_response'"):
        KnobTuning("mean_responce")

"""The paper's own model: its time scale, its grid, its repair."""

import numpy as np
import pytest
from papers.dynp_model import moved_forward, scale_of, solve_paper_model, time_scale

from queuesmith.base.errors import QueuesmithError
from queuesmith.planning import Snapshot
from queuesmith.planning.plans import plan_value
from queuesmith.planning.solve import solve
from queuesmith.schedule.verify import verify
from tests.planning.twins import random_snapshot

#: Table 1: makespan, accumulated run time, time scale in minutes.
TABLE_1 = (
    (189_559, 1_798_837, 7),
    (189_596, 1_862_437, 8),
    (190_899, 1_395_637, 7),
    (191_509, 1_395_937, 8),
    (194_121, 1_030_782, 6),
    (194_161, 1_095_582, 6),
    (259_141, 715_905, 6),
    (256_741, 723_405, 6),
    (256_741, 728_505, 6),
    (178_232, 1_617_937, 7),
    (201_983, 906_331, 6),
    (239_417, 519_300, 5),
)


def test_the_time_scale_is_that_of_table_1_but_for_one_line():
    ours = [scale_of(span, run_time) // 60 for span, run_time, _ in TABLE_1]
    differ = [i for i, row in enumerate(TABLE_1) if ours[i] != row[2]]
    assert differ == [3]


def test_more_memory_makes_a_finer_grid():
    step = random_snapshot(12)
    assert time_scale(step, 0.001) > time_scale(step, 0.01) >= time_scale(step, 1e9) == 60


def test_jobs_move_forward_in_the_order_of_their_starts():
    step = Snapshot.make(
        now=10, cores=1, staircase=[(10, 1)], submit=[0, 0], walltime=[50, 70], width=[1, 1]
    )
    repaired = moved_forward(step, np.array([190, 70]))
    assert repaired.start.tolist() == [80, 10]


@pytest.mark.parametrize("seed", range(4))
def test_its_plan_is_feasible_and_never_better_than_the_optimum(seed):
    step = random_snapshot(6, seed=seed)
    found = solve_paper_model(step, 20, memory=0.5)
    best = solve(step, "artww", 5)
    assert found.status == "optimal"
    value = plan_value(verify(found.plan), "artww")
    assert value >= best.lower_bound * (1 - 1e-9)
    assert value >= best.proof.value * (1 - 1e-9)
    assert found.variables > 0
    assert found.entries > 0


def test_without_time_there_is_no_plan_but_an_answer():
    found = solve_paper_model(random_snapshot(30), 1e-3, memory=50)
    assert found.plan is None or verify(found.plan)
    assert found.status in ("optimal", "time limit", "failed")


@pytest.mark.parametrize("options", [{"seconds": 0}, {"memory": 0}])
def test_nothing_cannot_be_given(options):
    with pytest.raises(QueuesmithError, match="above 0"):
        solve_paper_model(random_snapshot(3), **options)

"""Small schedules made by hand, and a hypothesis strategy for feasible-looking ones."""

import pytest

from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


@pytest.fixture
def tiny() -> Schedule:
    """Three jobs on 4 cores: waits 0, 10, 0; responses 10, 30, 40; work 20, 80, 40.

    job  submit  start  end  runtime  walltime  cores  user  group
      1       0      0   10       10        20      2     1      1
      2       0     10   30       20        30      4     1      1
      3      30     30   70       40        40      1     2      2
    """
    workload = Workload(
        submit=[0, 0, 30],
        runtime=[10, 20, 40],
        walltime=[20, 30, 40],
        cores=[2, 4, 1],
        user=[1, 1, 2],
        group=[1, 1, 2],
        name="tiny",
    )
    return Schedule(workload, Cluster(4), [0, 10, 30], "by-hand", seconds=0.25)


@pytest.fixture
def empty() -> Schedule:
    return Schedule(Workload([], [], [], []), Cluster(4), [], "by-hand")

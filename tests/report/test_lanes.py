import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.cluster import Cluster
from queuesmith.report.lanes import FreeCores, Lanes, assign_lanes
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


def overlaps(lanes: Lanes) -> int:
    """Count pairs of rectangles that share a core at some second, the slow and obvious way."""
    start, end = lanes.start, lanes.end
    top = lanes.low + lanes.height
    in_time = (start[:, None] < end) & (start < end[:, None])
    in_cores = (lanes.low[:, None] < top) & (lanes.low < top[:, None])
    return int(np.triu(in_time & in_cores, k=1).sum())


def covered(lanes: Lanes, count: int) -> list[int]:
    """Return the core-seconds that the rectangles of each job cover."""
    area = lanes.height * (lanes.end - lanes.start)
    return np.bincount(lanes.job, weights=area, minlength=count).astype(int).tolist()


def above(lanes: Lanes, cores: int, second: int) -> int:
    """Return how many cores are drawn above the machine during a second."""
    there = (lanes.start <= second) & (second < lanes.end)
    high = np.maximum(lanes.low + lanes.height - np.maximum(lanes.low, cores), 0)
    return int(high[there].sum())


def test_no_two_rectangles_overlap_and_every_job_has_its_cores(schedules):
    for schedule in schedules:
        lanes = assign_lanes(schedule)
        assert overlaps(lanes) == 0
        assert covered(lanes, len(schedule)) == schedule.workload.work.tolist()
        assert lanes.low.min() >= 0
        assert (lanes.low + lanes.height).max() <= lanes.cores == 64


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(1, 9)),
        min_size=1,
        max_size=40,
    )
)
def test_any_schedule_even_an_overfull_one_is_drawn_without_overlap(jobs):
    start, runtime, cores = map(list, zip(*sorted(jobs), strict=True))
    schedule = Schedule(Workload(start, runtime, runtime, cores), Cluster(9), start, "history")
    lanes = assign_lanes(schedule)
    assert overlaps(lanes) == 0
    assert covered(lanes, len(jobs)) == schedule.workload.work.tolist()
    assert (lanes.low + lanes.height <= lanes.cores).all()
    for second in range(45):
        running = (schedule.start <= second) & (second < schedule.end)
        busy = int(schedule.workload.cores[running].sum())
        assert above(lanes, 9, second) == max(busy - 9, 0)


def test_a_job_takes_the_lowest_block_that_holds_it():
    free = FreeCores(0, 10)
    first, second = free.take(3), free.take(4)
    free.give(first[0])
    assert second == [(3, 4)]
    assert free.take(2) == [(0, 2)]
    assert free.take(3) == [(7, 3)]


def test_a_job_is_split_where_no_block_is_large_enough():
    free = FreeCores(0, 10)
    blocks = [free.take(2)[0] for _ in range(5)]
    free.give(blocks[0])
    free.give(blocks[2])
    free.give(blocks[3])
    assert free.take(6) == [(4, 4), (0, 2)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_blocks_given_back_in_any_order_join(order):
    free = FreeCores(0, 9)
    blocks = [free.take(3)[0] for _ in range(3)]
    for i in order:
        free.give(blocks[i])
    assert free.take(9) == [(0, 9)]


def test_cores_released_at_an_instant_are_used_at_that_instant():
    workload = Workload([0, 0], [5, 5], [5, 5], [4, 4])
    lanes = assign_lanes(Schedule(workload, Cluster(4), [0, 5], "fcfs"))
    assert lanes.low.tolist() == [0, 0]


def test_a_job_is_above_the_machine_only_as_long_as_there_is_no_room():
    workload = Workload([0, 1], [5, 9], [5, 9], [3, 3])
    lanes = assign_lanes(Schedule(workload, Cluster(4), [0, 1], "history"))
    drawn = list(zip(lanes.job, lanes.low, lanes.height, lanes.start, lanes.end, strict=True))
    assert [tuple(map(int, each)) for each in drawn] == [
        (0, 0, 3, 0, 5),
        (1, 3, 1, 1, 10),
        (1, 4, 2, 1, 5),
        (1, 0, 2, 5, 10),
    ]
    assert lanes.cores == 6


def test_a_chosen_part_is_drawn_alone(schedules):
    lanes = assign_lanes(schedules[0], np.array([5, 6, 7]))
    assert set(lanes.job.tolist()) == {5, 6, 7}

"""A plan says the same as an array with one number for each second, be it a list or blocks."""

import numpy as np
import pytest

from queuesmith.engine.kernels.constants import COUNTERS, DUE, FREE, NEVER, STEPS
from queuesmith.engine.kernels.plan import (
    IN_BLOCKS,
    advance_plan,
    begin_plan,
    change_plan,
    earliest,
    earliest_from,
    may_start_now,
    new_plan,
)
from queuesmith.engine.kernels.running import Running

pytestmark = pytest.mark.uncompiled

CORES, SECONDS, CHANGES = 20, 6_000, 500


class Seconds:
    """Free cores second by second."""

    def __init__(self):
        self.free = np.full(SECONDS, CORES)
        self.now = 0

    def earliest(self, begin, walltime, cores, own=None):
        """The first second from which so many cores are free, one's own reservation left out."""
        free = self.free.copy()
        if own is not None:
            free[own : own + walltime] += cores
        short = np.concatenate([[0], np.cumsum(free < cores)])
        room = np.flatnonzero(short[begin + walltime :] == short[begin : SECONDS + 1 - walltime])
        return begin + int(room[0])


def idle_machine(long):
    counters = np.zeros(COUNTERS, np.int64)
    counters[FREE] = CORES
    nobody = np.empty(0, np.int64)
    running = Running(nobody, np.empty(0, np.int32), nobody, nobody)
    plan = new_plan(2 * CHANGES + 3, 0, CORES, long)
    assert counters[DUE] == 0
    begin_plan(running, counters, plan, 0)
    return plan, counters


@pytest.mark.parametrize(
    ("long", "forms"),
    [(8, {"list", "blocks"}), (128, {"list", "blocks"}), (2 * CHANGES, {"list"})],
)
@pytest.mark.parametrize("seed", range(4))
def test_reservations_made_moved_and_given_back_leave_the_same_room(seed, long, forms):
    rng = np.random.default_rng(seed)
    (plan, counters), seconds = idle_machine(long), Seconds()
    seen = []
    held = []
    for _ in range(CHANGES):
        what = rng.random()
        walltime, cores = int(rng.integers(1, 120)), int(rng.integers(1, CORES + 1))
        if what < 0.6 or not held:
            begin = seconds.earliest(seconds.now, walltime, cores)
            if begin + walltime > SECONDS - 1_000:
                continue
            assert earliest(plan, counters, walltime, cores, NEVER) == begin
            change_plan(plan, counters, begin, begin + walltime, -cores)
            seconds.free[begin : begin + walltime] -= cores
            held.append((begin, walltime, cores))
        elif what < 0.95:
            begin, walltime, cores = held.pop(int(rng.integers(len(held))))
            if begin > seconds.now and what < 0.85:
                sooner = seconds.earliest(seconds.now, walltime, cores, own=begin)
                assert earliest(plan, counters, walltime, cores, begin) == sooner
                held.append((sooner, walltime, cores))
                seconds.free[sooner : sooner + walltime] -= cores
                change_plan(plan, counters, sooner, min(sooner + walltime, begin), -cores)
                late = max(sooner + walltime, begin)
                change_plan(plan, counters, late, begin + walltime, cores)
            else:
                change_plan(plan, counters, max(begin, seconds.now), begin + walltime, cores)
            seconds.free[begin : begin + walltime] += cores
        else:
            seconds.now += int(rng.integers(0, 20))
            advance_plan(plan, counters, seconds.now)
            held = [job for job in held if job[0] + job[1] > seconds.now]
        now = seconds.now
        fits = bool((seconds.free[now : now + walltime] >= cores).all())
        assert may_start_now(plan, counters, walltime, cores) == fits
        later = now + int(rng.integers(0, 300))
        room = seconds.earliest(later, walltime, cores)
        assert earliest_from(plan, counters, later, walltime, cores) == room
        seen.append("blocks" if counters[STEPS] == IN_BLOCKS else "list")
    assert set(seen) == forms


def test_a_plan_of_which_little_is_left_is_a_list_again():
    plan, counters = idle_machine(128)
    for k in range(150):
        change_plan(plan, counters, 10 * k, 10 * k + 5, -1 - k % 3)
    assert counters[STEPS] == IN_BLOCKS
    advance_plan(plan, counters, 10 * 140)
    assert counters[STEPS] == 20
    assert [earliest(plan, counters, 6, cores, NEVER) for cores in (CORES, CORES - 3)] == [
        1495,
        1400,
    ]

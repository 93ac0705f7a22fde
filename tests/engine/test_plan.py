"""Plans say the same as an array with one number for each second: lists, blocks and chains."""

import numpy as np
import pytest

from queuesmith.engine.kernels.chain_room import (
    BEGIN,
    BLOCK,
    COUNT,
    END,
    HEAD,
    HOLDERS,
    NEXT,
    NO_STEP,
    ROW,
    WIDTHS,
    index_steps,
    new_chain,
    next_noted,
    note_longer,
    note_longest,
    noted_widths,
    some_noted,
)
from queuesmith.engine.kernels.chain_room import CORES as FREE_CORES
from queuesmith.engine.kernels.constants import COUNTERS, DUE, FREE, STEPS
from queuesmith.engine.kernels.plan import (
    IN_BLOCKS,
    begin_plan,
    change_plan,
    earliest,
    earliest_from,
    may_start_now,
    new_plan,
)
from queuesmith.engine.kernels.running import Running
from queuesmith.engine.kernels.step_chain import (
    advance_chain,
    choose_rows,
    fill_rows,
    hold_chosen,
    link_rows,
    move_in_chain,
    release_in_chain,
    reserve_in_chain,
)

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
def test_reservations_made_and_given_back_leave_the_same_room(seed, long, forms):
    rng = np.random.default_rng(seed)
    (plan, counters), seconds = idle_machine(long), Seconds()
    seen = []
    held = []
    for _ in range(CHANGES):
        walltime, cores = int(rng.integers(1, 120)), int(rng.integers(1, CORES + 1))
        if rng.random() < 0.7 or not held:
            begin = seconds.earliest(0, walltime, cores)
            if begin + walltime > SECONDS - 1_000:
                continue
            assert earliest(plan, counters, walltime, cores) == begin
            change_plan(plan, counters, begin, begin + walltime, -cores)
            seconds.free[begin : begin + walltime] -= cores
            held.append((begin, walltime, cores))
        else:
            begin, walltime, cores = held.pop(int(rng.integers(len(held))))
            change_plan(plan, counters, begin, begin + walltime, cores)
            seconds.free[begin : begin + walltime] += cores
        fits = bool((seconds.free[:walltime] >= cores).all())
        assert may_start_now(plan, counters, walltime, cores) == fits
        later = int(rng.integers(0, 300))
        room = seconds.earliest(later, walltime, cores)
        assert earliest_from(plan, counters, later, walltime, cores) == room
        seen.append("blocks" if counters[STEPS] == IN_BLOCKS else "list")
    assert set(seen) == forms


def empty_chain(job_cores, job_walltime):
    chain = new_chain(job_cores, job_walltime, CORES, CORES)
    chain.time[0] = 0
    chain.step[[FREE_CORES, HOLDERS]] = CORES, 0
    link_rows(chain, 1, len(chain.step) // ROW)
    index_steps(chain)
    return chain


def check_chain(chain, seconds):
    """The steps say what is free when, and each but the first is held by somebody."""
    steps = []
    step = chain.facts[HEAD]
    while step != NO_STEP:
        steps.append(step)
        step = chain.step[step + NEXT]
    assert len(steps) == chain.facts[COUNT]
    assert all(chain.step[step + HOLDERS] > 0 for step in steps[1:])
    begins = [*(chain.time[step >> 1] for step in steps), SECONDS]
    for i, step in enumerate(steps):
        assert (seconds.free[begins[i] : begins[i + 1]] == chain.step[step + FREE_CORES]).all()


def tidy(chain, waiting, running):
    """Put the steps into rows anew."""
    choose_rows(chain)
    for job in running:
        hold_chosen(chain, job, END)
    for job in waiting:
        hold_chosen(chain, job, BEGIN)
        hold_chosen(chain, job, END)
    fill_rows(chain)


@pytest.mark.parametrize("widths", [CORES, 4])
@pytest.mark.parametrize("seed", range(2))
def test_in_a_chain_reservations_move_to_the_earliest_room(seed, widths):
    rng = np.random.default_rng(seed)
    jobs = 60
    cores = rng.integers(1, widths + 1, jobs) * (CORES // widths)
    walltime = rng.integers(1, 120, jobs)
    chain, seconds = empty_chain(cores, walltime), Seconds()
    waiting, running = {}, {}
    for job in range(jobs):
        wall, width = int(walltime[job]), int(cores[job])
        begin = seconds.earliest(seconds.now, wall, width)
        assert reserve_in_chain(chain, job, wall, width) == begin
        seconds.free[begin : begin + wall] -= width
        waiting[job] = begin
        running |= {job: begin for job, begin in waiting.items() if begin == seconds.now}
        seconds.now = min(seconds.now + int(rng.integers(0, 30)), min(waiting.values()))
        advance_chain(chain, seconds.now)
        running = {
            job: begin for job, begin in running.items() if begin + walltime[job] > seconds.now
        }
        waiting = {job: begin for job, begin in waiting.items() if job not in running}
        for job_ended in [each for each in running if rng.random() < 0.2]:
            due = running.pop(job_ended) + int(walltime[job_ended])
            release_in_chain(chain, job_ended, int(cores[job_ended]))
            seconds.free[seconds.now : due] += cores[job_ended]
        if rng.random() < 0.2:
            tidy(chain, waiting, running)
        for other, begin in waiting.items():
            wall, width = int(walltime[other]), int(cores[other])
            sooner = seconds.earliest(seconds.now, wall, width, own=begin)
            assert move_in_chain(chain, other, wall, width) == sooner
            seconds.free[begin : begin + wall] += width
            seconds.free[sooner : sooner + wall] -= width
            waiting[other] = sooner
        check_chain(chain, seconds)


def test_few_widths_have_notes_and_the_narrowest_always():
    assert noted_widths(np.array([8, 2, 8, 4])).tolist() == [2, 4, 8]
    many = noted_widths(np.arange(3, 500))
    assert len(many) == WIDTHS and many[0] == 3


def test_notes_tell_the_first_span_with_a_run_and_whether_there_is_any():
    rng = np.random.default_rng(0)
    spans = 4 << BLOCK
    notes = np.zeros((2 * spans + (spans >> BLOCK), 1), np.int64)
    plain = np.zeros(spans, np.int64)
    for _ in range(400):
        span, length = int(rng.integers(spans)), int(rng.integers(1_000))
        if plain[span] < length and rng.random() < 0.3:
            note_longer(notes, spans, 0, span, length)
            plain[span] = length
        else:
            note_longest(notes, spans, 0, span, length // 10)
            plain[span] = length // 10
        last, asked = int(rng.integers(spans)), int(rng.integers(1, 1_000))
        assert some_noted(notes, spans, 0, last, asked) == (plain[: last + 1] >= asked).any()
        found = np.flatnonzero(plain[last:] >= asked)
        assert next_noted(notes, spans, 0, last, asked) == (
            last + found[0] if len(found) else spans
        )

"""Replays of one setting of the knobs or of many, and what they cost."""

import math

from numba import float64, int8, int64, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import FROZEN_INTS, REAL_TABLE
from queuesmith.knobs.kernels.events import arrive, complete
from queuesmith.knobs.kernels.passes import schedule_pass
from queuesmith.knobs.kernels.replay import (
    ARRIVED,
    CANCEL,
    CLEAR,
    FREE,
    NEVER,
    NOBODY,
    REACH,
    REPLAY_TYPE,
    RUNNING,
    WAITING,
)

# How the costs of a setting came about.
UNKNOWN, REPLAYED, PROVEN, LATER = range(4)

#: The columns of costs: expansion factors of the classes A to D, makespan, mean wait, mean
#: expansion factor of all jobs.
CLASSES = 4
MAKESPAN, MEAN_WAIT, EXPANSION = 4, 5, 6
COSTS = 7

NOBODY_ASKS = -1.0


@kernel
def begin(replay, cores):
    """Put everything back to where nothing has happened."""
    for job in range(len(replay.start)):
        replay.waiting[job] = replay.bags.tasks[job]
        replay.active[job] = 0
        replay.place[job] = NOBODY
        replay.start[job] = -1
        replay.end[job] = -1
    for i in range(CANCEL):
        replay.counters[i] = 0
    replay.counters[FREE] = cores
    replay.findings[REACH] = math.inf
    replay.findings[CLEAR] = 1.0


@kernel
def replay_knobs(replay, when, knobs, cores, backfill, doubt):
    """Replay all jobs; from second ``when[i]`` on the knobs are ``knobs[i]``."""
    bags, counters = replay.bags, replay.counters
    begin(replay, cores)
    turn = 0
    while counters[CANCEL] == 0:
        now = NEVER
        if counters[ARRIVED] < len(bags.submit):
            now = bags.submit[counters[ARRIVED]]
        if counters[RUNNING] > 0:
            now = min(now, replay.running.end[0])
        if now == NEVER:
            return
        complete(replay, now, backfill)
        arrive(replay, now)
        if counters[WAITING] > 0:
            while turn + 1 < len(when) and when[turn + 1] <= now:
                turn += 1
            chosen = (knobs[turn, 0], knobs[turn, 1], knobs[turn, 2])
            schedule_pass(replay, now, chosen, backfill, doubt)


@kernel
def count_costs(replay, number, costs):
    """Write the costs of a finished replay; ``number[c]`` is how many jobs class c has."""
    bags = replay.bags
    for c in range(COSTS):
        costs[c] = 0.0
    last = 0
    jobs = len(bags.submit)
    for job in range(jobs):
        last = max(last, replay.end[job])
        response = replay.end[job] - bags.submit[job]
        factor = max(1.0, response / max(bags.runtime[job], 1))
        costs[bags.kind[job]] += factor
        costs[EXPANSION] += factor
        costs[MEAN_WAIT] += replay.start[job] - bags.submit[job]
    for c in range(CLASSES):
        costs[c] = costs[c] / number[c] if number[c] > 0 else math.nan
    costs[MAKESPAN] = last - bags.submit[0]
    costs[MEAN_WAIT] /= jobs
    costs[EXPANSION] /= jobs


@entry(void(REPLAY_TYPE, FROZEN_INTS, REAL_TABLE, int64, int64), error_model="numpy")
def run_once(replay, when, knobs, cores, backfill):
    """Replay all jobs, turning the knobs at the given seconds; fills start, end and the record."""
    replay_knobs(replay, when, knobs, cores, backfill, NOBODY_ASKS)


@entry(
    void(REPLAY_TYPE, FROZEN_INTS, REAL_TABLE, int64, int64, FROZEN_INTS, REAL_TABLE),
    error_model="numpy",
)
def run_settings(replay, when, settings, cores, backfill, number, costs):
    """Replay each setting on its own and write its costs."""
    for i in range(len(settings)):
        if replay.counters[CANCEL] != 0:
            return
        replay_knobs(replay, when, settings[i : i + 1], cores, backfill, NOBODY_ASKS)
        count_costs(replay, number, costs[i])


@entry(
    void(
        REPLAY_TYPE,
        FROZEN_INTS,
        REAL_TABLE,
        int64,
        int64,
        float64,
        FROZEN_INTS,
        REAL_TABLE,
        int8[::1],
        int8[::1],
    ),
    error_model="numpy",
)
def run_lines(replay, when, settings, cores, backfill, doubt, number, costs, origin, clear):
    """Replay settings in lines of equal alpha and beta and rising gamma.

    A setting up to which the schedule of the last replay of its line reaches is not replayed.
    Settings whose ``origin`` is not UNKNOWN are passed over. Progress is visible in ``origin``.
    """
    known = -1
    for i in range(len(settings)):
        if replay.counters[CANCEL] != 0:
            return
        if known >= 0 and (
            settings[i, 0] != settings[known, 0] or settings[i, 1] != settings[known, 1]
        ):
            known = -1
        if origin[i] != UNKNOWN:
            continue
        if known >= 0 and settings[i, 2] <= replay.findings[REACH]:
            for c in range(COSTS):
                costs[i, c] = costs[known, c]
            clear[i] = clear[known]
            origin[i] = PROVEN
            continue
        replay_knobs(replay, when, settings[i : i + 1], cores, backfill, doubt)
        count_costs(replay, number, costs[i])
        clear[i] = 1 if replay.findings[CLEAR] > 0.0 else 0
        origin[i] = REPLAYED
        known = i

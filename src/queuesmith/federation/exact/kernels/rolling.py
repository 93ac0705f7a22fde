"""Plans that begin while jobs are running: what is free changes as these end.

A plan costs the mean of its ends, its last end, and what it takes of the nodes, each by its weight:
what is wasted on slow partners will be missing for jobs that are still to come. Jobs are planned
one after another, each as early as its nodes and links are free for as long as it takes; some order
and modes make the best plan of all. Annealing looks for them, and a tree of all plans proves what
it can: jobs in the order of their starts, so that after the last start nodes only become free, cut
where what waits cannot end early enough on the nodes that there are.
"""

import math
from typing import Any, NamedTuple

from numba import boolean, float64, int64, types

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INT_TABLE, INTS, REAL_TABLE, REALS, copy
from queuesmith.compiled.chance import uniform
from queuesmith.federation.exact.kernels.annealing import WALK_TYPE, change
from queuesmith.federation.exact.kernels.plans import (
    MODES_TYPE,
    PROFILE_TYPE,
    Profile,
    first_fit,
    fits_span,
    split_span,
)

# What a bound must exceed a cost by, relatively, before rounding is out of the question.
MARGIN = 1e-9


class Cost(NamedTuple):
    """What the cost of a plan is made of, beside the mean end of its jobs."""

    last: Any  # the weight of the last end
    taken: Any  # what each mode takes of all nodes' seconds, weighted


COST_TYPE = types.NamedTuple([float64, REALS], Cost)


class Ahead(NamedTuple):
    """What the waiting jobs need at least: under each of some prices of nodes, and alone."""

    price: Any  # prices x groups; all nodes together cost 1 a second
    area: Any  # prices x jobs: what a job costs at least
    by_area: Any  # prices x jobs: the cheapest first
    shortest: Any  # the least duration of each job
    by_length: Any  # the jobs, the shortest first
    taken: Any  # the least that each job takes of all nodes' seconds, weighted
    end: Any  # space: the k-th end at the earliest


AHEAD_TYPE = types.NamedTuple([REAL_TABLE, REAL_TABLE, INT_TABLE, INTS, INTS, REALS, REALS], Ahead)


class Path(NamedTuple):
    """A path in the tree of all plans, by depth; the profiles lie one after another."""

    spans: Any  # of each profile
    clock: Any  # the last start
    last: Any  # and its job
    cursor: Any
    total: Any  # what the jobs so far add to the cost
    latest: Any
    waits: Any  # depth x jobs: 1 where a job waits
    chosen: Any
    start: Any


PATH_TYPE = types.NamedTuple([*[INTS] * 4, REALS, INTS, INT_TABLE, INTS, INTS], Path)


@kernel
def begin_profile(profile, base):
    """Copy what is free as the running jobs end; return how many spans there are."""
    for span in range(len(base.time)):
        profile.time[span] = base.time[span]
        copy(profile.nodes[span], base.nodes[span])
        copy(profile.room[span], base.room[span])
    return len(base.time)


@kernel
def occupy_spans(modes, profile, begin, after, mode):
    """Take a mode's nodes and links from one span up to another."""
    for span in range(begin, after):
        for group in range(len(modes.nodes)):
            profile.nodes[span, group] -= modes.counts[mode, group]
        for link in range(len(modes.limit)):
            profile.room[span, link] -= modes.use[mode, link]


@kernel
def put_job(modes, profile, size, mode):
    """Plan a job as early as possible; return its start and how many spans there are then."""
    begin, after = first_fit(modes, profile, size, mode)
    start = profile.time[begin]
    end = start + modes.duration[mode]
    if after >= size or profile.time[after] > end:
        split_span(profile, size, after, end)
        size += 1
    occupy_spans(modes, profile, begin, after, mode)
    return start, size


@kernel
def decode_from(modes, base, profile, order, mode, start, cost):
    """Plan jobs in an order from what is free now on, and return what the plan costs."""
    size = begin_profile(profile, base)
    total, latest = 0.0, int64(0)
    for job in order:
        start[job], size = put_job(modes, profile, size, mode[job])
        end = start[job] + modes.duration[mode[job]]
        total += end + cost.taken[mode[job]]
        latest = max(latest, end)
    return total / len(order) + cost.last * latest


@entry(float64(MODES_TYPE, PROFILE_TYPE, PROFILE_TYPE, INTS, INTS, INTS, COST_TYPE, boolean))
def plan_greedily(modes, base, profile, order, mode, start, cost, patient):
    """Give each job in turn the mode in which it ends first, or starts first; return the cost.

    Of modes that are as good, the one that takes least from others is taken.
    """
    size = begin_profile(profile, base)
    total, latest = 0.0, int64(0)
    for job in order:
        best, best_key, least = -1, int64(0), 0.0
        for own in range(modes.first[job], modes.first[job + 1]):
            key = profile.time[first_fit(modes, profile, size, own)[0]]
            if patient:
                key += modes.duration[own]
            if best < 0 or key < best_key or (key == best_key and cost.taken[own] < least):
                best, best_key, least = own, key, cost.taken[own]
        mode[job] = best
        start[job], size = put_job(modes, profile, size, best)
        end = start[job] + modes.duration[best]
        total += end + cost.taken[best]
        latest = max(latest, end)
    return total / len(order) + cost.last * latest


@entry(
    float64(MODES_TYPE, PROFILE_TYPE, PROFILE_TYPE, WALK_TYPE, COST_TYPE, float64, float64, int64)
)
def anneal_from(modes, base, profile, walk, cost, hot, cold, steps):
    """Cool from hot to cold, in seconds, from a plan on; keep the best, and return its cost."""
    own = decode_from(modes, base, profile, walk.order, walk.mode, walk.start, cost)
    best, temperature = own, hot
    cooling = (cold / hot) ** (1.0 / max(steps, 1))
    for _ in range(steps):
        if walk.halt[0]:
            break
        copy(walk.trial_order, walk.order)
        copy(walk.trial_mode, walk.mode)
        change(modes, walk)
        found = decode_from(
            modes, base, profile, walk.trial_order, walk.trial_mode, walk.start, cost
        )
        temperature *= cooling
        worse = found - own
        if worse > 0 and uniform(walk.seed) >= math.exp(-worse / temperature):
            continue
        own = found
        copy(walk.order, walk.trial_order)
        copy(walk.mode, walk.trial_mode)
        if own < best:
            best = own
            copy(walk.best_order, walk.order)
            copy(walk.best_mode, walk.mode)
    return best


@kernel
def paid_at(modes, profile, size, price, clock, need):
    """Return when the free nodes, at these prices, have been worth so much since the clock."""
    at = float64(clock)
    for span in range(size):
        worth = 0.0
        for group in range(len(modes.nodes)):
            worth += price[group] * profile.nodes[span, group]
        if span + 1 == size or worth * (profile.time[span + 1] - at) >= need:
            return at + need / worth if worth > 0.0 else at
        need -= worth * (profile.time[span + 1] - at)
        at = float64(profile.time[span + 1])
    return at


@kernel
def least_cost(modes, ahead, profile, size, clock, waits, total, latest, weight):
    """Return what any plan that goes on from here costs at least.

    When k of the waiting jobs have ended, the k cheapest of them have been paid for, at any prices;
    and the k-th of their ends is no earlier than that of the k-th shortest.
    """
    count = 0
    for job in ahead.by_length:
        if waits[job]:
            ahead.end[count] = float64(clock + ahead.shortest[job])
            total += ahead.taken[job]
            count += 1
    for i in range(len(ahead.price)):
        need, k = 0.0, 0
        for job in ahead.by_area[i]:
            if waits[job]:
                need += ahead.area[i, job]
                paid = paid_at(modes, profile, size, ahead.price[i], clock, need)
                ahead.end[k] = max(ahead.end[k], paid)
                k += 1
    last = float64(latest)
    for k in range(count):
        total += ahead.end[k]
        last = max(last, ahead.end[k])
    return total / len(waits) + weight * last


@kernel
def level_of(profile, depth, most):
    """Return the profile of a depth."""
    first, after = depth * most, (depth + 1) * most
    return Profile(profile.time[first:after], profile.nodes[first:after], profile.room[first:after])


@kernel
def start_next(modes, here, size, span, mode, below):
    """Write the profile from the start of a job on, with the job in it; return its spans."""
    count = size - span
    for i in range(count):
        below.time[i] = here.time[span + i]
        copy(below.nodes[i], here.nodes[span + i])
        copy(below.room[i], here.room[span + i])
    end, after = below.time[0] + modes.duration[mode], 0
    while after < count and below.time[after] < end:
        after += 1
    if after >= count or below.time[after] > end:
        split_span(below, count, after, end)
        count += 1
    occupy_spans(modes, below, 0, after, mode)
    return count


@kernel
def next_waiting(modes, path, depth):
    """Return the next mode to try at a depth, or -1 where there is none."""
    while path.cursor[depth] < len(modes.duration):
        mode = path.cursor[depth]
        job = modes.job[mode]
        if path.waits[depth, job]:
            path.cursor[depth] += 1
            return mode
        path.cursor[depth] = modes.first[job + 1]
    return -1


@kernel
def keep_plan(modes, path, best_mode, best_start):
    """Keep the plan that the path has become."""
    for depth in range(len(best_mode)):
        job = modes.job[path.chosen[depth]]
        best_mode[job], best_start[job] = path.chosen[depth], path.start[depth]


@entry(
    types.Tuple([float64, float64, boolean])(
        MODES_TYPE,
        PROFILE_TYPE,
        AHEAD_TYPE,
        PROFILE_TYPE,
        PATH_TYPE,
        INTS,
        INTS,
        COST_TYPE,
        float64,
        int64,
    )
)
def search_from(modes, base, ahead, profile, path, best_mode, best_start, cost, best, nodes):
    """Look through all plans cheaper than the best, at no more than so many nodes of their tree.

    Returns the cost of the best, what every plan costs at least, and whether none was left out.
    """
    jobs, most = len(best_mode), len(profile.time) // (len(best_mode) + 1)
    path.spans[0] = begin_profile(level_of(profile, 0, most), base)
    path.clock[0], path.last[0], path.cursor[0] = 0, -1, 0
    path.total[0], path.latest[0] = 0.0, 0
    path.waits[0, :] = 1
    root = least_cost(modes, ahead, base, path.spans[0], 0, path.waits[0], 0.0, 0, cost.last)
    depth = 0
    while depth >= 0:
        mode = next_waiting(modes, path, depth)
        if mode < 0:
            depth -= 1
            continue
        nodes -= 1
        if nodes < 0:
            return best, root, False
        job, here, span = modes.job[mode], level_of(profile, depth, most), 0
        while not fits_span(modes, here, span, mode):
            span += 1
        start = here.time[span]
        if start == path.clock[depth] and job < path.last[depth]:
            continue  # of jobs that start together, the order is that of their numbers
        end = start + modes.duration[mode]
        total = path.total[depth] + end + cost.taken[mode]
        latest = max(path.latest[depth], end)
        path.chosen[depth], path.start[depth] = mode, start
        if depth == jobs - 1:
            found = total / jobs + cost.last * latest
            if found < best * (1.0 - MARGIN):
                best = found
                keep_plan(modes, path, best_mode, best_start)
            continue
        copy(path.waits[depth + 1], path.waits[depth])
        path.waits[depth + 1, job] = 0
        below = level_of(profile, depth + 1, most)
        size = start_next(modes, here, path.spans[depth], span, mode, below)
        least = least_cost(
            modes, ahead, below, size, start, path.waits[depth + 1], total, latest, cost.last
        )
        if least >= best * (1.0 - MARGIN):
            continue
        depth += 1
        path.spans[depth], path.clock[depth], path.last[depth] = size, start, job
        path.cursor[depth], path.total[depth], path.latest[depth] = 0, total, latest
    return best, root, True

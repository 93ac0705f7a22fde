"""Slurm's multifactor priority: age and fair-share, which change, on top of what does not."""

import math

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.slurm_sorting import sort
from queuesmith.engine.kernels.slurm_state import (
    ASSOCIATION,
    BILLING,
    DAMPENING,
    DECAY,
    FAIR_TREE,
    FIXED_PRIORITY,
    GROUP,
    HELD,
    LAST_CALC,
    MAX_AGE,
    QUEUED,
    STANDS_BEFORE,
    TIER,
    WEIGHT_AGE,
    WEIGHT_FAIR_SHARE,
)


@kernel
def prioritize(jobs, worth, waiting, factor, knobs, weights, job, now):
    """Compute the priority of a job; the factors are everybody's fair-share."""
    age = min((now - waiting.comes[job]) / knobs[MAX_AGE], 1.0)
    fair = factor[jobs[ASSOCIATION, job]] if jobs[ASSOCIATION, job] >= 0 else 0.0
    priority = (
        worth[FIXED_PRIORITY, job] + weights[WEIGHT_AGE] * age + weights[WEIGHT_FAIR_SHARE] * fair
    )
    waiting.priority[job] = int(priority)


@kernel
def rights_of(preemption):
    """Return the rights of groups over others; None where there are none."""
    if preemption is None:
        return None
    return preemption.rights


@kernel
def _by_right(rights, group, other):
    """Return 1 where jobs of a group stand before those of another, -1 behind, 0 where neither."""
    if rights is None:
        return 0
    before, behind = rights[group, other] & STANDS_BEFORE, rights[other, group] & STANDS_BEFORE
    return (before != 0) - (before == 0 and behind != 0)


@kernel
def comes_before(context, job, other):
    """Tell whether a job stands before another: by right, tier, priority, then submission."""
    jobs, priority, rights = context
    ahead = _by_right(rights, jobs[GROUP, job], jobs[GROUP, other])
    if ahead != 0:
        return ahead > 0
    if jobs[TIER, job] != jobs[TIER, other]:
        return jobs[TIER, job] > jobs[TIER, other]
    if priority[job] != priority[other]:
        return priority[job] > priority[other]
    return job < other


@kernel
def insert_sorted(standing, queue, job, size):
    """Put a job where it belongs among the first jobs of the queue."""
    place = size
    while place > 0 and comes_before(standing, job, queue[place - 1]):
        queue[place] = queue[place - 1]
        place -= 1
    queue[place] = job


@kernel
def note_use(jobs, worth, fresh, weights, last, job, start, end):
    """Count what a job has used since the last calculation."""
    association = jobs[ASSOCIATION, job]
    if association >= 0:
        fresh[association] += _used(worth[BILLING, job], weights, end - max(start, last))


@kernel
def _used(billing, weights, seconds):
    return billing * seconds * weights[DECAY] ** seconds if seconds > 0 else 0.0


@kernel
def recalculate(replay, now):
    """Let usage decay, count what was used since, and compute all shares and priorities anew.

    Tells whether the order of the waiting jobs has changed.
    """
    jobs, worth, waiting, shares = replay.jobs, replay.worth, replay.waiting, replay.shares
    counters, running, knobs, weights = (
        replay.counters,
        replay.running,
        replay.knobs,
        replay.weights,
    )
    decay = weights[DECAY] ** (now - counters[LAST_CALC])
    for i in range(len(shares.usage)):
        shares.usage[i] *= decay
    if not knobs[FAIR_TREE]:  # the classic formula looks before it counts what is new
        share_out(shares, knobs, weights)
    for i in range(counters[HELD]):
        job = running.due_job[i]
        last = counters[LAST_CALC]
        note_use(jobs, worth, shares.fresh, weights, last, job, replay.start[job], now)
    add_fresh(shares)
    counters[LAST_CALC] = now
    if knobs[FAIR_TREE]:
        share_out(shares, knobs, weights)
    for i in range(counters[QUEUED]):
        prioritize(jobs, worth, waiting, shares.factor, knobs, weights, waiting.queue[i], now)
    standing = (jobs, waiting.priority, rights_of(replay.preemption))
    return sort(waiting.queue, waiting.spare, counters[QUEUED], comes_before, standing)


@kernel
def add_fresh(shares):
    """Count what was used since the last calculation, for everybody and all accounts above."""
    for i in range(len(shares.usage)):
        above = i
        while shares.fresh[i] > 0 and above >= 0:
            shares.usage[above] += shares.fresh[i]
            above = shares.parent[above]
        shares.fresh[i] = 0.0


@kernel
def share_out(shares, knobs, weights):
    """Compute the fair-share factor of everybody."""
    if len(shares.usage) > 0:
        if knobs[FAIR_TREE]:
            _climb_fair_tree(shares)
        else:
            _dampen(shares, weights[DAMPENING])


@kernel
def _climb_fair_tree(shares):
    """Rank users by the levels of their path: who is ahead at the top is ahead of all below."""
    shares.level[0] = 1.0
    for i in range(1, len(shares.usage)):
        above = shares.parent[i]
        if shares.shares[i] < 0:
            shares.level[i] = shares.level[above]
        elif shares.shares[i] == 0:
            shares.level[i] = 0.0
        elif shares.usage[i] <= 0:
            shares.level[i] = math.inf
        else:
            part = shares.usage[i] / shares.usage[above]
            shares.level[i] = shares.shares[i] / shares.level_shares[i] / part
    users = shares.users
    sort(users, shares.spare, len(users), _is_ahead, shares)
    rank = len(users)
    for i in range(len(users)):
        if i > 0 and _ahead(shares, users[i - 1], users[i]) > 0:
            rank = len(users) - i
        shares.factor[users[i]] = rank / len(users)


@kernel
def _is_ahead(shares, user, other):
    return _ahead(shares, user, other) > 0


@kernel
def _ahead(shares, user, other):
    """Return 1 where a user is ahead of another, -1 where behind, 0 where both are level."""
    for depth in range(shares.path.shape[1]):
        one, two = shares.path[user, depth], shares.path[other, depth]
        a = shares.level[one] if one >= 0 else math.inf
        b = shares.level[two] if two >= 0 else math.inf
        if a != b:
            return 1 if a > b else -1
        # Users come before accounts that are level with them.
        if (one < 0) != (two < 0):
            return 1 if one < 0 else -1
        if one < 0:
            return 0
    return 0


@kernel
def _dampen(shares, dampening):
    """Compute the classic factor: two to the minus effective usage over shares."""
    total = shares.usage[0]
    shares.effective[0] = 1.0
    shares.level[0] = 1.0  # here the share of the whole machine
    shares.factor[0] = 1.0
    for i in range(1, len(shares.usage)):
        above = shares.parent[i]
        if shares.shares[i] < 0:
            shares.effective[i] = shares.effective[above]
            shares.level[i] = shares.level[above]
            shares.factor[i] = shares.factor[above]
            continue
        part = shares.shares[i] / shares.level_shares[i] if shares.level_shares[i] > 0 else 0.0
        used = shares.usage[i] / total if total > 0 else 0.0
        inherited = (shares.effective[above] - used) * part if above > 0 else 0.0
        shares.effective[i] = used + inherited
        shares.level[i] = shares.level[above] * part
        if shares.level[i] > 0:
            shares.factor[i] = 2.0 ** (-shares.effective[i] / shares.level[i] / dampening)
        else:
            shares.factor[i] = 0.0

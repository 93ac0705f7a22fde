"""Slurm's multifactor priority: age and fair-share, which change, on top of what does not."""

import math

from queuesmith.compiled import kernel
from queuesmith.engine.kernels.slurm_state import (
    DAMPENING,
    DECAY,
    FAIR_TREE,
    HELD,
    LAST_CALC,
    MAX_AGE,
    QUEUED,
    WEIGHT_AGE,
    WEIGHT_FAIR_SHARE,
)


@kernel
def prioritize(replay, job, now):
    """Compute the priority of a job."""
    jobs, weights = replay.jobs, replay.weights
    age = min((now - jobs.eligible[job]) / replay.knobs[MAX_AGE], 1.0)
    fair = replay.shares.factor[jobs.association[job]] if jobs.association[job] >= 0 else 0.0
    priority = (
        jobs.fixed_priority[job] + weights[WEIGHT_AGE] * age + weights[WEIGHT_FAIR_SHARE] * fair
    )
    replay.priority[job] = int(priority)


@kernel
def comes_before(replay, job, other):
    """Tell whether a job stands before another: by tier, priority, then submission."""
    jobs, priority = replay.jobs, replay.priority
    if jobs.tier[job] != jobs.tier[other]:
        return jobs.tier[job] > jobs.tier[other]
    if priority[job] != priority[other]:
        return priority[job] > priority[other]
    return job < other


@kernel
def insert_sorted(replay, job, size):
    """Put a job where it belongs among the first jobs of the queue."""
    queue, place = replay.queue, size
    while place > 0 and comes_before(replay, job, queue[place - 1]):
        queue[place] = queue[place - 1]
        place -= 1
    queue[place] = job


@kernel
def note_use(replay, job, end):
    """Count what a job that ends has used since the last calculation."""
    association = replay.jobs.association[job]
    if association < 0:
        return
    begin = max(replay.start[job], replay.counters[LAST_CALC])
    replay.shares.fresh[association] += _used(replay, job, end - begin)


@kernel
def _used(replay, job, seconds):
    if seconds <= 0:
        return 0.0
    return replay.jobs.billing[job] * seconds * replay.weights[DECAY] ** seconds


@kernel
def recalculate(replay, now):
    """Let usage decay, count what was used since, and compute all shares and priorities anew."""
    shares, counters, running = replay.shares, replay.counters, replay.running
    decay = replay.weights[DECAY] ** (now - counters[LAST_CALC])
    for i in range(len(shares.usage)):
        shares.usage[i] *= decay
    if not replay.knobs[FAIR_TREE]:
        share_out(replay)  # the classic formula looks before it counts what is new
    for i in range(counters[HELD]):
        job = running.due_job[i]
        if replay.jobs.association[job] >= 0:
            begin = max(replay.start[job], counters[LAST_CALC])
            shares.fresh[replay.jobs.association[job]] += _used(replay, job, now - begin)
    for i in range(len(shares.usage)):
        above = i
        while shares.fresh[i] > 0 and above >= 0:
            shares.usage[above] += shares.fresh[i]
            above = shares.parent[above]
        shares.fresh[i] = 0.0
    counters[LAST_CALC] = now
    if replay.knobs[FAIR_TREE]:
        share_out(replay)
    for i in range(counters[QUEUED]):
        prioritize(replay, replay.queue[i], now)
    for i in range(1, counters[QUEUED]):
        insert_sorted(replay, replay.queue[i], i)


@kernel
def share_out(replay):
    """Compute the fair-share factor of everybody."""
    if len(replay.shares.usage) > 0:
        if replay.knobs[FAIR_TREE]:
            _climb_fair_tree(replay.shares)
        else:
            _dampen(replay.shares, replay.weights[DAMPENING])


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
    for i in range(1, len(users)):
        user, place = users[i], i
        while place > 0 and _ahead(shares, user, users[place - 1]) > 0:
            users[place] = users[place - 1]
            place -= 1
        users[place] = user
    rank = len(users)
    for i in range(len(users)):
        if i > 0 and _ahead(shares, users[i - 1], users[i]) > 0:
            rank = len(users) - i
        shares.factor[users[i]] = rank / len(users)


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

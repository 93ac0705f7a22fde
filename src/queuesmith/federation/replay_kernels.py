"""The compiled replay of a federation: plain numbers in, starts, ends and nodes out.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.

The order of events at one instant is::

    (completions, arrivals, one scheduling pass, new rates)

Events happen at whole seconds; what a job has still to do is kept as a fraction. Equations are
those of Blanco et al., MIP Model Scheduling for Multi-Clusters.
"""

import math
from typing import Any, NamedTuple

from numba import float64, int64, types, uint8

from queuesmith.compiled import entry, njit
from queuesmith.compiled.arrays import INTS, REAL_TABLE, REALS
from queuesmith.compiled.heap import rise, sink

# Kernels allocate nothing, so they need no reference counts; nothing here divides by 0.
kernel = njit(_nrt=False, error_model="numpy")

# Allocation rules.
FASTEST, MOST_FREE, ONE_CLUSTER, LINK_AWARE, CHEAPEST = range(5)

# Places in the array of counters.
NOW, ARRIVED, ENTERED, IN_WINDOW, STARTED, RUNNING, LINKED, FREE = range(8)
COUNTERS = 8

NOBODY = -1
TOO_WIDE = 2**40  # wider than any federation
NEVER = 2**62

# See time_cost.py and fitting.py.
GRACE_SECONDS = 1e-6
GRACE_SHARE = 1e-12
LINK_TOLERANCE = 1e-9


class Ground(NamedTuple):
    """The federation: groups of nodes that are alike, in the order of their clusters."""

    group_cluster: Any
    group_power: Any
    group_first: Any  # where the members of each group begin; one more at the end
    members: Any  # the nodes of all groups
    node_group: Any
    by_power: Any  # groups from the fastest to the slowest
    cluster_group: Any  # the first group of each cluster; one more at the end
    bandwidth: Any
    group_class: Any  # for the rule CHEAPEST: groups of a like power, the fastest class first
    class_power: Any  # the greatest power in each class
    class_price: Any  # of a second on a node
    by_price: Any  # classes from the cheapest to the dearest


class Work(NamedTuple):
    """The jobs, in the order of their arrival."""

    submit: Any
    tasks: Any
    base_time: Any
    task_bandwidth: Any
    sigma: Any
    offset: Any
    bill: Any  # what each job costs at least, for the rule CHEAPEST


class Line(NamedTuple):
    """Waiting jobs by rank: a tree of the fewest tasks below each node; leaves are the ranks.

    It answers "who is the next in line that has no more tasks than this?" in a few steps.
    """

    tree: Any
    job_at: Any
    rank: Any


class Running(NamedTuple):
    """What becomes of each job, and what those that run have still to do."""

    start: Any
    end: Any  # as the rates are now
    nodes: Any
    use: Any  # jobs x links (eq. 4)
    slowest: Any  # the power of its slowest node
    remaining: Any  # base seconds still to do at ``since``
    since: Any
    cost: Any  # ct since then (eq. 2)
    heap: Any  # running jobs, the next to end first
    heap_place: Any
    linked: Any  # running jobs that use links
    linked_place: Any


class Site(NamedTuple):
    """What is free, and how loaded the links are."""

    node_free: Any
    group_free: Any
    cluster_free: Any
    class_free: Any
    load: Any
    users: Any
    slowdown: Any  # of each link (eq. 6)
    counter: Any


class Manner(NamedTuple):
    """How waiting jobs become running ones."""

    rule: Any  # an allocation rule
    fit: Any  # whether any job that fits may start, or only the first in line
    limit: Any  # how many times its bandwidth each link may be loaded
    window: Any  # how many waiting jobs are looked at
    deadline: Any  # jobs wait for faster nodes where only these let them end by then
    patience: Any  # jobs wait where their nodes would cost so many times the least


class Draft(NamedTuple):
    """Room for one decision."""

    chosen: Any  # nodes of each group
    best: Any
    order: Any  # of groups
    clusters: Any  # order of clusters
    on_cluster: Any
    low: Any  # the most tasks on each cluster for which its link has room
    left: Any


FLAGS = uint8[::1]
GROUND_TYPE = types.NamedTuple((INTS, REALS, *(INTS,) * 5, REALS, INTS, REALS, REALS, INTS), Ground)
WORK_TYPE = types.NamedTuple((INTS, INTS, *(REALS,) * 3, INTS, REALS), Work)
LINE_TYPE = types.NamedUniTuple(INTS, 3, Line)
RUNNING_TYPE = types.NamedTuple(
    (INTS, INTS, INTS, REAL_TABLE, REALS, REALS, INTS, REALS, *(INTS,) * 4), Running
)
SITE_TYPE = types.NamedTuple((FLAGS, *(INTS,) * 3, REALS, INTS, REALS, INTS), Site)
MANNER_TYPE = types.NamedTuple((int64, int64, float64, int64, float64, float64), Manner)
DRAFT_TYPE = types.NamedUniTuple(INTS, 7, Draft)


# -- numbers ---------------------------------------------------------------------------------


@kernel
def _whole_seconds(seconds):
    return math.ceil(seconds - GRACE_SECONDS - GRACE_SHARE * seconds)


@kernel
def _use(tasks, each, here):
    """The bandwidth of a job with so many tasks on a cluster (eq. 4)."""
    return here * each * (tasks - here) / max(tasks - 1, 1)


# -- the line of waiting jobs ----------------------------------------------------------------


@kernel
def _set_leaf(line, rank, tasks):
    tree = line.tree
    place = tree.size // 2 + rank
    tree[place] = tasks
    place //= 2
    while place >= 1:
        tree[place] = min(tree[2 * place], tree[2 * place + 1])
        place //= 2


@kernel
def _next_in_line(line, first, most):
    """The least rank of at least ``first`` whose job has at most so many tasks, or nobody."""
    tree = line.tree
    leaves = tree.size // 2
    if first >= leaves:
        return NOBODY
    place = leaves + first
    while tree[place] > most:
        while place % 2 == 1:  # a right child: its parent has nothing further right
            place //= 2
            if place <= 1:
                return NOBODY
        place += 1
    while place < leaves:
        place *= 2
        if tree[place] > most:
            place += 1
    return place - leaves


# -- running jobs: a heap by end -------------------------------------------------------------


@kernel
def _end_at(running, place):
    """By what the heap is ordered: the end, then the job."""
    job = running.heap[place]
    return running.end[job], job


@kernel
def _put(running, place, job):
    running.heap[place] = job
    running.heap_place[job] = place


@kernel
def _move(running, goal, source):
    _put(running, goal, running.heap[source])


@kernel
def _settle(running, site, place):
    """Move the job at a place of the heap to where it belongs."""
    job, key = running.heap[place], _end_at(running, place)
    place = rise(running, place, key, _end_at, _move)
    place = sink(running, place, site.counter[RUNNING], key, _end_at, _move)
    _put(running, place, job)


@kernel
def _worst_slowdown(running, site, job):
    """SC of a job: that of the most saturated link it uses (eq. 7)."""
    worst = 1.0
    for link in range(site.slowdown.size):
        if running.use[job, link] > 0 and site.slowdown[link] > worst:
            worst = site.slowdown[link]
    return worst


@kernel
def _cost(work, running, site, job):
    """ct of a job as things are (eq. 2)."""
    sigma = work.sigma[job]
    return sigma / running.slowest[job] + (1.0 - sigma) * _worst_slowdown(running, site, job)


@kernel
def _begin(work, running, site, job):
    """Let a job run from now on; its nodes and its use of links are known."""
    counter = site.counter
    now = counter[NOW]
    uses = False
    for link in range(site.load.size):
        if running.use[job, link] > 0:
            uses = True
            site.load[link] += running.use[job, link]
            site.users[link] += 1
    if uses:
        running.linked[counter[LINKED]] = job
        running.linked_place[job] = counter[LINKED]
        counter[LINKED] += 1
    else:
        running.linked_place[job] = NOBODY
    running.start[job] = now
    running.since[job] = now
    running.remaining[job] = work.base_time[job]
    running.cost[job] = _cost(work, running, site, job)
    running.end[job] = now + max(_whole_seconds(work.base_time[job] * running.cost[job]), 1)
    _put(running, counter[RUNNING], job)
    counter[RUNNING] += 1
    _settle(running, site, counter[RUNNING] - 1)
    counter[STARTED] += 1


@kernel
def _finish_next(work, running, site):
    """Take the next job to end off its nodes and links."""
    counter = site.counter
    job = running.heap[0]
    counter[RUNNING] -= 1
    if counter[RUNNING] > 0:
        _put(running, 0, running.heap[counter[RUNNING]])
        _settle(running, site, 0)
    place = running.linked_place[job]
    if place != NOBODY:
        counter[LINKED] -= 1
        last = running.linked[counter[LINKED]]
        running.linked[place] = last
        running.linked_place[last] = place
        for link in range(site.load.size):
            if running.use[job, link] > 0:
                site.users[link] -= 1
                # Where nobody is left, the load is 0, not what the arithmetic left over.
                left = site.load[link] - running.use[job, link]
                site.load[link] = left if site.users[link] > 0 else 0.0
    for task in range(work.offset[job], work.offset[job + 1]):
        site.node_free[running.nodes[task]] = 1
    return job


@kernel
def _new_rates(ground, work, running, site):
    """Let running jobs go on at the rates that the links now allow (eq. 5 to 7)."""
    now = site.counter[NOW]
    changed = False
    for link in range(site.load.size):
        share = site.load[link] / ground.bandwidth[link]
        slowdown = share if share > 1.0 + LINK_TOLERANCE else 1.0
        if slowdown != site.slowdown[link]:
            site.slowdown[link] = slowdown
            changed = True
    if not changed:
        return
    for place in range(site.counter[LINKED]):
        job = running.linked[place]
        cost = _cost(work, running, site, job)
        if cost == running.cost[job]:
            continue
        running.remaining[job] -= (now - running.since[job]) / running.cost[job]
        running.since[job] = now
        running.cost[job] = cost
        running.end[job] = now + max(_whole_seconds(running.remaining[job] * cost), 1)
        _settle(running, site, running.heap_place[job])


# -- where a job goes ------------------------------------------------------------------------


@kernel
def _order_by_free(ground, site, draft):
    """Groups by cluster, the cluster with most free nodes first."""
    count = site.cluster_free.size
    for place in range(count):
        cluster = place
        spot = place
        while spot > 0 and site.cluster_free[draft.clusters[spot - 1]] < site.cluster_free[cluster]:
            draft.clusters[spot] = draft.clusters[spot - 1]
            spot -= 1
        draft.clusters[spot] = cluster
    _groups_of_clusters(ground, draft, count)


@kernel
def _order_by_link(ground, site, draft, limit):
    """Groups by cluster, the cluster with most bandwidth left first."""
    count = site.cluster_free.size
    for place in range(count):
        room = limit * ground.bandwidth[place] - site.load[place]
        spot = place
        while spot > 0:
            other = draft.clusters[spot - 1]
            if limit * ground.bandwidth[other] - site.load[other] >= room:
                break
            draft.clusters[spot] = other
            spot -= 1
        draft.clusters[spot] = place
    _groups_of_clusters(ground, draft, count)


@kernel
def _groups_of_clusters(ground, draft, count):
    spot = 0
    for place in range(count):
        cluster = draft.clusters[place]
        for group in range(ground.cluster_group[cluster], ground.cluster_group[cluster + 1]):
            draft.order[spot] = group
            spot += 1


@kernel
def _order_by_power(ground, draft):
    for place in range(draft.order.size):
        draft.order[place] = ground.by_power[place]


@kernel
def _take(ground, site, draft, group, most):
    """Take up to so many further nodes of a group; return how many."""
    cluster = ground.group_cluster[group]
    free = site.group_free[group] - draft.chosen[group]
    count = min(min(free, draft.left[cluster]), most)
    draft.chosen[group] += count
    draft.left[cluster] -= count
    return count


@kernel
def _fill(ground, site, draft, tasks, first):
    """Take nodes in the order of the groups, those of cluster ``first`` before all others."""
    needed = tasks
    for group in range(draft.chosen.size):
        draft.chosen[group] = 0
    if first != NOBODY:
        for group in range(ground.cluster_group[first], ground.cluster_group[first + 1]):
            needed -= _take(ground, site, draft, group, needed)
    for place in range(draft.order.size):
        if needed == 0:
            break
        needed -= _take(ground, site, draft, draft.order[place], needed)
    return needed == 0


@kernel
def _count_tasks(ground, draft):
    for cluster in range(draft.on_cluster.size):
        draft.on_cluster[cluster] = 0
    for group in range(draft.chosen.size):
        draft.on_cluster[ground.group_cluster[group]] += draft.chosen[group]


@kernel
def _peak(ground, site, draft, tasks, each):
    """The highest share of its bandwidth that any link would carry, of those the job uses."""
    _count_tasks(ground, draft)
    peak = 0.0
    for link in range(site.load.size):
        use = _use(tasks, each, draft.on_cluster[link])
        if use > 0:
            peak = max(peak, (site.load[link] + use) / ground.bandwidth[link])
    return peak


@kernel
def _fill_within_links(ground, site, draft, tasks, each, limit):
    """Take nodes in the order of the groups so that no link is loaded beyond its limit.

    A link has room for few tasks or for nearly all, since only talk between clusters counts: for
    up to ``low`` of them, and for at least ``tasks - low``. So either every cluster takes few, or
    one takes nearly all.
    """
    total = 0
    for cluster in range(site.load.size):
        room = limit * ground.bandwidth[cluster] * (1 + LINK_TOLERANCE) - site.load[cluster]
        draft.low[cluster] = _few_tasks(tasks, each, room)
        total += min(draft.low[cluster], site.cluster_free[cluster])
    if total >= tasks:
        for cluster in range(site.load.size):
            draft.left[cluster] = draft.low[cluster]
        return _fill(ground, site, draft, tasks, NOBODY)
    for place in range(draft.order.size):
        cluster = ground.group_cluster[draft.order[place]]
        free = site.cluster_free[cluster]
        nearly_all = min(free, tasks)
        others = total - min(draft.low[cluster], free)
        if nearly_all >= tasks - draft.low[cluster] and tasks - nearly_all <= others:
            for other in range(site.load.size):
                draft.left[other] = draft.low[other]
            draft.left[cluster] = nearly_all
            return _fill(ground, site, draft, tasks, cluster)
    return False


@kernel
def _few_tasks(tasks, each, room):
    """The most tasks, up to all, such that a link has room for them and for any fewer (eq. 4)."""
    if _use(tasks, each, tasks // 2) <= room:  # half of them talk most
        return tasks
    if room <= 0:
        return 0
    product = room * (tasks - 1) / each
    few = int((tasks - math.sqrt(tasks * tasks - 4.0 * product)) / 2.0)
    while few > 0 and _use(tasks, each, few) > room:
        few -= 1
    while 2 * (few + 1) <= tasks and _use(tasks, each, few + 1) <= room:
        few += 1
    return few


@kernel
def _slowest_of_chosen(ground, draft):
    slowest = math.inf
    for group in range(draft.chosen.size):
        if draft.chosen[group] > 0:
            slowest = min(slowest, ground.group_power[group])
    return slowest


@kernel
def _best_single_cluster(ground, site, tasks):
    """The cluster on which the whole job would be fastest now, of these the fullest; or nobody."""
    best, best_power = NOBODY, 0.0
    for cluster in range(site.cluster_free.size):
        if site.cluster_free[cluster] < tasks:
            continue
        needed, power = tasks, 0.0
        for group in range(ground.cluster_group[cluster], ground.cluster_group[cluster + 1]):
            if site.group_free[group] > 0 and needed > 0:
                power = ground.group_power[group]
                needed -= site.group_free[group]
        tie = power == best_power and best != NOBODY
        if power > best_power or (tie and site.cluster_free[cluster] < site.cluster_free[best]):
            best, best_power = cluster, power
    return best


@kernel
def _unlimited(site, draft):
    for cluster in range(site.cluster_free.size):
        draft.left[cluster] = site.cluster_free[cluster]


@kernel
def _fill_in_order(ground, site, draft, tasks, each, limit, first):
    """Take nodes in the order of the groups; where links have no room for that, as they allow."""
    _unlimited(site, draft)
    if not _fill(ground, site, draft, tasks, first):
        return False
    if _peak(ground, site, draft, tasks, each) <= limit * (1 + LINK_TOLERANCE):
        return True
    return _fill_within_links(ground, site, draft, tasks, each, limit)


@kernel
def _keep(draft):
    for group in range(draft.chosen.size):
        draft.best[group] = draft.chosen[group]


@kernel
def _restore(draft):
    for group in range(draft.chosen.size):
        draft.chosen[group] = draft.best[group]


@kernel
def _link_aware(ground, site, draft, tasks, each, limit):
    """Of three ways to spread the job, the one that leaves the links least loaded."""
    found = False
    best_peak, best_power = math.inf, 0.0
    for way in range(3):
        if way == 0:
            _order_by_free(ground, site, draft)
        elif way == 1:
            _order_by_link(ground, site, draft, limit)
        else:
            _order_by_power(ground, draft)
        if not _fill_in_order(ground, site, draft, tasks, each, limit, NOBODY):
            continue
        peak = _peak(ground, site, draft, tasks, each)
        power = _slowest_of_chosen(ground, draft)
        if peak < best_peak or (peak == best_peak and power > best_power):
            best_peak, best_power = peak, power
            _keep(draft)
            found = True
    if found:
        _restore(draft)
    return found


@kernel
def _bill(ground, draft, sigma):
    """What the chosen nodes cost for as long as the slowest of them makes the job last."""
    total = 0.0
    for group in range(draft.chosen.size):
        total += draft.chosen[group] * ground.class_price[ground.group_class[group]]
    return total * (sigma / _slowest_of_chosen(ground, draft) + 1.0 - sigma)


@kernel
def _least_bill(ground, site, tasks, sigma, slowest):
    """What a job costs at least on free nodes of the classes up to ``slowest``."""
    needed, cost = tasks, 0.0
    for place in range(ground.by_price.size):
        kind = ground.by_price[place]
        if kind <= slowest:
            count = min(needed, site.class_free[kind])
            needed -= count
            cost += count * ground.class_price[kind]
    if needed > 0:
        return math.inf
    return cost * (sigma / ground.class_power[slowest] + 1.0 - sigma)


@kernel
def _order_by_price(ground, site, draft, slowest):
    """Groups of the classes up to ``slowest``, the cheapest first, then by free nodes; how many."""
    _order_by_free(ground, site, draft)
    count = 0
    for place in range(ground.by_price.size):
        wanted = ground.by_price[place]
        if wanted > slowest:
            continue
        for spot in range(draft.clusters.size):
            cluster = draft.clusters[spot]
            for group in range(ground.cluster_group[cluster], ground.cluster_group[cluster + 1]):
                if ground.group_class[group] == wanted:
                    draft.order[count] = group
                    count += 1
    return count


@kernel
def _cheapest(ground, site, draft, tasks, each, sigma, limit):
    """The cheapest of: each cluster alone, and the cheapest nodes of each class and faster ones."""
    found, best_bill, best_spare = False, math.inf, 0
    for cluster in range(site.cluster_free.size):
        if site.cluster_free[cluster] >= tasks:
            _order_by_power(ground, draft)
            _unlimited(site, draft)
            _fill(ground, site, draft, tasks, cluster)
            bill, spare = _bill(ground, draft, sigma), site.cluster_free[cluster]
            near = bill < best_bill * (1 + LINK_TOLERANCE)
            if bill < best_bill * (1 - LINK_TOLERANCE) or (near and spare < best_spare):
                found, best_bill, best_spare = True, bill, spare
                _keep(draft)
    for slowest in range(ground.class_power.size):
        least = _least_bill(ground, site, tasks, sigma, slowest)
        if least == math.inf or least >= best_bill * (1 - LINK_TOLERANCE):
            continue
        count = _order_by_price(ground, site, draft, slowest)
        for spot in range(count, draft.order.size):
            draft.order[spot] = draft.order[0]  # nodes slower than that are not taken
        if not _fill_in_order(ground, site, draft, tasks, each, limit, NOBODY):
            continue
        bill = _bill(ground, draft, sigma)
        if bill < best_bill * (1 - LINK_TOLERANCE):
            found, best_bill, best_spare = True, bill, 0
            _keep(draft)
    if found:
        _restore(draft)
    return found


@kernel
def _allocate(ground, work, site, draft, job, rule, limit):
    """Choose nodes of each group for a job by a rule; tell whether there is room for it now."""
    tasks, each = work.tasks[job], work.task_bandwidth[job]
    if site.counter[FREE] < tasks:
        return False
    if rule == CHEAPEST:
        return _cheapest(ground, site, draft, tasks, each, work.sigma[job], limit)
    single = NOBODY
    if rule == FASTEST:
        _order_by_power(ground, draft)
    else:
        _order_by_free(ground, site, draft)
        if rule != MOST_FREE:
            single = _best_single_cluster(ground, site, tasks)
    if rule == LINK_AWARE and single == NOBODY:
        return _link_aware(ground, site, draft, tasks, each, limit)
    return _fill_in_order(ground, site, draft, tasks, each, limit, single)


@kernel
def _occupy(ground, work, running, site, draft, job):
    """Give a job the nodes that were chosen, those of the lowest numbers first."""
    task = work.offset[job]
    _count_tasks(ground, draft)
    for cluster in range(draft.on_cluster.size):
        count = draft.on_cluster[cluster]
        site.cluster_free[cluster] -= count
        running.use[job, cluster] = _use(work.tasks[job], work.task_bandwidth[job], count)
    running.slowest[job] = _slowest_of_chosen(ground, draft)
    site.counter[FREE] -= work.tasks[job]
    for group in range(draft.chosen.size):
        needed = draft.chosen[group]
        site.group_free[group] -= needed
        site.class_free[ground.group_class[group]] -= needed
        place = ground.group_first[group]
        while needed > 0:
            node = ground.members[place]
            if site.node_free[node]:
                site.node_free[node] = 0
                running.nodes[task] = node
                task += 1
                needed -= 1
            place += 1


# -- deciding as time goes by ----------------------------------------------------------------


@kernel
def _enter(work, line, site, window):
    """Let arrived jobs enter the window in the order of their arrival; tell whether any did."""
    counter = site.counter
    before = counter[ENTERED]
    while counter[ENTERED] < counter[ARRIVED] and counter[IN_WINDOW] < window:
        job = counter[ENTERED]
        _set_leaf(line, line.rank[job], work.tasks[job])
        counter[ENTERED] += 1
        counter[IN_WINDOW] += 1
    return counter[ENTERED] > before


@kernel
def _worth_it(ground, work, site, job, manner):
    """Tell whether a job should start now, by what the free nodes would at least cost it."""
    if manner.rule != CHEAPEST or site.counter[RUNNING] == 0 or manner.patience == math.inf:
        return True
    most = manner.patience * work.bill[job] / work.base_time[job]
    for slowest in range(ground.class_power.size):
        if _least_bill(ground, site, work.tasks[job], work.sigma[job], slowest) <= most:
            return True
    return False


@kernel
def _in_time(ground, work, site, draft, job, manner):
    """Tell whether a job should start as chosen, or else on the fastest nodes there are.

    It should not where it would miss the deadline now but could meet it on nodes still in use.
    """
    latest = manner.deadline - site.counter[NOW]
    base, sigma = work.base_time[job], work.sigma[job]
    if base * (sigma / _slowest_of_chosen(ground, draft) + 1.0 - sigma) <= latest:
        return True
    _order_by_power(ground, draft)
    tasks, each = work.tasks[job], work.task_bandwidth[job]
    _fill_in_order(ground, site, draft, tasks, each, manner.limit, NOBODY)
    power = _slowest_of_chosen(ground, draft)
    if base * (sigma / power + 1.0 - sigma) <= latest or site.counter[RUNNING] == 0:
        return True
    needed, place = tasks, 0
    while needed > 0:  # the slowest of the fastest nodes that suffice
        group = ground.by_power[place]
        needed -= ground.group_first[group + 1] - ground.group_first[group]
        power = ground.group_power[group]
        place += 1
    return base * (sigma / power + 1.0 - sigma) > latest


@kernel
def _pass(ground, work, line, running, site, draft, manner):
    """Start waiting jobs in their order: only the first in line, or any that fits."""
    rank = 0
    while site.counter[FREE] > 0:
        most = site.counter[FREE] if manner.fit else TOO_WIDE - 1
        rank = _next_in_line(line, rank, most)
        if rank == NOBODY:
            return
        job = line.job_at[rank]
        if (
            _worth_it(ground, work, site, job, manner)
            and _allocate(ground, work, site, draft, job, manner.rule, manner.limit)
            and _in_time(ground, work, site, draft, job, manner)
        ):
            _occupy(ground, work, running, site, draft, job)
            _begin(work, running, site, job)
            _set_leaf(line, rank, TOO_WIDE)
            site.counter[IN_WINDOW] -= 1
            if _enter(work, line, site, manner.window):
                rank = 0  # whoever entered may stand before those already looked at
                continue
        elif not manner.fit:
            return
        rank += 1


@kernel
def _release(ground, work, running, site):
    """End all jobs that are due now."""
    while site.counter[RUNNING] > 0 and running.end[running.heap[0]] <= site.counter[NOW]:
        job = _finish_next(work, running, site)
        site.counter[FREE] += work.tasks[job]
        for task in range(work.offset[job], work.offset[job + 1]):
            group = ground.node_group[running.nodes[task]]
            site.group_free[group] += 1
            site.class_free[ground.group_class[group]] += 1
            site.cluster_free[ground.group_cluster[group]] += 1


@entry(
    types.void(GROUND_TYPE, WORK_TYPE, LINE_TYPE, RUNNING_TYPE, SITE_TYPE, DRAFT_TYPE, MANNER_TYPE),
    error_model="numpy",
)
def run_heuristic(ground, work, line, running, site, draft, manner):
    """Replay all jobs; whoever waits is started by an order and an allocation rule."""
    counter = site.counter
    count = work.submit.size
    while counter[ARRIVED] < count or counter[RUNNING] > 0:
        now = NEVER
        if counter[ARRIVED] < count:
            now = work.submit[counter[ARRIVED]]
        if counter[RUNNING] > 0:
            now = min(now, running.end[running.heap[0]])
        counter[NOW] = now
        _release(ground, work, running, site)
        while counter[ARRIVED] < count and work.submit[counter[ARRIVED]] <= now:
            counter[ARRIVED] += 1
        _enter(work, line, site, manner.window)
        _pass(ground, work, line, running, site, draft, manner)
        _new_rates(ground, work, running, site)


# -- carrying out a plan ---------------------------------------------------------------------


@kernel
def _can_begin(ground, work, running, site, job, limit):
    """Tell whether the planned nodes of a job are free, unclaimed, and its links have room."""
    for task in range(work.offset[job], work.offset[job + 1]):
        if site.node_free[running.nodes[task]] != 1:
            return False
    for link in range(site.load.size):
        use = running.use[job, link]
        most = limit * ground.bandwidth[link] * (1 + LINK_TOLERANCE)
        if use > 0 and site.load[link] + use > most:
            return False
    return True


@kernel
def _mark(work, running, site, job, before, after):
    for task in range(work.offset[job], work.offset[job + 1]):
        node = running.nodes[task]
        if site.node_free[node] == before:
            site.node_free[node] = after


@kernel
def _start_due(ground, work, running, site, waiting, limit):
    """Start due jobs in planned order; one that cannot start keeps its nodes from later ones."""
    counter = site.counter
    kept = 0
    for place in range(counter[IN_WINDOW]):
        job = waiting[place]
        if _can_begin(ground, work, running, site, job, limit):
            _mark(work, running, site, job, 1, 0)
            _begin(work, running, site, job)
        else:
            _mark(work, running, site, job, 1, 2)
            waiting[kept] = job
            kept += 1
    counter[IN_WINDOW] = kept
    for place in range(kept):
        _mark(work, running, site, waiting[place], 2, 1)


@entry(
    types.void(
        GROUND_TYPE, WORK_TYPE, RUNNING_TYPE, SITE_TYPE, INTS, INTS, INTS, int64, float64, int64
    ),
    error_model="numpy",
)
def run_plan(ground, work, running, site, order, due, waiting, planned, limit, to_the_end):
    """Carry out a plan: each job on its nodes, once it is due and they are free, in order.

    ``order[:planned]`` are the planned jobs; ``ENTERED`` of them have become due so far, and
    ``waiting[:IN_WINDOW]`` of these have not started. Stops when all planned jobs have started,
    or, ``to_the_end``, when all have ended; and where nothing can happen any more.
    """
    counter = site.counter
    while counter[STARTED] < planned or (to_the_end and counter[RUNNING] > 0):
        now = NEVER
        if counter[ENTERED] < planned:
            now = due[order[counter[ENTERED]]]
        if counter[RUNNING] > 0:
            now = min(now, running.end[running.heap[0]])
        if now == NEVER:  # somebody is due, but the links never have room for it
            return
        counter[NOW] = max(now, counter[NOW])
        while counter[RUNNING] > 0 and running.end[running.heap[0]] <= counter[NOW]:
            _finish_next(work, running, site)
        while counter[ENTERED] < planned and due[order[counter[ENTERED]]] <= counter[NOW]:
            waiting[counter[IN_WINDOW]] = order[counter[ENTERED]]
            counter[IN_WINDOW] += 1
            counter[ENTERED] += 1
        _start_due(ground, work, running, site, waiting, limit)
        _new_rates(ground, work, running, site)

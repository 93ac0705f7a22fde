"""Where a job goes: the rules of allocation."""

import math

from queuesmith.federation.replay.kernels.site import (
    CHEAPEST,
    FASTEST,
    FREE,
    LINK_AWARE,
    LINK_TOLERANCE,
    MOST_FREE,
    NOBODY,
    kernel,
    link_use,
)


@kernel
def _order_by_free(layout, site, draft):
    """Groups by cluster, the cluster with most free nodes first."""
    count = site.cluster_free.size
    for place in range(count):
        cluster = place
        spot = place
        while spot > 0 and site.cluster_free[draft.clusters[spot - 1]] < site.cluster_free[cluster]:
            draft.clusters[spot] = draft.clusters[spot - 1]
            spot -= 1
        draft.clusters[spot] = cluster
    _groups_of_clusters(layout, draft, count)


@kernel
def _order_by_link(layout, site, draft, limit):
    """Groups by cluster, the cluster with most bandwidth left first."""
    count = site.cluster_free.size
    for place in range(count):
        room = limit * layout.bandwidth[place] - site.load[place]
        spot = place
        while spot > 0:
            other = draft.clusters[spot - 1]
            if limit * layout.bandwidth[other] - site.load[other] >= room:
                break
            draft.clusters[spot] = other
            spot -= 1
        draft.clusters[spot] = place
    _groups_of_clusters(layout, draft, count)


@kernel
def _groups_of_clusters(layout, draft, count):
    spot = 0
    for place in range(count):
        cluster = draft.clusters[place]
        for group in range(layout.cluster_group[cluster], layout.cluster_group[cluster + 1]):
            draft.order[spot] = group
            spot += 1


@kernel
def order_by_power(layout, draft):
    """Groups from the fastest to the slowest."""
    for place in range(draft.order.size):
        draft.order[place] = layout.by_power[place]


@kernel
def _take(layout, site, draft, group, most):
    """Take up to so many further nodes of a group; return how many."""
    cluster = layout.group_cluster[group]
    free = site.group_free[group] - draft.chosen[group]
    count = min(min(free, draft.left[cluster]), most)
    draft.chosen[group] += count
    draft.left[cluster] -= count
    return count


@kernel
def _fill(layout, site, draft, tasks, first):
    """Take nodes in the order of the groups, those of cluster ``first`` before all others."""
    needed = tasks
    for group in range(draft.chosen.size):
        draft.chosen[group] = 0
    if first != NOBODY:
        for group in range(layout.cluster_group[first], layout.cluster_group[first + 1]):
            needed -= _take(layout, site, draft, group, needed)
    for place in range(draft.order.size):
        if needed == 0:
            break
        needed -= _take(layout, site, draft, draft.order[place], needed)
    return needed == 0


@kernel
def _count_tasks(layout, draft):
    for cluster in range(draft.on_cluster.size):
        draft.on_cluster[cluster] = 0
    for group in range(draft.chosen.size):
        draft.on_cluster[layout.group_cluster[group]] += draft.chosen[group]


@kernel
def _peak(layout, site, draft, tasks, each):
    """The highest share of its bandwidth that any link would carry, of those the job uses."""
    _count_tasks(layout, draft)
    peak = 0.0
    for link in range(site.load.size):
        use = link_use(tasks, each, draft.on_cluster[link])
        if use > 0:
            peak = max(peak, (site.load[link] + use) / layout.bandwidth[link])
    return peak


@kernel
def _limit_by_links(layout, site, draft, tasks, each, limit):
    """Say how many nodes of each cluster may be taken so that no link is loaded beyond its limit.

    A link has room for few tasks or for nearly all, since only talk between clusters counts: for
    up to ``low`` of them, and for at least ``tasks - low``. So either every cluster takes few, or
    one takes nearly all. Returns whether there is a way, and the cluster that takes nearly all.
    """
    total = 0
    for cluster in range(site.load.size):
        room = limit * layout.bandwidth[cluster] * (1 + LINK_TOLERANCE) - site.load[cluster]
        draft.low[cluster] = _few_tasks(tasks, each, room)
        draft.left[cluster] = draft.low[cluster]
        total += min(draft.low[cluster], site.cluster_free[cluster])
    if total >= tasks:
        return True, NOBODY
    for place in range(draft.order.size):
        cluster = layout.group_cluster[draft.order[place]]
        free = site.cluster_free[cluster]
        nearly_all = min(free, tasks)
        others = total - min(draft.low[cluster], free)
        if nearly_all >= tasks - draft.low[cluster] and tasks - nearly_all <= others:
            draft.left[cluster] = nearly_all
            return True, cluster
    return False, NOBODY


@kernel
def _few_tasks(tasks, each, room):
    """The most tasks, up to all, such that a link has room for them and for any fewer (eq. 4)."""
    if link_use(tasks, each, tasks // 2) <= room:  # half of them talk most
        return tasks
    if room <= 0:
        return 0
    product = room * (tasks - 1) / each
    few = int((tasks - math.sqrt(tasks * tasks - 4.0 * product)) / 2.0)
    while few > 0 and link_use(tasks, each, few) > room:
        few -= 1
    while 2 * (few + 1) <= tasks and link_use(tasks, each, few + 1) <= room:
        few += 1
    return few


@kernel
def slowest_of_chosen(layout, draft):
    """The power of the slowest of the chosen nodes."""
    slowest = math.inf
    for group in range(draft.chosen.size):
        if draft.chosen[group] > 0:
            slowest = min(slowest, layout.group_power[group])
    return slowest


@kernel
def _best_single_cluster(layout, site, tasks):
    """The cluster on which the whole job would be fastest now, of these the fullest; or nobody."""
    best, best_power = NOBODY, 0.0
    for cluster in range(site.cluster_free.size):
        if site.cluster_free[cluster] < tasks:
            continue
        needed, power = tasks, 0.0
        for group in range(layout.cluster_group[cluster], layout.cluster_group[cluster + 1]):
            if site.group_free[group] > 0 and needed > 0:
                power = layout.group_power[group]
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
def fill_in_order(layout, site, draft, tasks, each, limit, first):
    """Take nodes in the order of the groups; where links have no room for that, as they allow."""
    _unlimited(site, draft)
    for limited in range(2):
        if not _fill(layout, site, draft, tasks, first):
            return False
        if limited or _peak(layout, site, draft, tasks, each) <= limit * (1 + LINK_TOLERANCE):
            return True
        possible, first = _limit_by_links(layout, site, draft, tasks, each, limit)
        if not possible:
            return False
    return False


@kernel
def _keep(draft):
    for group in range(draft.chosen.size):
        draft.best[group] = draft.chosen[group]


@kernel
def _restore(draft):
    for group in range(draft.chosen.size):
        draft.chosen[group] = draft.best[group]


@kernel
def _fill_by_ways(layout, site, draft, tasks, each, limit, first, ways):
    """Take nodes in the order that stands, or, of three ways, in the one that loads links least."""
    found = False
    best_peak, best_power = math.inf, 0.0
    for way in range(ways):
        if way == 1:
            _order_by_link(layout, site, draft, limit)
        elif way == 2:
            order_by_power(layout, draft)
        if not fill_in_order(layout, site, draft, tasks, each, limit, first):
            continue
        if ways == 1:
            return True
        peak = _peak(layout, site, draft, tasks, each)
        power = slowest_of_chosen(layout, draft)
        if peak < best_peak or (peak == best_peak and power > best_power):
            best_peak, best_power = peak, power
            _keep(draft)
            found = True
    if found:
        _restore(draft)
    return found


@kernel
def bill_of_chosen(layout, draft, sigma):
    """What the chosen nodes cost for as long as the slowest of them makes the job last."""
    total = 0.0
    for group in range(draft.chosen.size):
        total += draft.chosen[group] * layout.class_price[layout.group_class[group]]
    return total * (sigma / slowest_of_chosen(layout, draft) + 1.0 - sigma)


@kernel
def least_bill(layout, site, tasks, sigma, slowest):
    """What a job costs at least on free nodes of the classes up to ``slowest``."""
    needed, cost = tasks, 0.0
    for place in range(layout.by_price.size):
        kind = layout.by_price[place]
        if kind <= slowest:
            count = min(needed, site.class_free[kind])
            needed -= count
            cost += count * layout.class_price[kind]
    if needed > 0:
        return math.inf
    return cost * (sigma / layout.class_power[slowest] + 1.0 - sigma)


@kernel
def _order_by_price(layout, site, draft, slowest):
    """Groups of the classes up to ``slowest``, the cheapest first, then by free nodes; how many."""
    _order_by_free(layout, site, draft)
    count = 0
    for place in range(layout.by_price.size):
        wanted = layout.by_price[place]
        if wanted > slowest:
            continue
        for spot in range(draft.clusters.size):
            cluster = draft.clusters[spot]
            for group in range(layout.cluster_group[cluster], layout.cluster_group[cluster + 1]):
                if layout.group_class[group] == wanted:
                    draft.order[count] = group
                    count += 1
    return count


@kernel
def _cheapest(layout, site, draft, tasks, each, sigma, limit):
    """The cheapest of: each cluster alone, and the cheapest nodes of each class and faster ones."""
    found, best_bill, best_spare = False, math.inf, 0
    for cluster in range(site.cluster_free.size):
        if site.cluster_free[cluster] >= tasks:
            order_by_power(layout, draft)
            _unlimited(site, draft)
            _fill(layout, site, draft, tasks, cluster)
            bill, spare = bill_of_chosen(layout, draft, sigma), site.cluster_free[cluster]
            near = bill < best_bill * (1 + LINK_TOLERANCE)
            if bill < best_bill * (1 - LINK_TOLERANCE) or (near and spare < best_spare):
                found, best_bill, best_spare = True, bill, spare
                _keep(draft)
    for slowest in range(layout.class_power.size):
        least = least_bill(layout, site, tasks, sigma, slowest)
        if least == math.inf or least >= best_bill * (1 - LINK_TOLERANCE):
            continue
        count = _order_by_price(layout, site, draft, slowest)
        for spot in range(count, draft.order.size):
            draft.order[spot] = draft.order[0]  # nodes slower than that are not taken
        if not fill_in_order(layout, site, draft, tasks, each, limit, NOBODY):
            continue
        bill = bill_of_chosen(layout, draft, sigma)
        if bill < best_bill * (1 - LINK_TOLERANCE):
            found, best_bill, best_spare = True, bill, 0
            _keep(draft)
    if found:
        _restore(draft)
    return found


@kernel
def allocate(layout, jobs, site, draft, job, rule, limit):
    """Choose nodes of each group for a job by a rule; tell whether there is room for it now."""
    tasks, each = jobs.tasks[job], jobs.task_bandwidth[job]
    if site.counter[FREE] < tasks:
        return False
    if rule == CHEAPEST:
        return _cheapest(layout, site, draft, tasks, each, jobs.sigma[job], limit)
    single = NOBODY
    if rule == FASTEST:
        order_by_power(layout, draft)
    else:
        _order_by_free(layout, site, draft)
        if rule != MOST_FREE:
            single = _best_single_cluster(layout, site, tasks)
    ways = 3 if rule == LINK_AWARE and single == NOBODY else 1
    return _fill_by_ways(layout, site, draft, tasks, each, limit, single, ways)


@kernel
def occupy(layout, jobs, running, site, draft, job):
    """Give a job the nodes that were chosen, those of the lowest numbers first."""
    task = jobs.offset[job]
    _count_tasks(layout, draft)
    for cluster in range(draft.on_cluster.size):
        count = draft.on_cluster[cluster]
        site.cluster_free[cluster] -= count
        running.use[job, cluster] = link_use(jobs.tasks[job], jobs.task_bandwidth[job], count)
    running.slowest[job] = slowest_of_chosen(layout, draft)
    site.counter[FREE] -= jobs.tasks[job]
    for group in range(draft.chosen.size):
        needed = draft.chosen[group]
        site.group_free[group] -= needed
        site.class_free[layout.group_class[group]] -= needed
        place = layout.group_first[group]
        while needed > 0:
            node = layout.members[place]
            if site.node_free[node]:
                site.node_free[node] = 0
                running.nodes[task] = node
                task += 1
                needed -= 1
            place += 1

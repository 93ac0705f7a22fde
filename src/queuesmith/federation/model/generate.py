"""Random federations and queues: those of the paper, and larger ones.

H. Blanco, F. Guirado, J. L. Lérida, V. M. Albornoz: MIP Model Scheduling for Multi-Clusters,
section 4. The paper names the kinds of its workloads and their mean base time, not their jobs; how
each kind is drawn here is said beside its function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from queuesmith.base.checks import number, positive, seeded, whole_number
from queuesmith.base.registry import entry
from queuesmith.federation.model.clusters import FederationCluster, Floats, Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs

#: The paper's federation: the power of each cluster, and the nodes of each.
PAPER_POWERS = (1.0, 0.75, 0.5)
PAPER_NODES = 4
#: The bandwidth of each link; a gigabit network, in megabits a second.
PAPER_BANDWIDTH = 1000.0
PAPER_JOBS = 8
PAPER_BASE_TIME = 670_000
PAPER_SIGMA = 0.7
#: What a task needs of a link, in megabits a second: the paper is silent, so this is our choice.
TASK_BANDWIDTH = (50.0, 300.0)

#: Kind ``matching``: how long wide jobs last and the narrow ones beside them, at least and at most.
WIDE, NARROW = (1.0, 1.1), (0.4, 0.6)
#: Kind ``small-first``: the length of wide jobs over that of narrow ones.
SHORT = 0.3


class Shapes(NamedTuple):
    """Widths and relative lengths of jobs, in the order of their arrival."""

    tasks: Ints
    length: Floats


def paper_federation() -> Federation:
    """Return three clusters of four nodes at 1.0, 0.75 and 0.5 (section 4)."""
    return generate_federation(len(PAPER_POWERS), PAPER_NODES, powers=PAPER_POWERS, name="paper")


def generate_federation(
    clusters: int = 20,
    nodes: int = 64,
    *,
    powers: Sequence[float] = PAPER_POWERS,
    spread: float = 0.0,
    bandwidth: float | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Federation:
    """Make a federation of clusters of one size.

    Parameters
    ----------
    clusters, nodes
        How many clusters, and how many nodes each has.
    powers
        The powers of the clusters, used in turn.
    spread
        By which share at most the nodes of one cluster differ from its power, downwards; by
        default they are alike.
    bandwidth
        Of each link; by default the paper's for four nodes, and in proportion for more.
    seed
        Same seed, same federation.
    name
        By default after its size, ``20x64``.
    """
    count = whole_number("the number of clusters", clusters, 1, "Give for example 20.")
    size = whole_number("the number of nodes", nodes, 1, "Give for example 64.")
    share = number("the spread", spread, 0, 0.99, "Give for example 0.2, or 0 for none.")
    for power in powers:
        positive("a power", power, "Give for example 0.75.")
    link = PAPER_BANDWIDTH * size / PAPER_NODES if bandwidth is None else bandwidth
    rng = seeded(seed)
    members = []
    for place in range(count):
        power = float(powers[place % len(powers)])
        each = [power] * size
        if share > 0:
            each = (power * (1.0 - rng.uniform(0.0, share, size))).round(3).tolist()
        members.append(FederationCluster(f"c{place + 1}", size, each, link))
    return Federation(members, name=f"{count}x{size}" if name is None else name)


def generate_queue(
    kind: str = "general",
    jobs: int = PAPER_JOBS,
    *,
    seed: int = 0,
    nodes: int = PAPER_NODES * len(PAPER_POWERS),
    most_tasks: int | None = None,
    base_time: float = PAPER_BASE_TIME,
    sigma: float = PAPER_SIGMA,
    task_bandwidth: tuple[float, float] = TASK_BANDWIDTH,
    name: str | None = None,
) -> FederationJobs:
    """Make a queue of jobs, all of them waiting at second 0.

    Parameters
    ----------
    kind
        A name in ``KINDS``: ``matching``, ``small-first`` or ``general``.
    jobs
        How many.
    seed
        Same seed, same queue.
    nodes
        How many nodes the federation has that the queue is made for.
    most_tasks
        The widest job of kind ``general``; by default the paper's 12, or all nodes.
    base_time
        The mean base time, in seconds.
    sigma
        Of all jobs.
    task_bandwidth
        The least and the greatest bandwidth of a task.
    name
        By default after the kind and the seed, ``general.0``.
    """
    draw = entry("kind of queue", kind, KINDS)
    count = whole_number("the number of jobs", jobs, 1, "Give for example 8.")
    room = whole_number("the number of nodes", nodes, 1, "Give for example 12.")
    widest = min(12, room) if most_tasks is None else most_tasks
    whole_number("most_tasks", widest, 1, "Give for example 12.")
    positive("the base time", base_time, "Give for example 670000.")
    number("sigma", sigma, 0, 1, "Give for example 0.7.")
    low = number("the least bandwidth of a task", task_bandwidth[0], 0, 1e12, "Give 50.")
    high = number("the greatest bandwidth of a task", task_bandwidth[1], low, 1e12, "Give 300.")
    rng = seeded(seed)
    shapes = draw(count, room, min(widest, room), rng)
    length = np.maximum(np.rint(shapes.length * (base_time / shapes.length.mean())), 1)
    return FederationJobs(
        shapes.tasks,
        length,
        rng.uniform(low, high, count).round(1),
        np.full(count, sigma),
        name=f"{kind}.{seed}" if name is None else name,
    )


def with_arrivals(
    jobs: FederationJobs, federation: Federation, *, load: float = 1.0, seed: int = 0
) -> FederationJobs:
    """Let the jobs of a queue arrive over time, at random (Poisson), the first at second 0.

    Parameters
    ----------
    jobs, federation
        What arrives, and where.
    load
        The work that arrives, over what all nodes could do meanwhile, each counted by its power.
    seed
        Same seed, same arrivals.
    """
    share = positive("the load", load, "Give for example 1.")
    whole_number("the seed", seed, 0, "Give for example 0.")
    work = float((jobs.tasks * jobs.base_time).sum()) / float(federation.node_power.sum())
    gaps = np.random.default_rng([seed, 7]).exponential(work / len(jobs) / share, len(jobs))
    submit = np.cumsum(gaps).astype(np.int64)
    return FederationJobs(
        jobs.tasks,
        jobs.base_time,
        jobs.task_bandwidth,
        jobs.sigma,
        submit=submit - submit[0],
        name=f"{jobs.name}, load {load:g}",
    )


def paper_queue(name: str, *, seed: int = 0) -> FederationJobs:
    """Return one of the paper's workloads of 8 jobs, ``WL-1`` to ``WL-6`` (section 4.2)."""
    kind = entry("workload", name, PAPER_QUEUES)
    return generate_queue(kind, seed=_paper_seed(name, seed), name=name)


def matching(jobs: int, nodes: int, most_tasks: int, rng: np.random.Generator) -> Shapes:
    """Wide jobs, the widest last, then for each a narrow and shorter one that fills what it leaves.

    Whoever looks for a job that fits the free nodes finds that partner. Whoever takes the next in
    line is stuck at the next wide job, by any order: all wide jobs are longer than all narrow ones.
    """
    pairs = -(-jobs // 2)
    least = nodes // 2 + 1
    drawn = rng.integers(least, max(nodes - 1, least), pairs, endpoint=True)
    wide = np.minimum(np.sort(drawn), nodes)
    tasks = np.concatenate([wide, np.maximum(nodes - wide, 1)])
    length = np.concatenate([rng.uniform(*WIDE, pairs), rng.uniform(*NARROW, pairs)])
    return Shapes(tasks[:jobs], length[:jobs])


def small_first(jobs: int, nodes: int, most_tasks: int, rng: np.random.Generator) -> Shapes:
    """Short jobs on most of the nodes, then more of those that are narrow and long.

    Whoever starts narrow jobs first gives them the fastest nodes, all at once, and lets the wide
    ones follow. Whoever starts a wide job before leaves slow nodes to those that take longest.
    """
    narrow = 5 * jobs // 8
    wide = np.full(jobs - narrow, max(5 * nodes // 6, 1))
    tasks = np.concatenate([wide, np.full(narrow, max(nodes // 12, 1))])
    length = rng.uniform(0.9, 1.1, jobs)
    length[: jobs - narrow] *= SHORT
    return Shapes(tasks, length)


def general(jobs: int, nodes: int, most_tasks: int, rng: np.random.Generator) -> Shapes:
    """Widths and lengths without any particular criterion: both evenly distributed."""
    tasks = rng.integers(1, most_tasks, jobs, endpoint=True)
    return Shapes(tasks, rng.uniform(0.25, 1.75, jobs))


KINDS: dict[str, Callable[[int, int, int, np.random.Generator], Shapes]] = {
    "matching": matching,
    "small-first": small_first,
    "general": general,
}

PAPER_QUEUES = {
    "WL-1": "matching",
    "WL-2": "small-first",
    "WL-3": "general",
    "WL-4": "general",
    "WL-5": "general",
    "WL-6": "general",
}


def _paper_seed(name: str, seed: int) -> int:
    """Every workload draws its own chance, so that WL-3 to WL-6 differ."""
    return whole_number("the seed", seed, 0, "Give for example 0.") * 6 + int(name[-1])

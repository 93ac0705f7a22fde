"""Every plan of a tiny queue: the slow, obvious answer, from the paper's equations alone."""

import itertools
import math
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from queuesmith.federation import Federation, FederationCluster, FederationJobs


@st.composite
def tiny_queues(draw: st.DrawFn) -> tuple[Federation, FederationJobs]:
    """Up to four jobs on one to three small clusters, nodes of a cluster alike or not."""
    clusters = []
    powers = st.sampled_from([1.0, 0.75, 0.5])
    alike = draw(st.booleans())
    for number in range(draw(st.integers(1, 3 if alike else 2))):
        nodes = draw(st.integers(1, 2))
        power = [draw(powers)] * nodes if alike else [draw(powers) for _ in range(nodes)]
        clusters.append(FederationCluster(f"c{number}", nodes, power, draw(st.integers(50, 400))))
    federation = Federation(clusters)
    count = draw(st.integers(1, 4 if len(federation.group_nodes) < 3 else 3))
    columns = [
        draw(st.lists(values, min_size=count, max_size=count))
        for values in (
            st.integers(1, federation.nodes),
            st.integers(1, 30),
            st.sampled_from([0.0, 30.0, 100.0]),
            st.sampled_from([0.0, 0.5, 0.7, 1.0]),
        )
    ]
    return federation, FederationJobs(*columns)


def modes_of(federation: Federation, jobs: FederationJobs, job: int) -> Iterator[tuple[int, ...]]:
    """Counts of nodes of each group that the job can take, links permitting."""
    tasks, wanted = int(jobs.tasks[job]), float(jobs.task_bandwidth[job])
    for counts in itertools.product(*(range(n + 1) for n in federation.group_nodes.tolist())):
        use = link_use(federation, counts, tasks, wanted)
        if sum(counts) == tasks and all(
            load <= link * (1 + 1e-9)
            for load, link in zip(use, federation.bandwidth.tolist(), strict=True)
        ):
            yield counts


def link_use(
    federation: Federation, counts: Sequence[int], tasks: int, wanted: float
) -> list[float]:
    here = [0] * len(federation.clusters)
    for group, count in enumerate(counts):
        here[int(federation.group_cluster[group])] += count
    return [t * wanted * (tasks - t) / (tasks - 1) if tasks > 1 else 0.0 for t in here]  # eq. 4


def seconds_of(
    federation: Federation, jobs: FederationJobs, job: int, counts: Sequence[int]
) -> int:
    slowest = min(float(federation.group_power[g]) for g, c in enumerate(counts) if c)
    sigma = float(jobs.sigma[job])
    cost = sigma / slowest + (1 - sigma)  # eq. 2 and 3
    return math.ceil(float(jobs.base_time[job]) * cost - 1e-6)


def shortest_makespan(federation: Federation, jobs: FederationJobs) -> int | None:
    """The makespan of the best of all plans; None where a job fits nowhere."""
    choices = [list(modes_of(federation, jobs, job)) for job in range(len(jobs))]
    if not all(choices):
        return None
    return min(
        makespan_of(federation, jobs, order, modes)
        for modes in itertools.product(*choices)
        for order in itertools.permutations(range(len(jobs)))
    )


def makespan_of(
    federation: Federation,
    jobs: FederationJobs,
    order: Sequence[int],
    modes: Sequence[Sequence[int]],
) -> int:
    """Plan one job after another, each at the first end of another at which it fits."""
    plan: list[tuple[int, int, int]] = []
    for job in order:
        last = seconds_of(federation, jobs, job, modes[job])
        for start in sorted({0, *(end for _, end, _ in plan)}):
            if _fits(federation, jobs, [*plan, (start, start + last, job)], modes):
                plan.append((start, start + last, job))
                break
    return max(end for _, end, _ in plan)


def _fits(
    federation: Federation,
    jobs: FederationJobs,
    plan: Sequence[tuple[int, int, int]],
    modes: Sequence[Sequence[int]],
) -> bool:
    for moment, _, _ in plan:
        running = [job for start, end, job in plan if start <= moment < end]
        for group, nodes in enumerate(federation.group_nodes.tolist()):
            if sum(modes[job][group] for job in running) > nodes:
                return False
        uses = [
            link_use(federation, modes[j], int(jobs.tasks[j]), float(jobs.task_bandwidth[j]))
            for j in running
        ]
        for link, bandwidth in enumerate(federation.bandwidth.tolist()):
            if sum(use[link] for use in uses) > bandwidth * (1 + 1e-9):
                return False
    return True

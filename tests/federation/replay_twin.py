"""A slow, obvious twin of the federation's replay in plain Python, in exact fractions.

The compiled replay must give the same starts, ends and nodes. Read this file to know what the
orders, the allocation rules and the links do; the compiled kernels only do it faster. Equations are
those of Blanco et al., MIP Model Scheduling for Multi-Clusters.

At one instant, completions release nodes and links first, then arrivals join the queue, then one
scheduling pass runs, then running jobs go on at new rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from queuesmith.federation import Federation, FederationJobs, as_schedule
from queuesmith.federation.heuristics.heuristics import ORDERS, named_heuristic
from queuesmith.federation.model.equations import GRACE_SECONDS, GRACE_SHARE
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.placed import clusters_of, job_nodes
from queuesmith.schedule import Schedule

#: The highest load of a link that slows nobody, and what rounding may add to any limit.
FULL = 1 + Fraction(LINK_TOLERANCE)


@dataclass(eq=False)
class TwinJob:
    """One job on its way through the federation."""

    place: int
    submit: int
    tasks: int
    each: Fraction  # bandwidth of a task
    sigma: Fraction
    remaining: Fraction  # base seconds still to do
    key: float
    is_due: bool = False
    nodes: list[int] = field(default_factory=list)
    start: int = -1
    end: int = -1
    cost: Fraction = Fraction(1)


class FederationTwin:
    """The clusters, who runs on them, and what the links carry."""

    def __init__(self, federation: Federation, limit: float = math.inf) -> None:
        self.federation = federation
        self.limit = None if math.isinf(limit) else Fraction(limit)
        self.running: list[TwinJob] = []
        self.now = 0

    def free(self, cluster: int | None = None) -> list[int]:
        """Return the free nodes, of one cluster or of all, the fastest first."""
        busy = {node for job in self.running for node in job.nodes}
        power, home = self.federation.node_power, self.federation.node_cluster
        nodes = [n for n in range(self.federation.nodes) if n not in busy]
        mine = [n for n in nodes if cluster is None or home[n] == cluster]
        return sorted(mine, key=lambda n: (-power[n], home[n], n))

    def on_cluster(self, nodes: Sequence[int]) -> list[int]:
        """Count nodes by cluster."""
        home = [int(self.federation.node_cluster[node]) for node in nodes]
        return [home.count(cluster) for cluster in range(len(self.federation.clusters))]

    def use(self, job: TwinJob, nodes: Sequence[int]) -> list[Fraction]:
        """Return the bandwidth a job consumes on each link (eq. 4)."""
        return [self.use_of(job, here) for here in self.on_cluster(nodes)]

    def use_of(self, job: TwinJob, here: int) -> Fraction:
        """Return what a job consumes on a link with so many tasks behind it (eq. 4)."""
        return here * job.each * Fraction(job.tasks - here, max(job.tasks - 1, 1))

    def load(self) -> list[Fraction]:
        """Return what each link carries."""
        uses = [self.use(job, job.nodes) for job in self.running]
        return [sum((use[k] for use in uses), Fraction(0)) for k in range(self.links)]

    @property
    def links(self) -> int:
        """How many links there are."""
        return len(self.federation.clusters)

    def room(self, link: int) -> Fraction | None:
        """Return what a link may still take on; None for any load."""
        wide = self.federation.clusters[link].bandwidth
        if self.limit is None or math.isinf(wide):
            return None
        return self.limit * Fraction(wide) * FULL - self.load()[link]

    def fits(self, job: TwinJob, nodes: Sequence[int]) -> bool:
        """Tell whether the links have room for a job on these nodes."""
        for link, use in enumerate(self.use(job, nodes)):
            room = self.room(link)
            if use > 0 and room is not None and use > room:
                return False
        return True

    def begin(self, job: TwinJob, nodes: Sequence[int]) -> None:
        """Let a job run."""
        job.nodes, job.start = list(nodes), self.now
        self.running.append(job)

    def new_rates(self) -> None:
        """Set the cost of every running job (eq. 2 to 7), and when it ends at that rate."""
        load = self.load()
        for job in self.running:
            used = [link for link, use in enumerate(self.use(job, job.nodes)) if use > 0]
            slowdown = max([self.slowdown(link, load) for link in used], default=Fraction(1))
            slowest = min(Fraction(float(self.federation.node_power[n])) for n in job.nodes)
            cost = job.sigma / slowest + (1 - job.sigma) * slowdown
            if cost != job.cost or job.end < 0:
                job.cost = cost
                job.end = self.now + max(_whole_seconds(job.remaining * cost), 1)

    def slowdown(self, link: int, load: Sequence[Fraction]) -> Fraction:
        """Return how many times slower talk over a link is (eq. 5 and 6)."""
        wide = self.federation.clusters[link].bandwidth
        share = Fraction(0) if math.isinf(wide) else load[link] / Fraction(wide)
        return share if share > FULL else Fraction(1)

    def go_on_until(self, then: int) -> None:
        """Let time pass, and end the jobs that are done."""
        for job in self.running:
            job.remaining -= Fraction(then - self.now) / job.cost
        self.now = then
        self.running = [job for job in self.running if job.end > then]


def _whole_seconds(seconds: Fraction) -> int:
    return math.ceil(seconds - Fraction(GRACE_SECONDS) - Fraction(GRACE_SHARE) * seconds)


# -- which nodes a job gets ------------------------------------------------------------------


def fastest(twin: FederationTwin, job: TwinJob) -> list[int] | None:
    """The fastest free nodes, wherever they are."""
    return in_order(twin, job, twin.free())


def most_free(twin: FederationTwin, job: TwinJob) -> list[int] | None:
    """Clusters with most free nodes first."""
    clusters = sorted(range(twin.links), key=lambda k: (-len(twin.free(k)), k))
    return in_order(twin, job, [node for k in clusters for node in twin.free(k)])


def one_cluster(twin: FederationTwin, job: TwinJob) -> list[int] | None:
    """One cluster where one has room: the fastest, then the fullest; else as `most_free`."""
    power = twin.federation.node_power
    fitting = [k for k in range(twin.links) if len(twin.free(k)) >= job.tasks]
    if not fitting:
        return most_free(twin, job)
    best = min(fitting, key=lambda k: (-power[twin.free(k)[job.tasks - 1]], len(twin.free(k)), k))
    return twin.free(best)[: job.tasks]


def in_order(twin: FederationTwin, job: TwinJob, nodes: list[int]) -> list[int] | None:
    """The first nodes of a list; where links have no room for that, as they allow."""
    if len(nodes) < job.tasks:
        return None
    if twin.fits(job, nodes[: job.tasks]):
        return nodes[: job.tasks]
    return within_links(twin, job, nodes)


def within_links(twin: FederationTwin, job: TwinJob, nodes: list[int]) -> list[int] | None:
    """Few tasks on every cluster; or else nearly all on one and few on the others."""
    few = [_few(twin, job, k) for k in range(twin.links)]
    spread = _take(twin, nodes, job.tasks, few)
    if len(spread) == job.tasks:
        return spread
    home = twin.federation.node_cluster
    for k in dict.fromkeys(int(home[node]) for node in nodes):
        first = twin.free(k)[: job.tasks]
        rest = [node for node in nodes if home[node] != k]
        chosen = first + _take(twin, rest, job.tasks - len(first), few)
        if len(first) >= job.tasks - few[k] and len(chosen) == job.tasks:
            return chosen
    return None


def _few(twin: FederationTwin, job: TwinJob, link: int) -> int:
    """The most tasks such that a link has room for them and for any fewer."""
    room = twin.room(link)
    for here in range(1, job.tasks + 1):
        if room is not None and twin.use_of(job, here) > max(room, Fraction(0)):
            return here - 1
    return job.tasks


def _take(twin: FederationTwin, nodes: list[int], count: int, most: list[int]) -> list[int]:
    taken: list[int] = []
    for node in nodes:
        cluster = int(twin.federation.node_cluster[node])
        if len(taken) < count and twin.on_cluster(taken)[cluster] < most[cluster]:
            taken.append(node)
    return taken


RULES: dict[str, Callable[[FederationTwin, TwinJob], list[int] | None]] = {
    "fastest": fastest,
    "most-free": most_free,
    "one-cluster": one_cluster,
}


# -- the replays -----------------------------------------------------------------------------


def replay_slowly(
    federation: Federation,
    jobs: FederationJobs,
    heuristic: str = "fcfs",
    allocation: str = "fastest",
    *,
    saturation: float = math.inf,
    window: int | None = None,
) -> Schedule:
    """Replay jobs as `queuesmith.federation.online.replay` does, slowly and plainly."""
    chosen, rule = named_heuristic(heuristic), RULES[allocation]
    todo = _twin_jobs(jobs, ORDERS[chosen.order](jobs).tolist())
    everyone = list(todo)
    twin = FederationTwin(federation, saturation)
    waiting: list[TwinJob] = []
    while todo or twin.running:
        twin.go_on_until(min([job.submit for job in todo] + [job.end for job in twin.running]))
        waiting += [job for job in todo if job.submit <= twin.now]
        todo = [job for job in todo if job.submit > twin.now]
        while _start_one(twin, waiting, rule, chosen.fit, window):
            pass
        twin.new_rates()
    return _placed(federation, jobs, everyone, saturation)


def _start_one(
    twin: FederationTwin,
    waiting: list[TwinJob],
    rule: Callable[[FederationTwin, TwinJob], list[int] | None],
    fit: bool,
    window: int | None,
) -> bool:
    """Start the first job in line that may; tell whether there was one."""
    looked_at = waiting[:window]
    for job in sorted(looked_at, key=lambda job: (job.key, job.place)):
        nodes = rule(twin, job)
        if nodes is not None:
            waiting.remove(job)
            twin.begin(job, nodes)
            return True
        if not fit:
            return False
    return False


def replay_plan_slowly(
    plan: Schedule, federation: Federation | None = None, *, saturation: float = math.inf
) -> Schedule:
    """Carry out a plan as `queuesmith.federation.online.replay_placement` does, slowly."""
    where = clusters_of(plan) if federation is None else federation
    assert isinstance(where, Federation)
    jobs, nodes_of = FederationJobs.of(plan.workload), job_nodes(plan)
    todo = _twin_jobs(jobs, [float(start) for start in plan.start])
    everyone = list(todo)
    twin = FederationTwin(where, saturation)
    while todo or twin.running:
        due = [int(job.key) for job in todo if not job.is_due]
        twin.go_on_until(min(due + [job.end for job in twin.running]))
        for job in todo:
            job.is_due = job.key <= twin.now
        claimed: set[int] = set()
        for job in sorted(todo, key=lambda job: (job.key, job.place)):
            nodes = [int(node) for node in nodes_of[job.place]]
            taken = claimed | {node for other in twin.running for node in other.nodes}
            if not job.is_due:
                break
            if taken.isdisjoint(nodes) and twin.fits(job, nodes):
                todo.remove(job)
                twin.begin(job, nodes)
            else:
                claimed |= set(nodes)
        twin.new_rates()
    return _placed(where, jobs, everyone, saturation)


def _twin_jobs(jobs: FederationJobs, keys: Sequence[float]) -> list[TwinJob]:
    return [
        TwinJob(
            place=place,
            submit=int(jobs.submit[place]),
            tasks=int(jobs.tasks[place]),
            each=Fraction(float(jobs.task_bandwidth[place])),
            sigma=Fraction(float(jobs.sigma[place])),
            remaining=Fraction(float(jobs.base_time[place])),
            key=keys[place],
        )
        for place in range(len(jobs))
    ]


def _placed(
    federation: Federation, jobs: FederationJobs, done: list[TwinJob], saturation: float
) -> Schedule:
    return as_schedule(
        federation,
        jobs,
        [job.start for job in done],
        [job.end for job in done],
        [node for job in done for node in job.nodes],
        "twin",
        saturation=saturation,
    )

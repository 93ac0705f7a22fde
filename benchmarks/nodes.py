"""Jobs a second on a machine of nodes, beside the pool of as many cores."""

import time

import numpy as np

import queuesmith as qs
from benchmarks.timing import seconds_of
from queuesmith.cluster import Cluster, NodeCluster, NodeKind
from queuesmith.cluster.hostlist import expanded
from queuesmith.engine.simulate import Replay
from queuesmith.workload.workload import Ints

NODES, CORES = 5_000, 48
YEAR = 365 * 86_400
POLICIES = ("fcfs", "fcfs+list", "fcfs+easy", "sjf+easy", "wfp3+easy", "fcfs+plan(depth=10)")
#: For a queue of hundreds of jobs, each of which is planned again and again.
DEEP = ("fcfs+plan", "fcfs+plan(depth=10)", "fcfs+conservative")


def machine(nodes: int = NODES) -> NodeCluster:
    """Ordinary nodes, one in ten with more memory, one in twenty with GPUs."""
    large, accelerated = nodes // 10, nodes // 20
    return NodeCluster(
        (
            NodeKind(expanded(f"n[1-{nodes - large - accelerated}]"), CORES, memory=192_000),
            NodeKind(expanded(f"m[1-{large}]"), CORES, memory=768_000, weight=5),
            NodeKind(
                expanded(f"g[1-{accelerated}]"), CORES, memory=384_000, gres={"gpu": 4}, weight=10
            ),
        ),
        name="a large machine",
    )


def year_of_jobs(
    jobs: int, nodes: int = NODES, load: float = 0.85, seconds: int = YEAR, seed: int = 0
) -> qs.Workload:
    """Half of the jobs share nodes, most others have whole ones, one in twenty wants GPUs.

    Runtimes are log-normal, users ask for up to ten times as much in round numbers, and as much
    work comes as is said: the share of the machine's core-seconds.
    """
    random = np.random.default_rng(seed)
    kind = random.random(jobs)
    shared, gpu = kind < 0.5, kind > 0.95
    whole = np.minimum(2 ** random.integers(0, 9, jobs), nodes // 4)
    asked = np.where(shared | gpu, 1, whole)
    cores = np.where(shared, 2 ** random.integers(0, 6, jobs), np.where(gpu, 12, CORES * asked))
    memory = np.where(shared, 2_000 * 2 ** random.integers(0, 3, jobs), 3_500)
    work = random.lognormal(8.0, 1.5, jobs)
    wanted = work * load * seconds * nodes * CORES / float((work * cores).sum())
    runtime = np.clip(wanted, 1, 7 * 86_400).astype(np.int64)
    extra: dict[str, Ints] = {
        "requested_nodes": asked,
        "most_nodes": asked,
        "memory_per_core": memory,
        "gpus_per_node": np.where(gpu, 1, 0),
        "tasks_per_node": cores // asked,
    }
    return qs.Workload(
        submit=np.sort(random.integers(0, seconds, jobs)),
        runtime=runtime,
        walltime=_asked_for(runtime, random),
        cores=cores,
        user=random.integers(0, 200, jobs),
        extra=extra,
        name=f"{jobs:,} jobs on {nodes:,} nodes",
    )


def _asked_for(runtime: Ints, random: np.random.Generator) -> Ints:
    """Return walltimes as users write them: quarters of an hour, hours, days."""
    wanted = runtime * random.uniform(1, 10, len(runtime))
    steps = np.array([900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 2 * 86_400, 2**40])
    rounded: Ints = steps[np.searchsorted(steps, wanted)]
    return rounded.clip(runtime, 7 * 86_400)


def show(log: qs.Workload, nodes: NodeCluster, policy: str) -> None:
    prepared = time.process_time()
    replay = Replay(log, nodes, policy)
    began = time.process_time()
    schedule = replay.run()
    seconds = time.process_time() - began
    pool = seconds_of(Replay(log, Cluster(nodes.cores), policy).run())
    rate, beside = len(log) / seconds, len(log) / pool
    print(
        f"{log.name:<32}{policy:<22}{rate:>10,.0f} jobs/s{seconds:>9.1f} s"
        f"{began - prepared:>8.1f} s to prepare   pool {beside:>10,.0f} jobs/s"
        f"   mean wait {schedule.wait.mean() / 60:,.1f} min"
    )


def main() -> None:
    small = year_of_jobs(20_000, 200, seconds=YEAR // 12)
    for policy in POLICIES:
        show(small, machine(200), policy)
    show(year_of_jobs(300_000), machine(), "fcfs+easy")
    burst = year_of_jobs(600, 200, load=2, seconds=3 * 86_400)
    for policy in DEEP:
        show(burst, machine(200), policy)

"""The order in which a policy wants the jobs that wait now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from queuesmith.base.errors import PolicyError
from queuesmith.cluster import Cluster
from queuesmith.engine.asked import asked_by
from queuesmith.engine.kernels.queue import queue_of
from queuesmith.engine.kernels.usage import new_usage
from queuesmith.engine.packing import Packed
from queuesmith.engine.scoring import compile_scorer, not_a_number, parameter_values
from queuesmith.engine.simulate import simulate
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import Runtime, away, moment_of_cores
from queuesmith.live.state import ClusterState
from queuesmith.planning.follow import OptimalPlanning
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solve import solve
from queuesmith.planning.steps import staircase
from queuesmith.policy import ORDERS, AnyPolicy, Policy
from queuesmith.policy.self_tuning import SelfTuning
from queuesmith.workload import Workload
from queuesmith.workload.groups import share_groups
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Ints

#: What a running Slurm tells of each job that groups may be by.
COLUMNS = ("account", "partition", "qos")


def wanted_order(
    state: ClusterState, policy: AnyPolicy, *, runtime: Runtime | None = None
) -> tuple[LiveJob, ...]:
    """Return the jobs that could start, in the order in which a policy wants them.

    An order is asked for its scores; Slurm's own backfill then lets others overtake. An optimal
    planner plans this moment. Whatever else a policy is, a rule base or a self-tuning one, it is
    replayed from this moment on, and its order is that of the starts.

    Parameters
    ----------
    state
        The cluster.
    policy
        The policy.
    runtime
        How long a waiting job will run, for policies that are replayed; by default its walltime.
    """
    _check_groups(policy)
    jobs = [job for job in state.waiting if job.ready]
    if not jobs:
        return ()
    if isinstance(policy, Policy):
        return tuple(jobs[i] for i in _by_score(jobs, state, policy, state.now))
    if isinstance(policy, OptimalPlanning):
        return _by_plan(jobs, state, policy)
    return _by_start(jobs, state, policy, runtime)


def order_to_come(
    state: ClusterState, policy: AnyPolicy
) -> Callable[[Sequence[LiveJob]], tuple[LiveJob, ...]]:
    """Return what puts jobs that may come among those that could start now, as a policy wants them.

    An order is asked for its scores at the moment at which all are there. An optimal planner plans
    those of now; a plan takes long, so where others come a fast planner stands in for it.
    """
    _check_groups(policy)
    jobs = tuple(job for job in state.waiting if job.ready)
    planned = wanted_order(state, policy) if isinstance(policy, OptimalPlanning) else ()

    def order(new: Sequence[LiveJob]) -> tuple[LiveJob, ...]:
        everyone = (*jobs, *new)
        if isinstance(policy, OptimalPlanning):
            together = replace(state, jobs=(*state.jobs, *new))
            return _by_start(everyone, together, _fast(policy), None) if new else planned
        if isinstance(policy, Policy):
            last = max(state.now, *(job.submit for job in everyone))
            return tuple(everyone[i] for i in _by_score(everyone, state, policy, last))
        return _by_start(everyone, replace(state, jobs=(*state.jobs, *new)), policy, None)

    return order


def _check_groups(policy: AnyPolicy) -> None:
    """Raise where a policy knows groups by something that a running Slurm does not tell."""
    if policy.groups is not None and policy.groups.column not in COLUMNS:
        raise PolicyError(
            f"policy '{policy}' was learned for groups by '{policy.groups.column}' "
            f"({policy.groups}), but of a running Slurm's jobs {', '.join(COLUMNS[:-1])} and "
            f"{COLUMNS[-1]} are known. Learn it with --groups {COLUMNS[0]}."
        )


def _fast(policy: OptimalPlanning) -> SelfTuning:
    """Return a planner that takes no time: of plans in three orders the best, by the objective."""
    metric = "mean_response" if policy.objective == "response" else policy.objective
    candidates = tuple(ORDERS[name] for name in ("fcfs", "sjf", "ljf"))
    return SelfTuning(candidates, metric, "simple", steps="all")


def _by_score(jobs: Sequence[LiveJob], state: ClusterState, policy: Policy, now: int) -> Ints:
    """Return the places of the jobs, the highest score at a moment first."""
    gone = away(state.machine, state.now)
    sizes = zip(state.machine.node_names, state.machine.places.cores.tolist(), strict=True)
    there = sum(cores for node, cores in sizes if node not in gone)
    cores = max(there, *(job.cores for job in jobs))
    cluster = Cluster(
        cores,
        state.cluster,
        partition_priority=state.machine.partition_priority,
        qos_priority=state.machine.qos_priority,
    )
    packed = Packed(_grouped(_units(jobs, state), state, policy), cluster)
    if policy.groups is not None:
        packed = packed.for_groups(policy.groups, policy)
    place_of = {job.id: place for place, job in enumerate(jobs)}
    place = np.array([place_of[number] for number in packed.workload.id.tolist()], np.int64)
    order = policy.order
    if order.fixed:
        return np.asarray(place[np.argsort(packed.rank_at(order, policy.keep, now), kind="stable")])
    asked = asked_by(packed.workload, [order])
    queue = queue_of(packed.jobs, np.arange(len(jobs)))._replace(asked=asked)
    usage = new_usage(int(packed.jobs.user.max()) + 2)
    free = max(there - sum(job.cores for job in state.running), 0)
    scorer = compile_scorer(order)
    bad = scorer(queue, usage, len(jobs), now, cores, free, parameter_values(order))
    if bad >= 0:
        raise not_a_number(order, packed.jobs, bad, now)
    return np.asarray(place[np.argsort(-queue.score, kind="stable")])


def _units(jobs: Sequence[LiveJob], state: ClusterState) -> Workload:
    """Return the jobs as a workload; all tasks of an array that wait together are one."""
    users, names = coded([job.user for job in jobs])
    texts = {name: coded([getattr(job, name) for job in jobs]) for name in COLUMNS}
    walltime = [job.walltime for job in jobs]
    return Workload(
        [job.submit for job in jobs],
        walltime,
        walltime,
        [job.cores for job in jobs],
        id=[job.id for job in jobs],
        user=users,
        extra={name: codes for name, (codes, _) in texts.items()},
        labels={"user": names, **{name: known for name, (_, known) in texts.items()}},
        name=state.cluster,
    )


def _grouped(workload: Workload, state: ClusterState, policy: AnyPolicy) -> Workload:
    """Return jobs in the groups that a policy knows: by their names, or by what users have consumed
    so far, where anybody counts that.
    """
    if policy.groups is not None:
        return policy.groups.grouped(workload)
    used = usage_by_user(state)
    if not sum(used.values()):
        return workload
    users = workload.labels["user"]
    names = sorted({*used, *users})
    groups = share_groups(np.arange(len(names)), np.array([used.get(n, 0.0) for n in names]))
    of_user = dict(zip(names, groups.tolist(), strict=True))
    known = [*(of_user[name] for name in users), max(of_user.values())]  # the last of nobody, -1
    return workload.replaced(group=np.array(known, np.int64)[workload.user])


def usage_by_user(state: ClusterState) -> dict[str, float]:
    """Return what sshare tells that each user has consumed, in its own unit."""
    if not state.shares:
        return {}
    header = [name.strip() for name in state.shares[0].split("|")]
    if not {"User", "RawUsage"} <= set(header):
        return {}
    user, usage = header.index("User"), header.index("RawUsage")
    found: dict[str, float] = {}
    for line in state.shares[1:]:
        values = [value.strip() for value in line.split("|")]
        if len(values) == len(header) and values[user] and values[usage].isdecimal():
            found[values[user]] = found.get(values[user], 0.0) + float(values[usage])
    return found


def _by_start(
    jobs: Sequence[LiveJob], state: ClusterState, policy: AnyPolicy, runtime: Runtime | None
) -> tuple[LiveJob, ...]:
    """Return the jobs as a replay from this moment on starts them."""
    moment = moment_of_cores(state, runtime=runtime)
    jobs_now = _grouped(moment.workload, state, policy)
    schedule = simulate(jobs_now, cores=moment.cores, policy=policy)
    return _sorted(jobs, zip(moment.waiting, schedule.start.tolist(), strict=True))


def _by_plan(
    jobs: Sequence[LiveJob], state: ClusterState, policy: OptimalPlanning
) -> tuple[LiveJob, ...]:
    """Return the jobs as the best plan of this moment starts them.

    A replay would plan again whenever a job ends; the next cycle does that, with what is true then.
    """
    moment = moment_of_cores(state)
    known, waits = moment.workload, moment.is_waiting
    ends = known.submit + known.walltime
    held = ~waits & (ends > state.now)
    time, free = staircase(state.now, moment.cores, ends[held], known.cores[held])
    step = Snapshot(state.now, known.select(waits), time, free, moment.cores)
    planned = solve(step, policy.objective, policy.seconds)
    waiting = [job for job in moment.waiting if job is not None]
    return _sorted(jobs, zip(waiting, planned.start.tolist(), strict=True))


def _sorted(
    jobs: Sequence[LiveJob], starts: Iterable[tuple[LiveJob | None, int]]
) -> tuple[LiveJob, ...]:
    """Return jobs by the first start of their tasks; those without one are last, as they stand."""
    first: dict[int, int] = {}
    for job, start in starts:
        if job is not None:
            first[job.id] = min(start, first.get(job.id, start))
    place = {job.id: i for i, job in enumerate(jobs)}
    last = max(first.values()) + 1
    return tuple(sorted(jobs, key=lambda job: (first.get(job.id, last), place[job.id])))

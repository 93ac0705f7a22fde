"""Plans: jobs placed in some order, each as early as it fits, as schedules of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import all_of_kind
from queuesmith.base.errors import PolicyError, ScheduleError
from queuesmith.base.registry import entry
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster
from queuesmith.planning.problem import PlanningProblem, placed
from queuesmith.planning.snapshot import Snapshot
from queuesmith.policy.order import USAGE_FIELDS, Order
from queuesmith.schedule import Schedule
from queuesmith.workload.workload import Ints


def fcfs(snapshot: Snapshot) -> NDArray[np.int64]:
    """First come, first served."""
    return np.arange(len(snapshot))


def sjf(snapshot: Snapshot) -> NDArray[np.int64]:
    """Shortest walltime first."""
    return np.argsort(snapshot.jobs.walltime, kind="stable")


def ljf(snapshot: Snapshot) -> NDArray[np.int64]:
    """Longest walltime first."""
    return np.argsort(-snapshot.jobs.walltime, kind="stable")


#: The policies of the paper (section 2): each an order in which jobs are placed.
POLICIES: Mapping[str, Callable[[Snapshot], NDArray[np.int64]]] = {
    each.__name__: each for each in (fcfs, sjf, ljf)
}


def plan(snapshot: Snapshot, order: str | Order | ArrayLike) -> Schedule:
    """Place the jobs of a snapshot in an order, each as early as it fits beside those before.

    Parameters
    ----------
    order
        ``fcfs``, ``sjf``, ``ljf``, any order, or the positions of all jobs in the order of their
        placing.
    """
    name = str(order) if isinstance(order, str | Order) else "order"
    problem = PlanningProblem.of(snapshot, "artww")
    return planned(snapshot, placed(problem, _positions(snapshot, order))[1], name)


def orders_of(snapshot: Snapshot, policies: Sequence[Order] | None = None) -> dict[str, Ints]:
    """Return in which order each policy places the jobs: by default FCFS, SJF and LJF."""
    if policies is None:
        return {name: order(snapshot) for name, order in POLICIES.items()}
    orders = all_of_kind("policies", policies, Order, "Give for example [ORDERS['fcfs']].")
    if not orders:
        raise PolicyError("there are no policies to plan by. Give at least one, or None for three.")
    return {str(order): sorted_by(snapshot, order) for order in orders}


def sorted_by(snapshot: Snapshot, order: Order) -> Ints:
    """Return the positions of the jobs as an order sorts them at the instant of the snapshot."""
    from queuesmith.engine.asked import asked_by, own_columns
    from queuesmith.engine.kernels.queue import queue_of
    from queuesmith.engine.kernels.usage import new_usage
    from queuesmith.engine.packing import Packed
    from queuesmith.engine.scoring import compile_scorer, fixed_scores, parameter_values

    unknown = order.reads & {*USAGE_FIELDS, "user_share"}
    if unknown:
        raise PolicyError(
            f"order '{order}' looks at {', '.join(sorted(unknown))}, but a planning step does not "
            "know what users have consumed. Choose another order."
        )
    jobs = Packed(snapshot.jobs, Cluster(snapshot.cores)).jobs
    asked, own = asked_by(snapshot.jobs, [order]), own_columns(snapshot.jobs, [order])
    if order.fixed:
        return np.argsort(-fixed_scores(order, jobs, asked, own), kind="stable")
    count, free = len(snapshot), int(snapshot.free[0])
    queue = queue_of(jobs, np.arange(count))._replace(asked=asked)
    values = parameter_values(order)
    scorer = compile_scorer(order, own)
    scorer(queue, new_usage(), count, snapshot.now, snapshot.cores, free, values)
    return np.argsort(-queue.score, kind="stable")


def planned(snapshot: Snapshot, start: Ints, policy: str, **further: Any) -> Schedule:
    """Return the schedule of starts in seconds from now, in which jobs take their walltimes."""
    begin = start + snapshot.now
    end = begin + snapshot.jobs.walltime
    return Schedule(snapshot.jobs, snapshot, begin, policy, own_end=end, **further)


def best_policy(snapshot: Snapshot, objective: str) -> Schedule:
    """Return the best plan of FCFS, SJF and LJF; the first of equals."""
    plans = [plan(snapshot, name) for name in POLICIES]
    return min(plans, key=lambda each: plan_value(each, objective))


def plan_value(schedule: Schedule, objective: str) -> float:
    """Return the value of an objective of plans: seconds count from the instant of the step."""
    snapshot = schedule.cluster
    if not isinstance(snapshot, Snapshot):
        raise ScheduleError(
            f"schedule '{schedule.policy}' is no plan of a snapshot, so it has no {objective} of "
            "plans. Ask for one of its metrics."
        )
    problem = PlanningProblem.of(snapshot, objective)
    return problem.value(problem.cost(schedule.start - snapshot.now))


def _positions(snapshot: Snapshot, order: str | Order | ArrayLike) -> Ints:
    if isinstance(order, Order):
        return sorted_by(snapshot, order)
    if isinstance(order, str):
        way_out = "give the positions of the jobs"
        return entry("policy", order, POLICIES, way_out=way_out, error=ScheduleError)(snapshot)
    positions = np.asarray(order)
    if not np.array_equal(np.sort(positions), np.arange(len(snapshot))):
        raise ScheduleError(
            f"an order of {so_many(len(snapshot), 'job')} must name each position from 0 to "
            f"{len(snapshot) - 1} once. Correct it."
        )
    return positions.astype(np.int64)

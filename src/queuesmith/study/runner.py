"""Many replays of one workload at once, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from queuesmith.base.checks import progress_function
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay, as_machine
from queuesmith.policy import AnyPolicy, as_policies
from queuesmith.schedule import Schedule
from queuesmith.schedule.reservations import Request
from queuesmith.study.engines import Engine
from queuesmith.study.pool import Pool
from queuesmith.study.spreading import spread
from queuesmith.workload import Workload


def simulate_many(
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    policies: Sequence[AnyPolicy | str] = ("fcfs+easy",),
    *,
    cores: int | None = None,
    strict: bool = False,
    reservations: Sequence[Request] = (),
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Schedule]:
    """Replay a workload under several policies; the schedules come in the order of the policies.

    Parameters
    ----------
    workload, cluster, cores, strict, reservations
        As for ``simulate``.
    policies
        The policies, or how they are written.
    workers
        How many replays run at the same time; by default one for each core of this computer.
    engine
        Other machines, or other processes, that replay instead of threads of this one.
    progress
        Is called with the share of the work done, 0 to 1, ten times a second; not on an engine.
    """
    machine = as_machine(workload, cluster, cores)
    policies = as_policies(policies)
    progress_function(progress)
    if engine is not None:
        asked = [(workload, machine, policy, strict, tuple(reservations)) for policy in policies]
        return spread(engine, _replayed, asked)
    packed = Packed(workload, machine, strict=strict)
    replays = [Replay(packed, machine, policy, reservations=reservations) for policy in policies]

    def watch(done: int) -> None:
        if progress is not None:
            progress(sum(replay.progress for replay in replays) / len(replays))

    def cancel() -> None:
        for replay in replays:
            replay.cancel()

    with Pool(workers, cancel=cancel) as pool:
        return pool.each(Replay.run, replays, watch=watch)


def _replayed(
    asked: tuple[Workload, Cluster | NodeCluster, AnyPolicy, bool, tuple[Request, ...]],
) -> Schedule:
    workload, machine, policy, strict, reservations = asked
    return Replay(workload, machine, policy, strict=strict, reservations=reservations).run()

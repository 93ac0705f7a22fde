"""Many replays of one workload at once, on all cores.

Kernels run without Python's lock, so threads are enough and the log is shared, not copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from queuesmith.base.errors import UsageError
from queuesmith.cluster import Cluster
from queuesmith.engine.packing import Packed
from queuesmith.engine.simulate import Replay, as_cluster
from queuesmith.policy import AnyPolicy
from queuesmith.schedule import Schedule
from queuesmith.schedule.reservations import Request
from queuesmith.workload import Workload

#: How often progress is reported while replays run, in seconds.
REPORT_EVERY = 0.1


def simulate_many(
    workload: Workload,
    cluster: Cluster | None = None,
    policies: Sequence[AnyPolicy | str] = ("fcfs+easy",),
    *,
    cores: int | None = None,
    strict: bool = False,
    reservations: Sequence[Request] = (),
    workers: int | None = None,
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
    progress
        Is called with the share of the work done, 0 to 1, every tenth of a second.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"workers is {workers}, but it must be at least 1. Give 1 or more.")
    cluster = as_cluster(workload, cluster, cores)
    packed = Packed(workload, cluster, strict=strict)
    replays = [Replay(packed, cluster, policy, reservations=reservations) for policy in policies]
    pool = ThreadPoolExecutor(max_workers=workers or os.cpu_count() or 1)
    try:
        running = [pool.submit(replay.run) for replay in replays]
        _watch(running, replays, progress)
        return [future.result() for future in running]
    except BaseException:
        # Also on Ctrl-C: let no thread go on computing what nobody waits for.
        for replay in replays:
            replay.cancel()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _watch(
    running: Sequence[Future[Schedule]],
    replays: Sequence[Replay],
    progress: Callable[[float], None] | None,
) -> None:
    pending = set(running)
    while pending:
        done, pending = wait(pending, timeout=REPORT_EVERY, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if progress is not None:
            progress(sum(replay.progress for replay in replays) / len(replays))

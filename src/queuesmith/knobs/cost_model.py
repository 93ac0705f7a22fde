"""What a sweep asks again and again: the costs of a setting on one log and one machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import CancelledError
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.cluster.maintenance import check_no_maintenance
from queuesmith.knobs.bags import Floats, TaskJobs, rigid
from queuesmith.knobs.greedy_knapsack import always, backfill_mode
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.kernels.replay import CANCEL, BagReplay, Bags, new_replay
from queuesmith.knobs.options import BagOptions
from queuesmith.schedule.measures import CLASSES
from queuesmith.study.engines import Engine
from queuesmith.study.pool import Pool
from queuesmith.study.spreading import spread
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints, checked_workload

Marks = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class CostModel:
    """Jobs, a machine and a way of scheduling, ready for replays under many settings.

    The log is packed once and shared by all threads; each thread has its own working space.

    Parameters
    ----------
    jobs
        The jobs; a plain workload is one of rigid jobs.
    cluster
        The machine.
    backfill
        ``none``, ``list`` or ``easy``.
    """

    jobs: TaskJobs
    cluster: Cluster
    backfill: str = BagOptions.backfill
    _packed: Bags = field(init=False, repr=False)
    _number: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        backfill_mode(self.backfill)
        packed = self.jobs.packed()
        number = np.bincount(packed.kind, minlength=len(CLASSES)).astype(np.int64)
        number.setflags(write=False)
        object.__setattr__(self, "_packed", packed)
        object.__setattr__(self, "_number", number)

    def __reduce__(self) -> tuple[type[CostModel], tuple[TaskJobs, Cluster, str]]:
        return CostModel, (self.jobs, self.cluster, self.backfill)  # packed anew where it arrives

    @classmethod
    def of(
        cls,
        jobs: TaskJobs | Workload,
        cluster: Cluster | None = None,
        *,
        cores: int | None = None,
        backfill: str = BagOptions.backfill,
    ) -> CostModel:
        """Return the model of a log on a machine; jobs that never fit are left out."""
        bags = jobs if isinstance(jobs, TaskJobs) else rigid(checked_workload(jobs))
        machine = check_no_maintenance(as_cluster(bags.workload, cluster, cores), "a sweep")
        return cls(bags.fitting(machine.cores), machine, backfill)

    def fingerprint(self) -> str:
        """Return what tells this model from any other, for taking up an interrupted sweep."""
        digest = hashlib.sha256(f"{self.cluster.cores} {self.backfill}".encode())
        for column in self._packed:
            digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    def new_replay(self) -> BagReplay:
        """Return the working space of one thread."""
        return new_replay(self._packed, self.cluster.cores)

    def costs(
        self,
        settings: Floats,
        *,
        workers: int | None = None,
        engine: Engine | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Floats:
        """Replay each setting and return one row of costs each, in the order of ``TERMS``."""
        if engine is not None:
            return self._costs_elsewhere(engine, settings)
        costs = np.empty((len(settings), runs.COSTS))
        parts = np.array_split(np.arange(len(settings)), min(max(len(settings), 1), 64))

        def replay_part(replay: BagReplay, part: int) -> None:
            rows = parts[part]
            if not len(rows):
                return
            first, last = int(rows[0]), int(rows[-1]) + 1
            runs.run_settings(
                replay,
                always(),
                np.ascontiguousarray(settings[first:last]),
                self.cluster.cores,
                backfill_mode(self.backfill),
                self._number,
                costs[first:last],
            )

        self.in_threads(replay_part, len(parts), workers=workers, progress=progress)
        return costs

    def _costs_elsewhere(self, engine: Engine, settings: Floats) -> Floats:
        """Let each worker of an engine replay some of the settings."""
        engine.ready()
        parts = np.array_split(settings, min(max(engine.workers, 1), max(len(settings), 1)))
        return np.concatenate(spread(engine, _costs_of, [(self, part) for part in parts]))

    def run_lines(
        self,
        replay: BagReplay,
        settings: Floats,
        doubt: float,
        costs: Floats,
        origin: Marks,
        clear: Marks,
    ) -> None:
        """Replay the settings of some lines, none twice where that can be proven."""
        runs.run_lines(
            replay,
            always(),
            settings,
            self.cluster.cores,
            backfill_mode(self.backfill),
            doubt,
            self._number,
            costs,
            origin,
            clear,
        )

    def in_threads(
        self,
        task: Callable[[BagReplay, int], None],
        parts: int,
        *,
        workers: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Do the parts of some work on all cores; on Ctrl-C no thread goes on computing."""
        own = threading.local()
        replays: list[BagReplay] = []
        stopped = threading.Event()

        def one(part: int) -> None:
            if stopped.is_set():
                raise CancelledError("the sweep was cancelled.")
            if not hasattr(own, "replay"):
                own.replay = self.new_replay()
                replays.append(own.replay)
            task(own.replay, part)

        def cancel() -> None:
            stopped.set()
            for replay in replays:
                replay.counters[CANCEL] = 1

        def watch(done: int) -> None:
            if progress is not None:
                progress(done / parts)

        with Pool(workers, cancel=cancel) as pool:
            pool.each(one, range(parts), watch=watch)


def _costs_of(asked: tuple[CostModel, Floats]) -> Floats:
    model, settings = asked
    return model.costs(settings, workers=1)

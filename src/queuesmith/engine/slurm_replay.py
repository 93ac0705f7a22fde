"""A replay under Slurm, on a machine of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PolicyError, WorkloadError
from queuesmith.cluster import NodeCluster
from queuesmith.compiled import load
from queuesmith.engine.kernels.slurm_replay import run_slurm, run_slurm_preempting
from queuesmith.engine.kernels.slurm_state import (
    CORES,
    FIRST_PIECE,
    NO_ROOM,
    PIECE_CORES,
    PIECE_NODE,
    RUNTIME,
    STUCK,
)
from queuesmith.engine.packing import Packed
from queuesmith.engine.slurm_nodes import by_name
from queuesmith.engine.slurm_packing import LOST_RUNS_PER_JOB, slurm_replay
from queuesmith.engine.slurm_preempting import cut_at, lost_runs
from queuesmith.policy.slurm import Slurm
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.reservations import RequestAnswer


class SlurmRun:
    """The state of such a replay, and how it is run."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: Slurm) -> None:
        machine = packed.cluster
        if not isinstance(machine, NodeCluster):
            raise PolicyError(
                f"policy '{policy}' places jobs on nodes, but '{machine.name}' is only a number of "
                "cores. Use queuesmith fidelity --machine, or give simulate() a machine_from(...)."
            )
        self._machine, self._workload = machine, packed.workload
        self._settings = policy.settings(machine.settings)
        self._replay = slurm_replay(packed.workload, machine, self._settings)
        self._entry = run_slurm if self._replay.preemption is None else run_slurm_preempting
        load(self._entry)

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        self._entry(self._replay)
        room = LOST_RUNS_PER_JOB
        while self.counters[NO_ROOM]:  # more jobs were stopped more often than it could note
            room *= 4
            self._replay = slurm_replay(self._workload, self._machine, self._settings, room)
            self._entry(self._replay)
        start: NDArray[np.int64] = self._replay.start
        if self.counters[STUCK]:
            job = int(np.argmax(start < 0))
            name = self._workload.label("id", int(self._workload.id[job]))
            raise WorkloadError(
                f"job {name} can never start on machine '{self._machine.name}': a limit or an "
                "outage without an end keeps it waiting. Correct the machine, or leave it out."
            )
        return start

    @property
    def pieces(self) -> Pieces:
        """The parts of jobs on nodes, with the cores that they asked for; also of runs cut short.

        What a job holds beyond that, for it has its nodes for itself or its cores have threads,
        is not counted as its own.
        """
        replay, count, lost = self._replay, self._replay.pieces.count, lost_runs(self._replay)
        last = np.arange(len(count))
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        at = replay.jobs[FIRST_PIECE].repeat(count) + place
        job = np.concatenate([last, lost.job])
        begin, end = (
            np.concatenate(both) for both in ((replay.start, lost.begin), (self._end, lost.end))
        )
        count = np.concatenate([count, lost.pieces])
        held = np.concatenate([replay.pieces.of_piece[at, PIECE_CORES], lost.cores])
        node = np.concatenate([replay.pieces.of_piece[at, PIECE_NODE], lost.node])
        run = np.repeat(np.arange(len(job)), count)
        cores = _asked(run, held, count, replay.jobs[CORES][job])
        return Pieces(job[run], begin[run], end[run], cores, by_name(self._machine)[node])

    @property
    def own_end(self) -> NDArray[np.int64] | None:
        """When each job ended, where some were cancelled for others before their end."""
        return None if cut_at(self._replay) is None else self._end

    @property
    def _end(self) -> NDArray[np.int64]:
        replay, cut = self._replay, cut_at(self._replay)
        end: NDArray[np.int64] = replay.start + replay.jobs[RUNTIME]
        return end if cut is None else np.minimum(end, cut)


def _asked(
    run: NDArray[np.int64],
    held: NDArray[np.int64],
    count: NDArray[np.int64],
    cores: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the cores of each piece without those that a run holds but its job did not ask for."""
    asked = held.copy()
    over = np.bincount(run, held, len(count)).astype(np.int64) - cores
    first = np.cumsum(count) - count
    for each in np.flatnonzero(over > 0):
        for piece in range(first[each] + count[each] - 1, first[each] - 1, -1):
            less = min(int(asked[piece]) - 1, int(over[each]))
            asked[piece] -= less
            over[each] -= less
    return asked

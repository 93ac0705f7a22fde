"""A replay under Slurm, on a machine of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PolicyError, WorkloadError
from queuesmith.cluster import NodeCluster
from queuesmith.compiled import load
from queuesmith.engine.kernels.slurm_replay import run_slurm
from queuesmith.engine.kernels.slurm_state import (
    CORES,
    FIRST_PIECE,
    PIECE_CORES,
    PIECE_NODE,
    RUNTIME,
    STUCK,
)
from queuesmith.engine.packing import Packed
from queuesmith.engine.slurm_nodes import by_name
from queuesmith.engine.slurm_packing import slurm_replay
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
        load(run_slurm)
        self._replay = slurm_replay(packed.workload, machine, policy.settings(machine.settings))

    @property
    def counters(self) -> NDArray[np.int64]:
        """The counters of the kernel."""
        return self._replay.counters  # type: ignore[no-any-return]

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        run_slurm(self._replay)
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
        """The parts of jobs on nodes, with the cores that they asked for.

        What a job holds beyond that, for it has its nodes for itself or its cores have threads,
        is not counted as its own.
        """
        replay, count = self._replay, self._replay.pieces.count
        job = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(job)) - np.repeat(np.cumsum(count) - count, count)
        at = replay.jobs[FIRST_PIECE][job] + place
        start = replay.start[job]
        return Pieces(
            job,
            start,
            start + replay.jobs[RUNTIME][job],
            _asked(job, replay.pieces.of_piece[at, PIECE_CORES], count, replay.jobs[CORES]),
            by_name(self._machine)[replay.pieces.of_piece[at, PIECE_NODE]],
        )


def _asked(
    job: NDArray[np.int64],
    held: NDArray[np.int64],
    count: NDArray[np.int64],
    cores: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the cores of each piece without those that a job holds but did not ask for."""
    asked = held.copy()
    over = np.bincount(job, held, len(count)).astype(np.int64) - cores
    first = np.cumsum(count) - count
    for each in np.flatnonzero(over > 0):
        for piece in range(first[each] + count[each] - 1, first[each] - 1, -1):
            less = min(int(asked[piece]) - 1, int(over[each]))
            asked[piece] -= less
            over[each] -= less
    return asked

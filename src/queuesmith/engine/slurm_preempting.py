"""Who may stop whom, as the kernels of Slurm take it, and the runs that were cut short."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.preemption import CANCEL, REQUEUE, PreemptionRules, preemption_rules
from queuesmith.cluster.requests import JobRequests
from queuesmith.engine.kernels.constants import NEVER
from queuesmith.engine.kernels.slurm_state import (
    ALONE,
    CUT_AT,
    ENDED_FOR_GOOD,
    LOST_BEGIN,
    LOST_COUNT,
    LOST_END,
    LOST_JOB,
    LOST_PIECES,
    LOST_RUNS,
    OVERLAP,
    REQUEUED,
    STANDS_BEFORE,
    STOPS,
    Preemption,
    SlurmReplay,
)
from queuesmith.engine.slurm_worth import frozen
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.workload.workload import Ints

_MODES = {REQUEUE: REQUEUED, CANCEL: ENDED_FOR_GOOD}


def rules_of(
    machine: NodeCluster, requests: JobRequests, settings: SlurmSettings
) -> PreemptionRules | None:
    """Return who may stop whom under a policy; None where nobody can."""
    exempt = int(settings["PreemptExemptTime"])
    return preemption_rules(machine, requests, settings.words, exempt)


def preemption(rules: PreemptionRules, room: int, room_for_pieces: int) -> Preemption:
    """Return rules as the kernels take them, with room for so many runs that are cut short."""
    jobs = len(rules.group)
    never = np.full(jobs, NEVER)
    modes = np.array([_MODES.get(mode, ALONE) for mode in rules.mode], np.int64)
    of_job = [modes, rules.rank[rules.group], rules.exempt, rules.grace, never, never]
    return Preemption(
        rights=frozen(STANDS_BEFORE * rules.before.astype(np.int64) + STOPS * rules.stops),
        of_job=np.array(of_job, np.int64),
        candidates=np.zeros((OVERLAP + 1, jobs), np.int64),
        present=np.zeros(len(rules.stops), np.bool_),
        lost=np.zeros((room, LOST_COUNT + 1), np.int64),
        lost_pieces=np.zeros((room_for_pieces, 2), np.int64),
    )


def cut_at(replay: SlurmReplay) -> Ints | None:
    """Return when jobs were cancelled for others, NEVER where they were not; None: nobody was."""
    if replay.preemption is None or (replay.preemption.of_job[CUT_AT] == NEVER).all():
        return None
    cut: Ints = replay.preemption.of_job[CUT_AT]
    return cut


class LostRuns(NamedTuple):
    """The runs that were cut short: whose, from when to when; nodes and cores of their pieces."""

    job: Ints
    begin: Ints
    end: Ints
    pieces: Ints  # how many each has
    node: Ints
    cores: Ints


def lost_runs(replay: SlurmReplay) -> LostRuns:
    """Return the runs of a replay that were cut short so that others could start."""
    if replay.preemption is None:
        return LostRuns(*[np.empty(0, np.int64)] * len(LostRuns._fields))
    runs = replay.preemption.lost[: replay.counters[LOST_RUNS]]
    pieces = replay.preemption.lost_pieces[: replay.counters[LOST_PIECES]]
    columns = (LOST_JOB, LOST_BEGIN, LOST_END, LOST_COUNT)
    return LostRuns(*(runs[:, column] for column in columns), *pieces.T)

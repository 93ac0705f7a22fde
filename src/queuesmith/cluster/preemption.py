"""Who may preempt whom: which jobs are stopped so that others can start, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from queuesmith.base.errors import ClusterError
from queuesmith.base.registry import no_such
from queuesmith.cluster.features import Mask
from queuesmith.cluster.limits import QualityOfService
from queuesmith.cluster.node_arrays import node_arrays
from queuesmith.cluster.nodes import Partition
from queuesmith.cluster.requests import JobRequests
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

#: What becomes of a job that is preempted.
OFF, REQUEUE, CANCEL, SUSPEND = "OFF", "REQUEUE", "CANCEL", "SUSPEND"
#: The same with what may stand beside it; CLUSTER: as the cluster has it.
_MODES = (OFF, REQUEUE, CANCEL, SUSPEND)
MODE_WORDS = (*_MODES, "GANG", "WITHIN", "PRIORITY", "CLUSTER")
NONE, BY_PARTITION, BY_QOS = "preempt/none", "preempt/partition_prio", "preempt/qos"
TYPES = (NONE, BY_PARTITION, BY_QOS)


@dataclass(frozen=True, eq=False)
class PreemptionRules:
    """Which jobs may stop which others, and what becomes of those.

    Jobs are told apart by their QOS or by their partition, whichever decides here: their group.

    Parameters
    ----------
    group
        The group of each job.
    before
        By group and group: whether jobs of the one stand before those of the other in the queue,
        whatever their priorities.
    stops
        By group and group: whether jobs of the one may stop those of the other.
    rank
        By group: those of the least are stopped first.
    mode
        By job: ``REQUEUE`` or ``CANCEL``, and anything else where it is left alone.
    exempt, grace
        By job: for how many seconds it is left alone after it began, and how many it has left when
        it is to be stopped.
    """

    group: Ints
    before: Mask
    stops: Mask
    rank: Ints
    mode: tuple[str, ...]
    exempt: Ints
    grace: Ints


def preemption_rules(
    machine: NodeCluster, requests: JobRequests, settings: Mapping[str, str], exempt: int
) -> PreemptionRules | None:
    """Return who may stop whom on a machine; None where nobody can.

    Parameters
    ----------
    machine, requests
        The machine, and what jobs ask it for.
    settings
        Slurm's ``PreemptType``, ``PreemptMode`` and ``JobRequeue``.
    exempt
        The seconds after its begin in which a job is left alone, where its QOS does not say.
    """
    if not preempts(settings):
        return None
    by_qos = settings["PreemptType"].lower() == BY_QOS
    cluster_mode = mode_of(settings["PreemptMode"])
    owners: Sequence[QualityOfService | Partition] = machine.qos if by_qos else machine.partitions
    group = requests.qos if by_qos else requests.partition
    modes = [_requeued_or_not(_mode(each, cluster_mode), settings) for each in owners]
    before = _qos_before(machine) if by_qos else _partitions_before(machine)
    stops = before & np.array([mode in (REQUEUE, CANCEL) for mode in modes], np.bool_)
    if not (before if by_qos else stops).any():
        return None
    own = [qos.preempt_exempt_time for qos in machine.qos]
    exempts = np.array([*(exempt if each is None else each for each in own), exempt], np.int64)
    # The last is the group of jobs without a QOS, who stop nobody and are not stopped.
    grace = np.array([*(each.grace_time for each in owners), 0], np.int64)
    ranks = [q.priority for q in machine.qos] if by_qos else [p.tier for p in machine.partitions]
    last = len(owners)
    return PreemptionRules(
        group=np.where(group < 0, last, group),
        before=np.pad(before, (0, 1)),
        stops=np.pad(stops, (0, 1)),
        rank=np.array([*ranks, 0], np.int64),
        mode=tuple([*modes, OFF][number] for number in group.tolist()),
        exempt=exempts[requests.qos],
        grace=grace[group],
    )


def preempts(settings: Mapping[str, str]) -> bool:
    """Tell whether jobs can be stopped for others, as far as ``PreemptType`` and its mode tell."""
    kind, mode = (settings.get(name, "") for name in ("PreemptType", "PreemptMode"))
    return kind.lower() in (BY_QOS, BY_PARTITION) and mode_of(mode) != OFF


def mode_of(text: str) -> str:
    """Return what becomes of jobs that are preempted, of what ``PreemptMode`` says."""
    words = mode_words(text)
    return next((mode for mode in _MODES if mode in words), OFF)


def mode_words(text: str) -> list[str]:
    """Return the words of a ``PreemptMode``, in capitals."""
    return [word.strip().upper() for word in text.split(",") if word.strip()]


def _mode(owner: QualityOfService | Partition, cluster_mode: str) -> str:
    stated = owner.preempt_mode
    if stated is None or "CLUSTER" in mode_words(stated):
        return cluster_mode
    return mode_of(stated)


def _requeued_or_not(mode: str, settings: Mapping[str, str]) -> str:
    """A job that may not be requeued is cancelled instead."""
    return CANCEL if mode == REQUEUE and settings["JobRequeue"] == "0" else mode


def _qos_before(machine: NodeCluster) -> Mask:
    return np.array(
        [[other.name in each.preempts for other in machine.qos] for each in machine.qos],
        np.bool_,
    ).reshape(len(machine.qos), len(machine.qos))


def _partitions_before(machine: NodeCluster) -> Mask:
    """A partition of a higher tier stands before others, of which those matter that share nodes."""
    tier = np.array([partition.tier for partition in machine.partitions])
    nodes = node_arrays(machine).partitions.astype(np.int64)
    return np.asarray((tier[:, None] > tier) & (nodes @ nodes.T > 0), np.bool_)


def check_modes(owners: Iterable[QualityOfService | Partition], what: str) -> None:
    """Refuse a ``PreemptMode`` that Slurm does not know."""
    for owner in owners:
        for word in mode_words(owner.preempt_mode or ""):
            if word not in MODE_WORDS:
                sentence = no_such("PreemptMode", word, list(MODE_WORDS))
                raise ClusterError(f"in {what} '{owner.name}', {sentence}")


def check_preemption(qos: Iterable[QualityOfService]) -> None:
    """Refuse QOS that preempt one that there is not, or each other in a circle, as Slurm does."""
    preempts = {each.name: each.preempts for each in qos}
    for name, others in preempts.items():
        absent = next((other for other in others if other not in preempts), None)
        if absent is not None:
            sentence = no_such("QOS", absent, list(preempts))
            raise ClusterError(f"in Preempt of QOS '{name}', {sentence}")
    for name in preempts:
        circle = _circle([name], preempts)
        if circle:
            raise ClusterError(
                f"QOS '{name}' preempts itself: {' > '.join(circle)}. Take one of them out of a "
                "Preempt list."
            )


def _circle(path: list[str], preempts: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the way on which a QOS preempts itself, empty where there is none."""
    for other in preempts[path[-1]]:
        if other == path[0]:
            return [*path, other]
        found = [] if other in path else _circle([*path, other], preempts)
        if found:
            return found
    return []

"""What a machine's configuration asks of Slurm that a replay under ``slurm(...)`` does not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from queuesmith.base.words import so_many
from queuesmith.cluster.licenses import licenses_or_none, machine_licenses
from queuesmith.cluster.limits import AMOUNTS_OF_LIMITS, Limits
from queuesmith.cluster.node_arrays import reservations
from queuesmith.cluster.preemption import SUSPEND, TYPES, mode_words, preempts
from queuesmith.workload import Workload
from queuesmith.workload.preempted import PREEMPTED
from queuesmith.workload.requests import label_texts

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

#: Settings that matter where they are not one of these values.
_OFF = {
    "PreemptType": TYPES,
    "PrioritySiteFactorPlugin": ("", "none", "(null)"),
    "PriorityUsageResetPeriod": ("none",),
    "PriorityWeightAssoc": ("0",),
    "SuspendTime": ("none", "infinite", "-1", "0"),
    "TopologyPlugin": ("topology/none", "topology/default", "topology/flat", "topology/tree"),
}
_SCHEDULER_WORDS = (
    *("assoc_limit_stop", "bf_busy_nodes", "bf_hetjob_prio", "bf_job_part_count_reserve"),
    *("bf_ignore_newly_avail_nodes", "bf_licenses", "bf_max_job_assoc", "bf_max_job_array_resv"),
    *("bf_max_job_user_part", "bf_max_time", "bf_min_age_reserve", "bf_min_prio_reserve"),
    *("bf_one_resv_per_job", "bf_running_job_reserve", "bf_yield_interval", "defer"),
    *("defer_batch", "max_switch_wait", "nohold_on_prolog_fail", "pack_serial_at_end"),
    *("partition_job_depth", "sched_max_job_start", "whole_hetjob"),
)
_PREEMPT_WORDS = ("min_exempt_priority", "reclaim_licenses")
_PRIORITY_FLAGS = ("ACCRUE_ALWAYS", "CALCULATE_RUNNING", "INCR_ONLY")
_QOS_FLAGS = ("NoReserve", "OverPartQOS", "RequiresReservation", "UsageFactorSafe")
_USED_SO_FAR = ("core_minutes", "running_core_minutes", "minutes")


def not_followed(machine: NodeCluster, workload: Workload | None = None) -> tuple[str, ...]:
    """Return what a machine is set up for and a replay leaves out, each as a few words.

    Parameters
    ----------
    machine
        The machine.
    workload
        Jobs; what they ask for and the machine does not have is named, too.
    """
    found = [*_settings(machine), *_partitions(machine), *_qos(machine), *_limits(machine)]
    if workload is not None:
        found += _jobs(machine, workload)
    return tuple(dict.fromkeys(found))


def _jobs(machine: NodeCluster, workload: Workload) -> Iterator[str]:
    known, has = reservations(machine), machine_licenses(machine)
    for name, count in Counter(_texts(workload, "reservation")).items():
        if name not in known:
            yield f"reservation {name} of {so_many(count, 'job')}, which the machine has not"
    absent: Counter[str] = Counter()
    for text in _texts(workload, "licenses"):
        names = licenses_or_none(text)
        absent.update([text] if names is None else [name for name in names if name not in has])
    for name, count in absent.items():
        yield f"license {name} of {so_many(count, 'job')}, which the machine has not"
    waiting = len(_texts(workload, "dependency"))
    if waiting and "eligible_after" not in workload.extra:
        yield f"--dependency of {so_many(waiting, 'job')}"
    preempted = _texts(workload, "state").count(PREEMPTED)
    if preempted and preempts(machine.settings):
        yield f"how long {so_many(preempted, 'job')} would have run that others ended"
    elif preempted:
        yield f"preemption of {so_many(preempted, 'job')}"


def _texts(workload: Workload, column: str) -> list[str]:
    """Return what a column says, of the jobs of which it says anything."""
    codes = workload.extra.get(column)
    if codes is None:
        return []
    return [text for text in label_texts(codes, workload.labels.get(column, ())) if text]


def _settings(machine: NodeCluster) -> Iterator[str]:
    yield from _preemption(machine)
    for name, plain in _OFF.items():
        value = machine.settings.get(name, plain[0])
        if value.lower() not in plain:
            yield f"{name}={value}"
    stated = machine.settings.get("SchedulerParameters", "").split(",")
    names = {part.partition("=")[0].strip().lower() for part in stated}
    yield from (f"SchedulerParameters={word}" for word in _SCHEDULER_WORDS if word in names)
    flags = machine.settings.get("PriorityFlags", "").upper().split(",")
    yield from (f"PriorityFlags={flag}" for flag in _PRIORITY_FLAGS if flag in flags)


def _preemption(machine: NodeCluster) -> Iterator[str]:
    """Say where jobs are suspended for others, or preempted by priority within their QOS."""
    owners = [("", machine.settings.get("PreemptMode", ""))]
    owners += [(f" of partition {p.name}", p.preempt_mode or "") for p in machine.partitions]
    owners += [(f" of QOS {qos.name}", qos.preempt_mode or "") for qos in machine.qos]
    for owner, text in owners:
        words = mode_words(text)
        if "GANG" in words:
            yield f"PreemptMode={text}{owner}, jobs that take turns on a node"
        elif SUSPEND in words:
            yield f"PreemptMode={text}{owner}, jobs that are suspended for others"
        if "WITHIN" in words or "PRIORITY" in words:
            yield f"PreemptMode={text}{owner}, jobs that stop others of their own QOS"
    parts = machine.settings.get("PreemptParameters", "").split(",")
    names = {part.partition("=")[0].strip().lower() for part in parts}
    yield from (f"PreemptParameters={word}" for word in _PREEMPT_WORDS if word in names)


def _partitions(machine: NodeCluster) -> Iterator[str]:
    for partition in machine.partitions:
        if partition.oversubscribe > 1:
            yield f"OverSubscribe of partition {partition.name}"
        if partition.max_cores_per_node is not None:
            yield f"MaxCPUsPerNode of partition {partition.name}"


def _qos(machine: NodeCluster) -> Iterator[str]:
    for qos in machine.qos:
        flags = {flag.lower() for flag in qos.flags}
        yield from (f"{flag} of QOS {qos.name}" for flag in _QOS_FLAGS if flag.lower() in flags)


def _limits(machine: NodeCluster) -> Iterator[str]:
    if not machine.enforces_limits:
        return
    owners = [(f"QOS {qos.name}", qos.limits) for qos in machine.qos]
    owners += [(f"account {link.account}", link.limits) for link in machine.associations]
    for owner, limits in owners:
        if _counts_what_was_used(limits):
            yield f"limits of {owner} on what was used so far"


def _counts_what_was_used(limits: Limits) -> bool:
    amounts = [getattr(limits, name) for name in AMOUNTS_OF_LIMITS]
    return any(getattr(each, what) is not None for each in amounts for what in _USED_SO_FAR)

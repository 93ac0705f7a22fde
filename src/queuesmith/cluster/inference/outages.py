"""The outages behind a log: gaps in which nothing ran although jobs waited."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.words import so_many
from queuesmith.cluster.hostlist import folded
from queuesmith.cluster.inference.history import JobHistory, NodePieces
from queuesmith.cluster.levels import Levels
from queuesmith.cluster.outages import Outage

#: A gap in which nothing ran is an outage from this length on, where jobs waited meanwhile.
MACHINE_GAP, NODE_GAP = 3600, 86_400


def outages_of(seen: JobHistory, inferred: dict[str, str]) -> tuple[Outage, ...]:
    """Return when the whole machine, or single nodes, ran nothing although jobs waited."""
    epoch = seen.workload.epoch or 0
    found = _machine_gaps(seen, epoch)
    if found:
        inferred["outages"] = (
            f"{so_many(len(found), 'time')} nothing ran for an hour and more while jobs waited"
        )
    if seen.pieces is not None:
        on_nodes = _node_gaps(seen, seen.pieces, epoch, found)
        if on_nodes:
            inferred["outages of nodes"] = (
                f"{so_many(len(on_nodes), 'time')} nodes had no job for a day and more while jobs "
                "that fit on one node waited for their partition"
            )
        found += on_nodes
    return tuple(found)


def _machine_gaps(seen: JobHistory, epoch: int) -> list[Outage]:
    one_line = np.zeros(len(seen.workload), np.int64)
    found = seen.by(one_line, seen.workload.cores)
    return [
        Outage(begin=epoch + begin, end=epoch + end, reason="nothing ran")
        for begin, end in _gaps(found, MACHINE_GAP, lambda waited, length: waited >= length / 2)
    ]


def _gaps(found: Levels, least: int, believed: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Return the times between the first job and the last during which nothing was held."""
    gaps: list[tuple[int, int]] = []
    began, waited = None, 0
    first = True
    for time, lasts, held, waiting in zip(*found[1:], strict=True):
        if held > 0 and began is not None:
            if not first and time - began >= least and believed(waited, int(time - began)):
                gaps.append((began, int(time)))
            began, waited = None, 0
        if held > 0:
            first = False
        else:
            began = int(time) if began is None else began
            waited += int(lasts) if waiting > 0 else 0
    return gaps


def _node_gaps(
    seen: JobHistory, parts: NodePieces, epoch: int, machine_gaps: list[Outage]
) -> list[Outage]:
    """Return when single nodes had no job for long although jobs of their partition waited."""
    narrow = (seen.numbers("nodes") == 1) & seen.ran
    waits = {
        name: _waiting_time(seen, narrow & (seen.partition == name))
        for name in dict.fromkeys(seen.partition)
    }
    order = np.lexsort((seen.start[parts.job], parts.node))
    away: dict[tuple[int, int], list[str]] = {}
    for node, own in enumerate(np.split(order, np.cumsum(np.bincount(parts.node))[:-1])):
        start, end = seen.start[parts.job[own]], seen.end[parts.job[own]]
        busy_until = np.maximum.accumulate(end)
        homes = set(seen.partition[parts.job[own]])
        for i in np.flatnonzero(start[1:] - busy_until[:-1] >= NODE_GAP):
            gap = (int(busy_until[i]), int(start[i + 1]))
            if any(waits[name](*gap) >= (gap[1] - gap[0]) / 2 for name in homes):
                away.setdefault(gap, []).append(parts.names[node])
    whole = {(o.begin, o.end) for o in machine_gaps}
    return [
        Outage(tuple(nodes), epoch + begin, epoch + end, f"no job on {folded(nodes)}")
        for (begin, end), nodes in sorted(away.items())
        if (epoch + begin, epoch + end) not in whole
    ]


def _waiting_time(seen: JobHistory, jobs: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """Return a function that tells for how long of a span some of these jobs waited."""
    line = np.where(jobs, 0, -1)
    found = seen.by(line, np.ones(len(line), np.int64))
    if not len(found.time):
        return lambda begin, end: 0
    spent = np.concatenate([[0], np.cumsum(np.where(found.waiting > 0, found.lasts, 0))])

    def until(moment: int) -> int:
        i = int(np.searchsorted(found.time, moment, side="right")) - 1
        if i < 0:
            return 0
        inside = min(moment - int(found.time[i]), int(found.lasts[i]))
        return int(spent[i]) + (inside if found.waiting[i] > 0 else 0)

    return lambda begin, end: until(end) - until(begin)

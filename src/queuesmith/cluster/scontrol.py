"""A running cluster as ``scontrol show`` tells it: nodes, partitions, settings, reservations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from queuesmith.base.errors import ClusterError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes
from queuesmith.cluster.hostlist import expanded, folded
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind
from queuesmith.cluster.outages import Outage
from queuesmith.cluster.slurm_fields import (
    Fields,
    SlurmReading,
    joined,
    node_kind,
    outage_of,
    partition,
    states,
    strange_words,
)
from queuesmith.cluster.slurm_words import scheduling_word
from queuesmith.workload.slurm_text import date_parser, zone_of

#: When the controller began, as ``scontrol show config`` tells it.
BOOT_TIME = "BOOT_TIME"
_WORD = re.compile(r"(?:^|\s)([A-Z]\w*)=")
_CONFIG = re.compile(r"(\w+)\s+= ?(.*)")
_BEGIN = re.compile(r"\s*(NodeName|PartitionName|ReservationName)=")


@dataclass
class _Reading(SlurmReading):
    """What has been read so far."""

    reservations: list[Fields] = field(default_factory=list)


def machine_of_scontrol(*paths: AnyPath, timezone: str = "UTC") -> NodeCluster:
    """Read what ``scontrol show`` prints, with or without ``-o``, in one file or several.

    Nodes that are down or drained, and reservations, become outages.

    Parameters
    ----------
    paths
        The output of ``scontrol show nodes``, ``partitions``, ``config``, ``reservations``.
    timezone
        The zone of the cluster's clock, for the dates of reservations.
    """
    reading = _read(*paths)
    if not reading.nodes:
        raise ClusterError(f"'{paths[0]}' shows no node. Add the output of scontrol show nodes.")
    return _machine(reading, timezone)


def with_running(machine: NodeCluster, *paths: AnyPath, timezone: str = "UTC") -> NodeCluster:
    """Return a machine with what ``scontrol show`` tells of it that its slurm.conf cannot.

    These are nodes that are away, reservations, and when the controller began.
    """
    reading = _read(*paths)
    seen = [
        each
        for each in (*_away(reading), *_reservations(reading, timezone))
        if all(node in machine.node_index for node in each.nodes)
    ]
    return replace(
        machine,
        outages=(*machine.outages, *seen),
        settings={**machine.settings, **_began(reading, timezone)},
    )


def _read(*paths: AnyPath) -> _Reading:
    reading = _Reading()
    for path in paths:
        text = decoded(check_text(read_bytes(path), path, "scontrol's output"))
        _read_text(reading, text, str(path))
    return reading


def shows_a_cluster(text: str) -> bool:
    """Tell whether a text is what scontrol shows and not a configuration file."""
    return re.search(r"\b(CPUTot|TotalNodes|CPUAlloc)=", text) is not None


def _read_text(reading: _Reading, text: str, path: str) -> None:
    where = {
        "nodename": reading.nodes,
        "partitionname": reading.partitions,
        "reservationname": reading.reservations,
    }
    for number, block in _blocks(text):
        if _BEGIN.match(block):
            values, spelling = _values(block)
            fields = Fields(values, f"line {number} of '{path}'")
            where[next(iter(values))].append(fields)
            if "reservationname" not in values:
                reading.strange += strange_words(fields, spelling)
        elif (match := _CONFIG.fullmatch(block.strip())) is not None:
            _note_setting(reading, match[1], match[2].strip())


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield each node, partition or reservation as one line, and each line of a configuration."""
    kept, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if kept and line.startswith((" ", "\t")) and not _BEGIN.match(line):
            kept += line
            continue
        if kept:
            yield first, kept
        kept, first = (line, number) if _BEGIN.match(line) else ("", 0)
        if not kept and line.strip():
            yield number, line
    if kept:
        yield first, kept


def _values(block: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values by keyword in small letters, and how each keyword is spelled."""
    parts = _WORD.split(block)[1:]
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    return (
        {key.lower(): value.strip() for key, value in pairs},
        {key.lower(): key for key, _ in pairs},
    )


def _note_setting(reading: _Reading, keyword: str, value: str) -> None:
    """Keep a setting, unless scontrol shows that it has no value."""
    if scheduling_word(keyword) is None:
        reading.note(keyword, value)
    elif value.lower() not in ("(null)", ""):
        reading.note(keyword, re.sub(r" (sec|usec|min)$", "", value))


def _machine(reading: _Reading, timezone: str) -> NodeCluster:
    kinds: list[NodeKind] = []
    for fields in reading.nodes:
        nodes = expanded(fields.values["nodename"])
        if "FUTURE" in states(fields):
            continue
        kinds.append(node_kind(fields, nodes))
    names = [node for kind in kinds for node in kind.nodes]
    partitions = tuple(
        partition(fields, names, _not_shown(reading, fields, names))
        for fields in reading.partitions
    )
    return NodeCluster(
        kinds=joined(kinds),
        name=reading.name or "cluster",
        partitions=partitions,
        outages=(*_away(reading), *_reservations(reading, timezone)),
        settings={**reading.settings, **_began(reading, timezone)},
        not_understood=dict(reading.strange),
    )


def _not_shown(
    reading: _Reading, fields: Fields, names: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the nodes of a partition that scontrol does not show, as sets of none; count them.

    Nodes in the state FUTURE are such.
    """
    text = fields.text("nodes") or ""
    there = {"ALL", *names}
    absent = [node for node in expanded(text) if node not in there]
    if absent:
        name = fields.values["partitionname"]
        reading.strange[f"nodes {folded(absent)} of partition {name}, which are not shown"] += 1
    return dict.fromkeys(absent, ())


def _away(reading: _Reading) -> Iterator[Outage]:
    """Yield the nodes that are down or drained."""
    for fields in reading.nodes:
        away = outage_of(fields, expanded(fields.values["nodename"]))
        if away is not None and "FUTURE" not in states(fields):
            yield away


def _began(reading: _Reading, timezone: str) -> dict[str, str]:
    """Return when the controller began, as seconds since 1970, where that is told."""
    text = reading.settings.get(BOOT_TIME)
    if text is None:
        return {}
    fields = Fields({"boot_time": text}, f"{BOOT_TIME} = {text}")
    return {BOOT_TIME: str(fields.number("boot_time", parse=date_parser(zone_of(timezone))))}


def _reservations(reading: _Reading, timezone: str) -> Iterator[Outage]:
    """Yield the reservations: those for maintenance, and those that are for some jobs only."""
    date = date_parser(zone_of(timezone))
    for fields in reading.reservations:
        name, nodes = fields.values["reservationname"], fields.text("nodes")
        maintenance = "MAINT" in (fields.text("flags") or "").upper()
        if nodes is None and not maintenance:
            continue  # of licenses or burst buffers
        yield Outage(
            expanded(nodes or ""),
            begin=fields.number("starttime", parse=date),
            end=fields.number("endtime", parse=date),
            reason=f"reservation {name}",
            reservation="" if maintenance else name,
        )

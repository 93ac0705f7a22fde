"""The machine that a slurm.conf describes, with its gres.conf and topology.conf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from queuesmith.base.errors import ClusterError
from queuesmith.base.files import AnyPath
from queuesmith.cluster.config_lines import ConfigLine, config_lines
from queuesmith.cluster.hostlist import expanded, folded
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind, Partition, Switch
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
from queuesmith.workload.slurm_text import count

#: What a setting is where the file does not say it, and where that matters here.
_DEFAULTS = {"AccountingStorageEnforce": "none", "SelectTypeParameters": "CR_Core_Memory"}


@dataclass
class _Reading(SlurmReading):
    """What has been read of the files so far."""

    sets: dict[str, ConfigLine] = field(default_factory=dict)
    down: list[ConfigLine] = field(default_factory=list)
    kinds: list[NodeKind] = field(default_factory=list)
    future: set[str] = field(default_factory=set)  # nodes that are named, and not there yet
    outages: list[Outage] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)


def machine_of_slurm_conf(
    path: AnyPath, *, gres: AnyPath | None = None, topology: AnyPath | None = None
) -> NodeCluster:
    """Read nodes, partitions and what decides about scheduling from a slurm.conf.

    ``DEFAULT`` lines, continued lines, ``Include``, node sets and the older words for things mean
    what they mean to Slurm. Keywords that are not Slurm's are counted in ``not_understood``.

    Parameters
    ----------
    path
        The slurm.conf.
    gres, topology
        The gres.conf, which has the types of GPUs, and the topology.conf, where there are such.
    """
    reading = _Reading()
    _note_lines(reading, path)
    for fields in reading.nodes:
        _note_nodes(reading, fields)
    for line in reading.down:
        _note_down(reading, line)
    if not reading.kinds:
        raise ClusterError(
            f"'{path}' has no NodeName line, so the machine has no nodes. Give a slurm.conf that "
            "names them, or describe the machine in TOML."
        )
    if gres is not None:
        _note_gres(reading, gres)
    if topology is not None:
        _note_topology(reading, topology)
    return _machine(reading)


def _note_lines(reading: _Reading, path: AnyPath) -> None:
    defaults: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    described = {"nodename": reading.nodes, "partitionname": reading.partitions}
    for line in config_lines(path):
        subject = line.subject
        if subject in defaults:
            own = Fields(line.values, line.place)
            reading.strange += strange_words(own, line.spelling)
            if line.values[subject].upper() == "DEFAULT":
                defaults[subject] |= line.values
            else:
                described[subject].append(Fields({**defaults[subject], **line.values}, line.place))
        elif subject == "nodeset":
            reading.sets[line.values["nodeset"]] = line
        elif subject == "downnodes":
            reading.down.append(line)
        else:
            for keyword, value in line.values.items():
                reading.note(line.spelling[keyword], value)


def _machine(reading: _Reading) -> NodeCluster:
    names = [node for kind in reading.kinds for node in kind.nodes]
    sets = {name: _set_of(line, reading) for name, line in reading.sets.items()}
    sets |= dict.fromkeys(reading.future, ())
    partitions = tuple(partition(fields, names, sets) for fields in reading.partitions)
    _check_twice(partitions, reading.partitions)
    if "linear" in reading.settings.get("SelectType", ""):
        partitions = tuple(replace(each, exclusive="nodes") for each in partitions)
    return NodeCluster(
        kinds=joined(reading.kinds),
        name=reading.name or "cluster",
        partitions=partitions,
        outages=tuple(reading.outages),
        switches=tuple(reading.switches),
        settings={**_DEFAULTS, **reading.settings},
        not_understood=dict(reading.strange),
    )


def _check_twice(partitions: tuple[Partition, ...], lines: list[Fields]) -> None:
    seen: set[str] = set()
    for each, fields in zip(partitions, lines, strict=True):
        if each.name in seen:
            raise ClusterError(
                f"{fields.place} describes partition '{each.name}' once more. Describe it once."
            )
        seen.add(each.name)


def _note_nodes(reading: _Reading, fields: Fields) -> None:
    nodes = expanded(fields.values["nodename"])
    if "FUTURE" in states(fields):
        reading.future.update(nodes)
        return
    reading.kinds.append(node_kind(fields, nodes))
    away = outage_of(fields, nodes)
    if away is not None:
        reading.outages.append(away)


def _note_down(reading: _Reading, line: ConfigLine) -> None:
    fields = Fields({"state": "DOWN", **line.values}, line.place)
    named = expanded(line.values["downnodes"])
    there = [node for node in named if node not in reading.future]
    away = outage_of(fields, there) if there else None
    if away is not None:
        reading.outages.append(away)


def _set_of(line: ConfigLine, reading: _Reading) -> tuple[str, ...]:
    """Return the nodes of a set: those named, and those with a feature."""
    feature, named = line.values.get("feature"), expanded(line.values.get("nodes", ""))
    having = [node for kind in reading.kinds if feature in kind.features for node in kind.nodes]
    return (*(node for node in named if node not in reading.future), *having)


def _note_gres(reading: _Reading, path: AnyPath) -> None:
    """Give GPUs the type that gres.conf states, where slurm.conf states only their number."""
    typed: dict[str, dict[str, Counter[str]]] = {}
    for line in config_lines(path):
        if "name" not in line.values:
            continue  # AutoDetect
        nodes = expanded(line.values["nodename"]) if "nodename" in line.values else _names(reading)
        name = line.values["name"].lower()
        for node in nodes:
            amounts = typed.setdefault(node, {}).setdefault(name, Counter())
            amounts[line.values.get("type", "")] += _amount(line)
    kinds = []
    for kind in reading.kinds:
        for node in kind.nodes:
            own = _typed(kind.gres, typed.get(node, {}))
            kinds.append(replace(kind, nodes=(node,), gres=own))
    reading.kinds = list(joined(kinds))


def _names(reading: _Reading) -> list[str]:
    return [node for kind in reading.kinds for node in kind.nodes]


def _amount(line: ConfigLine) -> int:
    text = line.values.get("count")
    if text is None:
        return len(expanded(line.values["file"])) if "file" in line.values else 1
    try:
        return count(text)
    except ValueError:
        raise ClusterError(
            f"{line.place} sets Count={text}, but that is no amount. Correct it."
        ) from None


def _typed(gres: Mapping[str, int], typed: Mapping[str, Counter[str]]) -> dict[str, int]:
    """Return resources with their types where the numbers agree; slurm.conf decides how many."""
    found: dict[str, int] = {}
    for name, amount in gres.items():
        types = typed.get(name, Counter())
        if ":" not in name and all(types) and types.total() == amount:
            found |= {f"{name}:{type_}": number for type_, number in types.items()}
        else:
            found[name] = amount
    return found


def _note_topology(reading: _Reading, path: AnyPath) -> None:
    there = set(_names(reading))
    for line in config_lines(path):
        if line.subject != "switchname":
            reading.strange[f"{line.spelling[line.subject]} of topology.conf"] += 1
            continue
        name, nodes = line.values["switchname"], expanded(line.values.get("nodes", ""))
        absent = [node for node in nodes if node not in there]
        if absent:
            reading.strange[f"nodes {folded(absent)} of switch {name}, which there are not"] += 1
        below = expanded(line.values.get("switches", ""))
        reading.switches.append(Switch(name, tuple(n for n in nodes if n in there), below))

"""Machines as TOML: what a person writes in a minute, and what is written back for editing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, replace
from datetime import UTC, datetime
from typing import Any

from queuesmith.base.errors import ClusterError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.base.toml import check_keys, read_toml, toml_text
from queuesmith.cluster.hostlist import folded
from queuesmith.cluster.limits import (
    AMOUNTS_OF_LIMITS,
    Amounts,
    Association,
    Limits,
    QualityOfService,
)
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind, Partition, Switch
from queuesmith.cluster.outages import Outage
from queuesmith.workload.slurm_text import duration, megabytes

#: The lists of tables of a file, and what each becomes.
_TABLES: dict[str, tuple[str, type]] = {
    "nodes": ("kinds", NodeKind),
    "partitions": ("partitions", Partition),
    "qos": ("qos", QualityOfService),
    "accounts": ("associations", Association),
    "outages": ("outages", Outage),
    "switches": ("switches", Switch),
}
_DURATIONS = ("max_time", "default_time", "grace_time", "preempt_exempt_time")
_MEMORY = (
    *("memory", "default_memory_per_core", "default_memory_per_node"),
    *("max_memory_per_core", "max_memory_per_node"),
)
_DATES = ("begin", "end")
_LISTS = (
    *("features", "allow_accounts", "deny_accounts", "allow_qos", "deny_qos", "allow_groups"),
    *("flags", "preempts"),
)


# -- reading -------------------------------------------------------------------------------


def read_machine(path: AnyPath) -> NodeCluster:
    """Read a machine from a TOML file; see docs/machine.md for what may stand in it."""
    return machine_of_table(read_toml(path, error=ClusterError), f"'{path}'")


def machine_of_table(table: Mapping[str, Any], what: str) -> NodeCluster:
    """Return the machine that the content of a TOML file describes."""
    check_keys(table, ["name", *_TABLES, "settings", "inferred"], what, error=ClusterError)
    parts: dict[str, Any] = {"name": str(table.get("name", "cluster"))}
    for key, (field, kind) in _TABLES.items():
        rows = table.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise ClusterError(f"in {what}, {key} must be tables. Begin each with [[{key}]].")
        parts[field] = tuple(
            _made(kind, row, f"{key} number {number} of {what}")
            for number, row in enumerate(rows, 1)
        )
    names = [node for kind in parts["kinds"] for node in kind.nodes]
    parts["partitions"] = tuple(_everywhere(each, names) for each in parts["partitions"])
    for key in ("settings", "inferred"):
        parts[key] = {name: _plain(value) for name, value in table.get(key, {}).items()}
    return NodeCluster(**parts)


def _everywhere(partition: Partition, names: list[str]) -> Partition:
    """Let a partition whose nodes are ``all`` have them all."""
    return replace(partition, nodes=tuple(names)) if partition.nodes == ("all",) else partition


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return str(value)


def _made(kind: type, row: Mapping[str, Any], what: str) -> Any:
    row = _with_short_words(kind, row)
    known = {field.name: field for field in fields(kind)}
    limited = "limits" in known
    if limited:
        row, limits = _limits_of(row, what)
    check_keys(row, known, what, error=ClusterError)
    values = {key: _value(key, value, what) for key, value in row.items()}
    missing = [name for name, field in known.items() if _needed(field) and name not in values]
    if missing:
        raise ClusterError(f"{what} has no {missing[0]}, but it needs one. Add {missing[0]} = ...")
    try:
        return kind(**values, **({"limits": limits} if limited else {}))
    except TypeError as error:
        raise ClusterError(
            f"{what} has a value of the wrong kind ({error}). Write names in quotes, lists in "
            "brackets, numbers without either."
        ) from None


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _with_short_words(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with ``names`` and ``gpus`` of nodes, and ``shares = "parent"``, spelled out."""
    row = dict(row)
    if kind is NodeKind:
        if "names" in row:
            row["nodes"] = row.pop("names")
        gpus = row.pop("gpus", None)
        if gpus is not None:
            by_type = gpus if isinstance(gpus, Mapping) else {"": gpus}
            named = {f"gpu:{type_}" if type_ else "gpu": count for type_, count in by_type.items()}
            row["gres"] = {**row.get("gres", {}), **named}
    if kind is Association and row.get("shares") == "parent":
        row["shares"] = None
    return row


def _limits_of(row: dict[str, Any], what: str) -> tuple[dict[str, Any], Limits]:
    """Take the limits out of a row: ``user = {cores = 64}`` and ``max_time``."""
    row, parts = dict(row), {}
    for name in AMOUNTS_OF_LIMITS:
        # Of an account, these words name the account and the user themselves.
        key = f"each_{name}" if f"each_{name}" in row else name
        if isinstance(row.get(key), Mapping):
            amounts = row.pop(key)
            where = f"{key} of {what}"
            check_keys(amounts, [f.name for f in fields(Amounts)], where, error=ClusterError)
            parts[name] = Amounts(**{k: _value(k, v, where) for k, v in amounts.items()})
    max_time = _value("max_time", row.pop("max_time"), what) if "max_time" in row else None
    return row, Limits(**parts, max_time=max_time)


def _value(key: str, value: Any, what: str) -> Any:
    try:
        if key in _DURATIONS and isinstance(value, str):
            return _unless_endless(duration(value))
        if key in _MEMORY and isinstance(value, str):
            return _unless_endless(megabytes(value))
        if key in _DATES and isinstance(value, str):
            value = datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        raise ClusterError(
            f'{what} has {key} = "{value}", which cannot be read. Write times as "1-12:00:00", '
            'memory as "48G", dates as "2024-05-31T08:00:00".'
        ) from None
    if isinstance(value, datetime):
        return int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
    if key in _LISTS and isinstance(value, (str, list)):
        return tuple(value.split(",") if isinstance(value, str) else value)
    return value


def _unless_endless(value: int) -> int | None:
    return None if value < 0 else value


# -- writing -------------------------------------------------------------------------------


def write_machine(machine: NodeCluster, path: AnyPath) -> None:
    """Write a machine as TOML; what is written reads back as the same machine."""
    write_bytes(path, machine_text(machine).encode())


def machine_text(machine: NodeCluster) -> str:
    """Return a machine as TOML, with what was not understood as a comment."""
    strange = [f"# not understood: {what} ({n})\n" for what, n in machine.not_understood.items()]
    return "".join(strange) + toml_text(machine_table(machine))


def machine_table(machine: NodeCluster) -> dict[str, Any]:
    """Return a machine as plain values: what stands in its TOML."""
    table: dict[str, Any] = {"name": machine.name}
    for key in ("settings", "inferred"):
        if getattr(machine, key):
            table[key] = dict(getattr(machine, key))
    for key, (field, _) in _TABLES.items():
        if rows := getattr(machine, field):
            table[key] = [_row(each) for each in rows]
    return table


def _row(thing: Any) -> dict[str, Any]:
    """Return what is not as it is by default."""
    row: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        default = field.default if field.default is not MISSING else None
        if field.name == "limits":
            row |= _limits_row(value, isinstance(thing, Association))
        elif value != default and value not in ((), {}):
            row[field.name] = _written(field.name, value)
    if isinstance(thing, Association) and thing.shares is None:
        row["shares"] = "parent"
    if isinstance(thing, NodeKind):
        row = {"names": row.pop("nodes"), **row}
    return row


def _limits_row(limits: Limits, of_account: bool) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name in AMOUNTS_OF_LIMITS:
        if amounts := getattr(limits, name):
            key = f"each_{name}" if of_account and name in ("user", "account") else name
            row[key] = _row(amounts)
    if limits.max_time is not None:
        row["max_time"] = _written("max_time", limits.max_time)
    return row


def _written(key: str, value: Any) -> Any:
    if key in ("nodes", "switches") and not isinstance(value, int):
        return folded(value)
    if key in _DURATIONS:
        days, seconds = divmod(value, 86_400)
        return f"{days}-{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value

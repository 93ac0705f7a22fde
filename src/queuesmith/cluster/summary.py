"""A machine as tables that people read: nodes, partitions, limits, shares, outages."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from queuesmith.base.words import so_many
from queuesmith.cluster.hostlist import folded
from queuesmith.cluster.limits import AMOUNTS_OF_LIMITS, Amounts, Limits
from queuesmith.cluster.node_cluster import NodeCluster

Rows = list[dict[str, Any]]

_LONGEST = 60
_MOST_ROWS = 20


def machine_tables(machine: NodeCluster) -> dict[str, Rows]:
    """Return what a machine is, as rows of named values, by the title of the table.

    Tables without rows are left out.
    """
    tables = {
        "Nodes": _telling(_nodes(machine)),
        "Partitions": _telling(_partitions(machine)),
        "Limits": _limits(machine),
        "Shares": _shares(machine),
        "Outages": _outages(machine),
        "Inferred from the log": [
            {"what": what, "how": how} for what, how in machine.inferred.items()
        ],
        "Not understood": [
            {"what": what, "times": times} for what, times in machine.not_understood.items()
        ],
    }
    return {title: rows for title, rows in tables.items() if rows}


#: What a column says of most machines; where it says so of all rows, it is left out.
_USUAL = {
    "other": "",
    "features": "",
    "weight": 1,
    "most nodes": None,
    "priority": 1,
    "tier": 1,
    "exclusive": "no",
    "QOS": "",
    "state": "up",
}


def _telling(rows: Rows) -> Rows:
    """Return rows without the columns that say nothing but what is usual."""
    dull = {
        name for name, usual in _USUAL.items() if all(r.get(name, usual) == usual for r in rows)
    }
    return [{name: value for name, value in row.items() if name not in dull} for row in rows]


def _nodes(machine: NodeCluster) -> Rows:
    return [
        {
            "nodes": _short(folded(kind.nodes)),
            "number": len(kind.nodes),
            "cores": kind.cores,
            "memory MB": kind.memory,
            "other": ", ".join(f"{n} {name}" for name, n in kind.gres.items()),
            "features": ", ".join(kind.features),
            "weight": kind.weight,
        }
        for kind in machine.kinds
    ]


def _partitions(machine: NodeCluster) -> Rows:
    cores = dict(zip(machine.places.names, machine.places.cores.tolist(), strict=True))
    return [
        {
            "partition": f"{each.name}{' (default)' if each.default else ''}",
            "nodes": len(each.nodes),
            "cores": sum(cores[node] for node in each.nodes),
            "longest": _time(each.max_time),
            "most nodes": each.max_nodes,
            "priority": each.priority,
            "tier": each.tier,
            "exclusive": each.exclusive,
            "QOS": each.qos or "",
            "state": "up" if each.up else "down",
        }
        for each in machine.partitions
    ]


def _limits(machine: NodeCluster) -> Rows:
    rows = [
        {"of": f"QOS {qos.name}", "priority": qos.priority, "limits": limits_text(qos.limits)}
        for qos in machine.qos
    ]
    linked = [
        {"of": str(link), "priority": None, "limits": text}
        for link in machine.associations
        if (text := limits_text(link.limits))
    ]
    return [*rows, *_first(linked, "of")]


def limits_text(limits: Limits) -> str:
    """Return limits as one reads them: ``user: 64 cores, 4 jobs; longest 1-00:00:00``."""
    parts = [
        f"{_WORDS.get(name, name)}: {text}"
        for name in AMOUNTS_OF_LIMITS
        if (text := _amounts_text(getattr(limits, name)))
    ]
    longest = [f"longest {_time(limits.max_time)}"] if limits.max_time is not None else []
    return "; ".join([*parts, *longest])


_WORDS = {"job_least": "a job at least", "group": "together", "node": "a job on one node"}


def _amounts_text(amounts: Amounts) -> str:
    given = {f.name: getattr(amounts, f.name) for f in fields(amounts) if f.name != "gres"}
    named = {name: amount for name, amount in given.items() if amount is not None}
    both = {**named, **amounts.gres}
    return ", ".join(f"{amount:,} {name.replace('_', ' ')}" for name, amount in both.items())


def _shares(machine: NodeCluster) -> Rows:
    users: dict[str, int] = {}
    for link in machine.associations:
        users[link.account] = users.get(link.account, 0) + (link.user is not None)
    rows = [
        {
            "account": link.account,
            "below": "" if link.account == link.parent else link.parent,
            "shares": "parent" if link.shares is None else str(link.shares),
            "users": users[link.account],
        }
        for link in machine.associations
        if link.user is None
    ]
    return _first(rows, "account")


def _outages(machine: NodeCluster) -> Rows:
    rows = [
        {
            "nodes": _short(folded(outage.nodes)) or "all",
            "from": _date(outage.begin),
            "to": _date(outage.end),
            "reason": outage.reason,
        }
        for outage in machine.outages
    ]
    return _first(rows, "nodes")


def _first(rows: Rows, column: str) -> Rows:
    """Return the first rows, and how many more there are."""
    if len(rows) <= _MOST_ROWS:
        return rows
    nothing = {name: "" if isinstance(value, str) else None for name, value in rows[0].items()}
    return [*rows[:_MOST_ROWS], {**nothing, column: f"and {len(rows) - _MOST_ROWS} more"}]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _time(seconds: int | None) -> str:
    if seconds is None:
        return "unlimited"
    days, rest = divmod(seconds, 86_400)
    return f"{days}-{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def _date(moment: int | None) -> str:
    if moment is None:
        return "?"
    return datetime.fromtimestamp(moment, UTC).isoformat(sep=" ").removesuffix("+00:00")


def size_text(machine: NodeCluster) -> str:
    """Return how large a machine is: ``micro: 10 nodes, 120 cores, 2 GPUs, 2 partitions``."""
    gpus = sum(kind.gpus * len(kind.nodes) for kind in machine.kinds)
    memory = sum((kind.memory or 0) * len(kind.nodes) for kind in machine.kinds)
    parts = [so_many(len(machine.node_names), "node"), so_many(machine.cores, "core")]
    parts += [f"{memory:,} MB"] if memory else []
    parts += [so_many(gpus, "GPU")] if gpus else []
    parts += [so_many(len(machine.partitions), "partition")]
    return f"{machine.name}: {', '.join(parts)}"

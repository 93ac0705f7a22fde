"""What a move of the what-if page makes of its state: knobs turned, columns added or changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from queuesmith.base.errors import QueuesmithError
from queuesmith.cluster import NodeCluster
from queuesmith.policy import AnyPolicy, Policy, SelfTuning, Slurm
from queuesmith.web.context import Context
from queuesmith.web.knobs import turned
from queuesmith.web.machines import machine_of
from queuesmith.web.state import MOST_COLUMNS, Column, PageState

SLURM, PLANNER = "slurm", "dynp"
#: What a column that is added begins with; the first that is not there yet.
FURTHER = ("sjf+easy", "fcfs+conservative", "power+easy", "wfp3+easy", "fcfs", "saf+easy")


def order_of(policy: AnyPolicy, column: Column) -> str:
    """Return the order that a column's choice shows."""
    if isinstance(policy, Policy):
        return policy.order.name
    if isinstance(policy, Slurm):
        return SLURM
    return PLANNER if isinstance(policy, SelfTuning) else column.policy


@dataclass(frozen=True)
class Moves:
    """How the controls of the page stand: values by column and name of the knob."""

    knobs: Mapping[tuple[int, str], float]
    objective: str | None
    by: str | None

    @classmethod
    def read(cls, values: Sequence[Any], ids: Sequence[Any], objective: Any, by: Any) -> Moves:
        """Read what the browser sent."""
        knobs = {}
        for value, id in zip(values, ids, strict=True):
            try:
                knobs[int(id["column"]), str(id["name"])] = float(value)
            except (TypeError, ValueError):
                continue  # a field that is being emptied
        return cls(knobs, objective, by)


def moved(state: PageState, moves: Moves, context: Context) -> PageState:
    """Return the state with all controls as they stand."""
    columns = tuple(
        _turned(column, {n: v for (c, n), v in moves.knobs.items() if c == place}, context, state)
        for place, column in enumerate(state.columns)
    )
    state = replace(state, columns=columns)
    if moves.objective:
        state = state.having("objective", moves.objective)
    return state.having("by", moves.by) if moves.by else state


def _turned(
    column: Column, values: Mapping[str, float], context: Context, state: PageState
) -> Column:
    if not values:
        return column
    policy = context.desk.policy(column)
    stated = context.machine.settings if isinstance(context.machine, NodeCluster) else {}
    changed = turned(policy, values, stated)
    text = column.policy if changed == policy else str(changed)
    if "load" in values:
        column = replace(column, load=round(values["load"], 6))
    if "cores" in values:
        jobs = context.logs.jobs(state.log, state.filters)
        own = machine_of(Column(""), jobs, context.machine).cores
        cores = int(values["cores"])
        column = replace(column, cores=None if cores == own else cores)
    return replace(column, policy=text, nodes=_nodes(values, context))


def _nodes(values: Mapping[str, float], context: Context) -> tuple[tuple[str, int], ...]:
    if not isinstance(context.machine, NodeCluster):
        return ()
    own = {kind.nodes[0]: len(kind.nodes) for kind in context.machine.kinds}
    asked = {
        name.removeprefix("nodes."): int(value)
        for name, value in values.items()
        if name.startswith("nodes.")
    }
    return tuple((name, count) for name, count in asked.items() if own.get(name) != count)


def restructured(state: PageState, what: Any, value: Any, context: Context) -> PageState:
    """Return the state after a column was added, removed, or has another policy."""
    columns = list(state.columns)
    if what == "add-column":
        taken = {column.policy for column in columns}
        further = next((each for each in FURTHER if each not in taken), "ljf+easy")
        columns.append(Column(further))
        return replace(state, columns=tuple(columns[:MOST_COLUMNS]))
    place = int(what["column"])
    if what["type"] == "remove":
        del columns[place]
        return replace(state, columns=tuple(columns) or state.columns)
    columns[place] = replace(
        columns[place], policy=_other(columns[place], what["type"], value, context)
    )
    return replace(state, columns=tuple(columns))


def _other(column: Column, what: str, value: str, context: Context) -> str:
    """Return the text of a column's policy after another order, backfill or text was chosen."""
    if what == "text":
        return value.strip() or column.policy
    try:
        policy = context.desk.policy(column)
    except QueuesmithError:
        policy = None
    backfill = policy.backfill if isinstance(policy, Policy) else "easy"
    if what == "backfill" and isinstance(policy, Policy) and policy.groups is None:
        keep = policy.keep if value in ("none", "list", "easy") else None
        depth = policy.depth if value in ("conservative", "plan") else None
        return str(replace(policy, backfill=value, keep=keep, depth=depth))
    if value in context.policies.orders and (
        not isinstance(policy, Policy) or policy.order.name != value
    ):
        return str(Policy(context.policies.orders[value], backfill))
    if value in context.policies.named or value in (SLURM, PLANNER):
        same = policy is not None and order_of(policy, column) == value
        return column.policy if same else value
    return column.policy

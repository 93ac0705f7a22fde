"""What the page shows, as its address holds it: one text that restores everything."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.schedule.objective import Objective
from queuesmith.web.typed import typed_number

#: The parts of the page, by the word in the address.
TABS = {
    "what-if": "What if",
    "log": "Log",
    "knobs": "Knobs",
    "learn": "Learn",
    "plan": "Plan",
    "live": "Live",
}
#: What waits can be divided by; those of a log that has the column.
DIVISIONS = ("group", "account", "partition", "qos", "size", "user", "month")
#: Beyond so many columns nobody can tell them apart.
MOST_COLUMNS = 8
#: Between a policy and what is set beside it.
SEPARATOR = " @ "
_NODES = "nodes."
_WAY_OUT = "Correct the address."
#: Names in the address whose values are looked up where they are used.
TEXTS = ("log", "run", "policy", "place", "queue")
#: An address that is longer was not made by this page.
LONGEST = 20_000


@dataclass(frozen=True)
class Column:
    """One column of the page: a policy, and the load and the machine it is tried on.

    Parameters
    ----------
    policy
        As it is written: ``power(alpha=2)+easy``.
    load
        The factor by which the log's load is multiplied.
    cores
        The number of cores, where it is another than the machine's own.
    nodes
        How many nodes of a kind there are, by the first name of the kind, where it is another
        number than the machine's own.

    Examples
    --------
    >>> Column.parse("fcfs+easy @ load=1.2, cores=300")
    Column(policy='fcfs+easy', load=1.2, cores=300, nodes=())
    """

    policy: str
    load: float = 1.0
    cores: int | None = None
    nodes: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        beside = [] if self.load == 1.0 else [f"load={self.load:g}"]
        beside += [] if self.cores is None else [f"cores={self.cores}"]
        beside += [f"{_NODES}{kind}={count}" for kind, count in self.nodes]
        return self.policy + (SEPARATOR + ", ".join(beside) if beside else "")

    @classmethod
    def parse(cls, text: str) -> Column:
        """Read a column as the address holds it."""
        policy, _, beside = text.partition(SEPARATOR)
        column = cls(policy.strip())
        for setting in filter(None, (part.strip() for part in beside.split(","))):
            name, _, value = (part.strip() for part in setting.partition("="))
            if name == "load":
                column = replace(column, load=typed_number(name, value, 0.05, 20.0, _WAY_OUT))
            elif name == "cores":
                column = replace(column, cores=_whole(name, value, 1))
            elif name.startswith(_NODES):
                kind = (name.removeprefix(_NODES), _whole(name, value, 0))
                column = replace(column, nodes=(*column.nodes, kind))
            else:
                raise UsageError(
                    f"'{setting}' stands behind '{policy}', but beside a policy there is load=, "
                    f"cores= or nodes.KIND=. {_WAY_OUT}"
                )
        return column


@dataclass(frozen=True)
class Filters:
    """Which jobs of a log are taken; an empty text takes all.

    Parameters
    ----------
    since, until
        Submitted from when on and before when: seconds of the log, or dates where it has dates.
    partition, account, user
        Of this partition, account or user, by name.
    widest, narrowest
        With at most and at least so many cores.
    """

    since: str = ""
    until: str = ""
    partition: str = ""
    account: str = ""
    user: str = ""
    narrowest: str = ""
    widest: str = ""

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True)
class PageState:
    """Everything that the address holds.

    Parameters
    ----------
    tab
        Which part of the page is open.
    log
        Which log is looked at, by its name on the shelf; empty for the first.
    filters
        Which of its jobs.
    columns
        What is compared, side by side.
    objective
        By what the columns are judged.
    by
        What the waits are divided by.
    run
        Which long run is looked at; empty for the newest.
    policy
        The policy that the live queue is shown under; empty for that of the first column.
    place, queue
        Where jobs are placed or mapped to, and which; empty for the first.
    """

    tab: str = "what-if"
    log: str = ""
    filters: Filters = Filters()
    columns: tuple[Column, ...] = ()
    objective: str = "mean_wait"
    by: str = "group"
    run: str = ""
    policy: str = ""
    place: str = ""
    queue: str = ""
    #: What of the address could not be understood, in sentences.
    complaints: tuple[str, ...] = field(default=(), compare=False)

    def query(self) -> str:
        """Return the state as the part of the address that follows its path."""
        pairs = [] if self.tab == "what-if" else [("tab", self.tab)]
        for each in fields(self.filters):
            value = getattr(self.filters, each.name)
            pairs += [(each.name, value)] if value else []
        pairs += [("column", str(column)) for column in self.columns]
        pairs += [] if self.objective == "mean_wait" else [("objective", self.objective)]
        pairs += [] if self.by == "group" else [("by", self.by)]
        for name in TEXTS:
            value = getattr(self, name)
            pairs += [(name, value)] if value else []
        return f"?{urlencode(pairs)}" if pairs else ""

    @classmethod
    def parse(cls, query: str, default: PageState | None = None) -> PageState:
        """Read the address; what cannot be understood stays as by default, and is told."""
        state = default or cls()
        complaints: list[str] = []
        if len(query) > LONGEST:
            return replace(state, complaints=("The address is too long to be one of this page.",))
        columns: list[Column] = []
        for name, value in parse_qsl(query.removeprefix("?")):
            try:
                if name == "column":
                    columns.append(Column.parse(value))
                else:
                    state = state.having(name, value)
            except UsageError as error:
                complaints.append(str(error))
        if len(columns) > MOST_COLUMNS:
            complaints.append(f"Only the first {MOST_COLUMNS} columns are shown.")
        chosen = tuple(dict.fromkeys(columns))[:MOST_COLUMNS] or state.columns
        return replace(state, columns=chosen, complaints=tuple(complaints))

    def having(self, name: str, value: str) -> PageState:
        """Return the state with one part of the address changed."""
        if name in (each.name for each in fields(Filters)):
            return replace(self, filters=replace(self.filters, **{name: value.strip()}))
        if name == "tab":
            return replace(self, tab=known("part of the page called", value, TABS))
        if name == "by":
            return replace(self, by=known("division of the jobs called", value, DIVISIONS))
        if name == "objective":
            return replace(self, objective=str(Objective(value)))
        if name in TEXTS:
            changed: dict[str, Any] = {name: value}
            return replace(self, **changed)
        return self  # others may put words of their own into an address


def _whole(name: str, text: str, least: int) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) < least:
        raise UsageError(
            f"{name} is '{text[:40]}', but it must be a whole number of at least {least}. "
            f"{_WAY_OUT}"
        )
    return int(text)

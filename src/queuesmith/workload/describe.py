"""What a workload looks like, in numbers."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.words import so_many
from queuesmith.workload.drawing import draw, draw_each
from queuesmith.workload.figure_data import (
    DAY,
    HOUR,
    FigureData,
    accuracy_of,
    figure_data,
    weekly_demand,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.workload.workload import Change, Workload


@dataclass(frozen=True)
class Quantiles:
    """How the values of a column are spread."""

    mean: float
    least: float
    q10: float
    q25: float
    median: float
    q75: float
    q90: float
    q99: float
    most: float

    @classmethod
    def of(cls, values: ArrayLike) -> Quantiles | None:
        """Return the quantiles of some values, or None where there are none."""
        array = np.asarray(values, dtype=np.float64)
        if not len(array):
            return None
        points = np.quantile(array, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1])
        return cls(float(array.mean()), *(float(point) for point in points))


@dataclass(frozen=True)
class GroupShare:
    """One user group: how many users and jobs it has, and its share of all core-seconds."""

    group: int
    name: str
    users: int
    jobs: int
    share: float


@dataclass(frozen=True)
class Description:
    """A workload in numbers; what cannot be known of it is None.

    ``load`` is the offered load on the machine that the log comes from, ``accuracy`` the runtime
    over the walltime, ``span`` the seconds from the first submission to the last.
    """

    name: str
    jobs: int
    users: int
    groups: tuple[GroupShare, ...]
    span: int
    jobs_per_hour: float | None
    cores: Quantiles | None
    serial_share: float | None
    power_of_two_share: float | None
    runtime: Quantiles | None
    walltime: Quantiles | None
    accuracy: Quantiles | None
    machine_cores: int | None
    load: float | None
    load_by_week: tuple[float, ...]
    changes: tuple[Change, ...]
    workload: Workload = field(repr=False, compare=False)

    def rows(self) -> list[tuple[str, str]]:
        """Return name and value, ready to print, line by line."""
        return [
            *self._arrival_rows(),
            *((f"{g.name}", _group_text(g)) for g in self.groups),
            ("cores", _spread(self.cores, _plain)),
            ("serial jobs", _percent(self.serial_share)),
            ("powers of two", _percent(self.power_of_two_share)),
            ("runtime", _spread(self.runtime, duration)),
            ("walltime", _spread(self.walltime, duration)),
            ("accuracy of walltimes", self._accuracy_text()),
            *self._load_rows(),
            *((c.verb, f"{c.count:,}: {c.reason}") for c in self.changes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the figures as plain values, ready for JSON."""
        parts = {key: getattr(self, key) for key in self.__dataclass_fields__ if key != "workload"}
        return {key: _plain_value(value) for key, value in parts.items()}

    def figure_data(self) -> FigureData:
        """Return the arrays behind the figures."""
        return figure_data(self.workload)

    def plot(self) -> go.Figure:
        """Draw arrivals, load, sizes, runtimes and the accuracy of walltimes."""
        return draw(self.name, self.figure_data())

    def plots(self) -> list[go.Figure]:
        """Draw the same, each in a figure of its own, for pages that place them."""
        return draw_each(self.figure_data())

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self.rows()
        )
        return f"<table><caption>{html.escape(self.name)}</caption><tbody>{cells}</tbody></table>"

    def _arrival_rows(self) -> list[tuple[str, str]]:
        rate = "-" if self.jobs_per_hour is None else f"{self.jobs_per_hour:,.2f} jobs an hour"
        return [
            ("jobs", f"{self.jobs:,}"),
            ("users", f"{self.users:,}"),
            ("span", duration(self.span)),
            ("submit rate", rate),
        ]

    def _accuracy_text(self) -> str:
        if self.accuracy is None:
            return "-"
        return f"mean {_percent(self.accuracy.mean)}, median {_percent(self.accuracy.median)}"

    def _load_rows(self) -> list[tuple[str, str]]:
        machine = "-" if self.machine_cores is None else so_many(self.machine_cores, "core")
        rows = [("machine", machine), ("offered load", _percent(self.load))]
        if self.load_by_week:
            low, high = min(self.load_by_week), max(self.load_by_week)
            weeks = (
                f"{_percent(low)} to {_percent(high)} in {so_many(len(self.load_by_week), 'week')}"
            )
            rows.append(("load by week", weeks))
        return rows


def description_of(workload: Workload) -> Description:
    """Summarise arrivals, sizes, runtimes, estimates and load of a workload."""
    cores, count, span = workload.cores, len(workload), workload.span
    machine = workload.machine_cores
    weekly = weekly_demand(workload)[2]
    return Description(
        name=workload.name,
        jobs=count,
        users=len(np.unique(workload.user)),
        groups=_groups(workload),
        span=span,
        jobs_per_hour=count / (span / HOUR) if span else None,
        cores=Quantiles.of(cores),
        serial_share=float(np.mean(cores == 1)) if count else None,
        power_of_two_share=float(np.mean((cores & (cores - 1)) == 0)) if count else None,
        runtime=Quantiles.of(workload.runtime),
        walltime=Quantiles.of(workload.walltime),
        accuracy=Quantiles.of(accuracy_of(workload)),
        machine_cores=machine,
        load=workload.load(machine) if machine and span else None,
        load_by_week=tuple(float(asked / machine) for asked in weekly) if machine else (),
        changes=workload.changes,
        workload=workload,
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(5400)
    '1.5 h'
    """
    for unit, size in (("d", DAY), ("h", HOUR), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} s"


def _groups(workload: Workload) -> tuple[GroupShare, ...]:
    total = float(workload.work.sum())
    shares = []
    for group in np.unique(workload.group):
        inside = workload.group == group
        label = workload.label("group", int(group))
        shares.append(
            GroupShare(
                group=int(group),
                name=f"group {label}",
                users=len(np.unique(workload.user[inside])),
                jobs=int(np.count_nonzero(inside)),
                share=float(workload.work[inside].sum()) / total if total else 0.0,
            )
        )
    return tuple(shares)


def _plain(value: float) -> str:
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _group_text(group: GroupShare) -> str:
    users, jobs = so_many(group.users, "user"), so_many(group.jobs, "job")
    return f"{_percent(group.share)} of the work: {users}, {jobs}"


def _spread(values: Quantiles | None, text: Callable[[float], str]) -> str:
    if values is None:
        return "-"
    return (
        f"mean {text(values.mean)}, median {text(values.median)}, 90 % up to {text(values.q90)}, "
        f"at most {text(values.most)}"
    )


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain_value(item) for item in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value

"""What a workload looks like, in numbers and in figures."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.words import so_many
from queuesmith.figures.style import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from queuesmith.workload.workload import Change, Ints, Workload

Floats = NDArray[np.float64]

HOUR = 3600
DAY = 24 * HOUR
WEEK = 7 * DAY

COLOUR = "#4c6e91"


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
class FigureData:
    """The arrays that the figures draw; counts are of jobs.

    Hours and weekdays are those of UTC where the log says when it began; else second 0 is taken
    as the first midnight and the weekdays count from that day.
    """

    by_hour: Ints
    by_weekday: Ints
    week: Ints
    by_week: Ints
    asked_cores_by_week: Floats
    load_by_week: Floats | None
    cores_label: tuple[str, ...]
    by_cores: Ints
    log_runtime_edges: Floats
    by_log_runtime: Ints
    accuracy_edges: Floats
    by_accuracy: Ints


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
            *(
                ("left out" if c.dropped else "mended", f"{c.count:,}: {c.reason}")
                for c in self.changes
            ),
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
        machine = "-" if self.machine_cores is None else f"{self.machine_cores:,} cores"
        rows = [("machine", machine), ("offered load", _percent(self.load))]
        if self.load_by_week:
            low, high = min(self.load_by_week), max(self.load_by_week)
            weeks = f"{_percent(low)} to {_percent(high)} in {len(self.load_by_week)} weeks"
            rows.append(("load by week", weeks))
        return rows


def describe(workload: Workload) -> Description:
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
        accuracy=Quantiles.of(_accuracy(workload)),
        machine_cores=machine,
        load=workload.load(machine) if machine and span else None,
        load_by_week=tuple(float(asked / machine) for asked in weekly) if machine else (),
        changes=workload.changes,
        workload=workload,
    )


def figure_data(workload: Workload) -> FigureData:
    """Return the arrays behind the figures of a workload."""
    clock = workload.submit + (workload.epoch or 0)
    # 1970 began on a Thursday; Monday is day 0.
    first_weekday = 0 if workload.epoch is None else 3
    weekday = (clock // DAY + first_weekday) % 7
    week, by_week, asked = weekly_demand(workload)
    labels, by_cores = _cores_histogram(workload.cores)
    by_runtime, runtime_edges = _log_runtime_histogram(workload.runtime)
    by_accuracy, accuracy_edges = np.histogram(_accuracy(workload), bins=20, range=(0.0, 1.0))
    machine = workload.machine_cores
    return FigureData(
        by_hour=np.bincount(clock // HOUR % 24, minlength=24),
        by_weekday=np.bincount(weekday, minlength=7),
        week=week,
        by_week=by_week,
        asked_cores_by_week=asked,
        load_by_week=asked / machine if machine else None,
        cores_label=labels,
        by_cores=by_cores,
        log_runtime_edges=runtime_edges,
        by_log_runtime=by_runtime,
        accuracy_edges=accuracy_edges,
        by_accuracy=by_accuracy,
    )


def weekly_demand(workload: Workload) -> tuple[Ints, Ints, Floats]:
    """Return the weeks from 1, the jobs of each, and how many cores they ask for on average.

    Weeks count from the first submission; the last may be shorter, and a rest of less than a day
    belongs to the week before. Jobs all submitted in one second have no weeks.
    """
    span = workload.span
    if not span:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    weeks = max(1, span // WEEK + (span % WEEK >= DAY))
    week = np.minimum((workload.submit - workload.submit[0]) // WEEK, weeks - 1)
    seconds = np.full(weeks, float(WEEK))
    seconds[-1] = span - (weeks - 1) * WEEK
    asked = np.bincount(week, weights=workload.work, minlength=weeks) / seconds
    return np.arange(1, weeks + 1), np.bincount(week, minlength=weeks), asked


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(5400)
    '1.5 h'
    """
    for unit, size in (("d", DAY), ("h", HOUR), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} s"


def draw(name: str, data: FigureData) -> go.Figure:
    """Draw the figures of a workload from their data."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    drawn = panels(data)
    figure = make_subplots(rows=2, cols=3, subplot_titles=[panel[0] for panel in drawn])
    for place, (*_, x, y) in enumerate(drawn):
        row, col = place // 3 + 1, place % 3 + 1
        figure.add_trace(go.Bar(x=x, y=y, marker_color=COLOUR), row=row, col=col)
    style(figure, height=620)
    for place, (_, x_title, y_title, _, _) in enumerate(drawn):
        row, col = place // 3 + 1, place % 3 + 1
        figure.update_xaxes(title_text=x_title, row=row, col=col)
        figure.update_yaxes(title_text=y_title, row=row, col=col)
    figure.update_xaxes(**runtime_ticks(), row=2, col=2)
    figure.update_xaxes(type="category", row=2, col=1)
    figure.update_layout(title=name, showlegend=False, bargap=0.05, meta={})
    figure.update_layout(margin={"t": 70})
    return figure


def draw_each(data: FigureData) -> list[go.Figure]:
    """Draw the figures of a workload one by one."""
    import plotly.graph_objects as go

    figures = []
    for title, x_title, y_title, x, y in panels(data):
        figure = go.Figure(go.Bar(x=x, y=y, marker_color=COLOUR))
        style(figure, height=300, x=x_title, y=y_title)
        figure.update_layout(title=title, showlegend=False, bargap=0.05, meta={})
        figures.append(figure)
    figures[3].update_xaxes(type="category")
    figures[4].update_xaxes(**runtime_ticks())
    return figures


def runtime_ticks() -> dict[str, Any]:
    """Return where the axis of runtimes, which shows their logarithm, has which names."""
    ticks = {1: "1 s", 60: "1 min", HOUR: "1 h", DAY: "1 d"}
    return {"tickvals": [math.log10(t) for t in ticks], "ticktext": list(ticks.values())}


def panels(data: FigureData) -> list[tuple[str, str, str, Any, Any]]:
    """Return title, titles of both axes, and both coordinates of each panel."""
    has_load = data.load_by_week is not None
    return [
        ("Arrivals by hour", "hour of the day", "jobs", np.arange(24), data.by_hour),
        ("Arrivals by week", "week", "jobs", data.week, data.by_week),
        (
            "Offered load by week" if has_load else "Cores asked for by week",
            "week",
            "load (share of the machine)" if has_load else "cores, mean",
            data.week,
            data.load_by_week if has_load else data.asked_cores_by_week,
        ),
        ("Sizes", "cores", "jobs", list(data.cores_label), data.by_cores),
        ("Runtimes", "runtime", "jobs", _middles(data.log_runtime_edges), data.by_log_runtime),
        (
            "Accuracy of walltimes",
            "runtime / walltime",
            "jobs",
            _middles(data.accuracy_edges),
            data.by_accuracy,
        ),
    ]


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


def _accuracy(workload: Workload) -> Floats:
    """Return runtime over walltime; a job that asks for no time and takes none is exact."""
    return np.where(workload.walltime > 0, workload.runtime / np.maximum(workload.walltime, 1), 1.0)


def _cores_histogram(cores: Ints) -> tuple[tuple[str, ...], Ints]:
    """Count sizes of 1, 2, 3-4, 5-8 cores and so on."""
    if not len(cores):
        return (), np.empty(0, np.int64)
    by_cores = np.bincount(np.ceil(np.log2(cores)).astype(np.int64))
    labels = ["1", "2"] + [f"{2 ** (k - 1) + 1}-{2**k}" for k in range(2, len(by_cores))]
    return tuple(labels[: len(by_cores)]), by_cores


def _log_runtime_histogram(runtime: Ints) -> tuple[Ints, Floats]:
    """Count log10 of the runtime in bins of a quarter; runtimes of 0 count as 1 s."""
    log_runtime = np.log10(np.maximum(runtime, 1))
    top = math.floor(float(log_runtime.max(initial=0.0)) * 4) + 1
    return np.histogram(log_runtime, bins=np.arange(top + 1) / 4)


def _middles(edges: Floats) -> Floats:
    return (edges[1:] + edges[:-1]) / 2


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

"""The immutable table of jobs that everything else starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.checks import all_of_kind, of_kind, several, table
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.registry import did_you_mean
from queuesmith.base.words import so_many
from queuesmith.workload.columns import (
    LARGEST_TIME,
    check_lengths,
    check_ranges,
    frozen_column,
    further_columns,
    positions,
    whole_column,
)
from queuesmith.workload.columns import Ints as Ints
from queuesmith.workload.groups import (
    DEFAULT_THRESHOLDS,
    groups_of_users,
    named_groups,
    share_groups,
)
from queuesmith.workload.moments import Moment, second_of

if TYPE_CHECKING:
    import pandas as pd

    from queuesmith.workload.describe import Description

CORE_COLUMNS = ("id", "submit", "runtime", "walltime", "cores", "user", "group")


@dataclass(frozen=True)
class Change:
    """What happened to some jobs on their way from the log to the workload."""

    reason: str
    count: int
    dropped: bool
    what: str = "job"  # or the lines of a log that are no jobs at all

    @property
    def verb(self) -> str:
        """What was done to them: left out, mended, or passed over where they are no jobs."""
        if self.dropped:
            return "left out"
        return "mended" if self.what == "job" else "passed over"

    def __str__(self) -> str:
        return f"{so_many(self.count, self.what)} {self.verb}: {self.reason}"


#: The extra columns of malleable jobs, bags of tasks that need not run together: how many cores
#: one task needs, and how many cores the job may hold at once.
TASK_CORES, MOST_CORES = "task_cores", "most_cores"
#: The extra column of jobs that left the queue before they began: how many seconds after their
#: submission they were cancelled.
CANCELLED_AFTER = "cancelled_after"


@dataclass(frozen=True, eq=False)
class Workload:
    """Jobs in the order of their submission, as read-only columns of whole numbers.

    Parameters
    ----------
    submit, runtime, walltime, cores
        When each job arrives, how long it really runs, how long its user says it may run
        (never less than the runtime), and how many processors it needs. Times in seconds.
    id, user, group
        Numbers that name the job, its user and its user group. By default jobs are numbered
        from 1, all belong to user 0, and groups follow the users' share of the resources.
    extra
        Further columns of the log, one value a job, by name. ``real_start`` is when the job
        really began; ``partition`` and ``qos`` are read by the ``multifactor`` order.
    labels
        What the numbers of a column stand for, by column: ``labels["user"][3]`` is the name
        of user 3.
    name
        What figures and messages call this workload.
    machine_cores
        The size of the machine the log comes from, where the log says so.
    epoch
        The Unix time of second 0, where the log says so.
    header
        The comment lines of the log, kept for writing it back.
    changes
        What was dropped or mended so far, with its reason.
    cancelled
        Jobs that were cancelled while they waited, with the column ``cancelled_after``. They are
        no jobs of the workload, but stand in the queue of a replay until then.
    """

    submit: Ints
    runtime: Ints
    walltime: Ints
    cores: Ints
    id: Ints
    user: Ints
    group: Ints
    extra: Mapping[str, NDArray[Any]]
    labels: Mapping[str, tuple[str, ...]]
    name: str
    machine_cores: int | None
    epoch: int | None
    header: tuple[str, ...]
    changes: tuple[Change, ...] = field(default=())
    cancelled: Workload | None = None

    def __init__(
        self,
        submit: ArrayLike,
        runtime: ArrayLike,
        walltime: ArrayLike,
        cores: ArrayLike,
        *,
        id: ArrayLike | None = None,
        user: ArrayLike | None = None,
        group: ArrayLike | None = None,
        extra: Mapping[str, ArrayLike] | None = None,
        labels: Mapping[str, tuple[str, ...]] | None = None,
        name: str = "workload",
        machine_cores: int | None = None,
        epoch: int | None = None,
        header: tuple[str, ...] = (),
        changes: tuple[Change, ...] = (),
        cancelled: Workload | None = None,
    ) -> None:
        columns = {
            "submit": whole_column(submit, "submit"),
            "runtime": whole_column(runtime, "runtime"),
            "walltime": whole_column(walltime, "walltime"),
            "cores": whole_column(cores, "cores"),
        }
        count = len(columns["submit"])
        columns["id"] = whole_column(np.arange(1, count + 1) if id is None else id, "id")
        columns["user"] = whole_column(np.zeros(count) if user is None else user, "user")
        further = {} if extra is None else further_columns(extra)
        check_lengths({**columns, **further}, count)
        check_ranges(columns)
        if group is None:
            work = columns["cores"].astype(np.float64) * columns["runtime"]
            group = share_groups(columns["user"], work)
        columns["group"] = whole_column(group, "group")
        check_lengths({"group": columns["group"]}, count)

        gap, step = np.diff(columns["submit"]), np.diff(columns["id"])
        if not np.all((gap > 0) | ((gap == 0) & (step >= 0))):
            order = np.lexsort((columns["id"], columns["submit"]))
            late = int(np.count_nonzero(gap < 0))
            columns = {key: frozen_column(values[order]) for key, values in columns.items()}
            further = {key: frozen_column(values[order]) for key, values in further.items()}
            if late:
                reason = "stood before an earlier submission; sorted by submit time"
                changes = (*changes, Change(reason, late, dropped=False))
        for key, values in columns.items():
            object.__setattr__(self, key, values)
        object.__setattr__(self, "extra", MappingProxyType(further))
        object.__setattr__(self, "labels", MappingProxyType(_checked_labels(labels)))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "machine_cores", machine_cores)
        object.__setattr__(self, "epoch", epoch)
        object.__setattr__(self, "header", several("header", header, "Give a list of lines."))
        object.__setattr__(
            self, "changes", all_of_kind("changes", changes, Change, "Leave it out.")
        )
        object.__setattr__(self, "cancelled", cancelled)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {key: getattr(self, key) for key in self.__dataclass_fields__}
        parts |= {"extra": dict(self.extra), "labels": dict(self.labels)}
        return _from_parts, (parts,)

    # -- looking ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.submit)

    def __iter__(self) -> Iterator[dict[str, int]]:
        for i in range(len(self)):
            yield {column: int(getattr(self, column)[i]) for column in CORE_COLUMNS}

    def __repr__(self) -> str:
        if not len(self):
            return f"<Workload '{self.name}': no jobs>"
        days = self.span / 86_400
        return f"<Workload '{self.name}': {so_many(len(self), 'job')} over {days:,.1f} days>"

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    @property
    def work(self) -> NDArray[np.float64]:
        """Core-seconds of each job."""
        return self.cores.astype(np.float64) * self.runtime

    @property
    def span(self) -> int:
        """Seconds from the first submission to the last."""
        return int(self.submit[-1] - self.submit[0]) if len(self) else 0

    @property
    def dropped(self) -> int:
        """How many jobs of the log were left out."""
        return sum(change.count for change in self.changes if change.dropped)

    @property
    def real_start(self) -> Ints | None:
        """When each job really began; None where the log does not tell it of every job."""
        start = self.extra.get("real_start")
        if start is None or not len(self) or (start < self.submit).any():
            return None
        return start

    def to_frame(self) -> pd.DataFrame:
        """Return the jobs as a pandas table, one row a job; ``from_frame`` is the way back."""
        import pandas as pd

        columns = {column: getattr(self, column) for column in CORE_COLUMNS}
        return pd.DataFrame({**columns, **self.extra})

    def load(self, cores: int) -> float:
        """Return the offered load: the work over what ``cores`` processors can do in the span."""
        return float(self.work.sum() / (cores * self.span)) if self.span else float("inf")

    def label(self, column: str, code: int) -> str:
        """Return what a number of a column stands for, or the number where it has no name."""
        names = self.labels.get(column, ())
        return names[code] if 0 <= code < len(names) else str(code)

    def describe(self) -> Description:
        """Summarise arrivals, sizes, runtimes, estimates and load."""
        from queuesmith.workload.describe import description_of

        return description_of(self)

    # -- making another workload of it -----------------------------------------------------

    def select(self, chosen: ArrayLike) -> Workload:
        """Keep the jobs of a mask or of a list of positions.

        Of those that were cancelled, the ones submitted from the first of these to the last stay.
        """
        index = positions(chosen, len(self), self.name)
        columns = {column: getattr(self, column)[index] for column in CORE_COLUMNS}
        extra = {key: values[index] for key, values in self.extra.items()}
        cancelled = self._cancelled_beside(columns["submit"])
        return self.replaced(**columns, extra=extra, cancelled=cancelled)

    def _cancelled_beside(self, submit: Ints) -> Workload | None:
        if self.cancelled is None or not len(submit):
            return None
        other = self.cancelled.submit
        inside = (other >= submit.min()) & (other <= submit.max())
        return self.cancelled.select(inside) if inside.any() else None

    def replaced(self, **parts: Any) -> Workload:
        """Return a copy with some columns or facts replaced; the rest is shared.

        Where arrivals are moved, jobs that were cancelled no longer belong to them.
        """
        kept = {key: getattr(self, key) for key in self.__dataclass_fields__}
        if "submit" in parts:
            kept["cancelled"] = None
        return Workload(**{**kept, **parts})

    def noting(self, *changes: Change) -> Workload:
        """Return a copy that remembers further changes; those of no job are passed over."""
        counted = tuple(change for change in changes if change.count)
        return self.replaced(changes=(*self.changes, *counted)) if counted else self

    def head(self, count: int) -> Workload:
        """Keep the first jobs."""
        return self.select(np.arange(min(max(count, 0), len(self))))

    def between(self, first: Moment, last: Moment) -> Workload:
        """Keep the jobs submitted from ``first`` up to, not including, ``last``.

        Both are seconds of the log, or dates such as ``"2020-04-01"`` where the log has dates.
        """
        seconds = [second_of(moment, self.epoch, self.name) for moment in (first, last)]
        low, high = np.searchsorted(self.submit, seconds)
        return self.select(np.arange(low, high))

    def filter(self, keep: Callable[[Workload], ArrayLike]) -> Workload:
        """Keep the jobs for which a function of the workload says yes.

        >>> short = log.filter(lambda jobs: jobs.runtime < 3600)  # doctest: +SKIP
        """
        return self.select(np.asarray(keep(self), dtype=np.bool_))

    def where(self, condition: str) -> Workload:
        """Keep the jobs that meet a condition, such as ``partition == 'gpu' and cores > 64``.

        >>> wide = log.where("partition == 'gpu' and cores > 64")  # doctest: +SKIP
        """
        from queuesmith.workload.where import jobs_where

        part = self.select(jobs_where(self, condition))
        if part.cancelled is None:
            return part
        those = jobs_where(part.cancelled, condition)
        return part.replaced(cancelled=part.cancelled.select(those) if those.any() else None)

    def shift(self, seconds: int) -> Workload:
        """Submit every job so many seconds later (earlier where negative)."""
        epoch = None if self.epoch is None else self.epoch - seconds
        parts: dict[str, Any] = {"submit": self.submit + seconds, "epoch": epoch}
        if "real_start" in self.extra:
            parts["extra"] = {**self.extra, "real_start": self.extra["real_start"] + seconds}
        if self.cancelled is not None:
            parts["cancelled"] = self.cancelled.shift(seconds)
        return self.replaced(**parts)

    def with_load_factor(self, factor: float) -> Workload:
        """Multiply the load by a factor: arrivals move closer together or further apart."""
        if not 0 < factor < float("inf"):
            raise WorkloadError(
                f"the load factor is {factor}, but it must be above 0. "
                "Give 1.2 for a fifth more load."
            )
        if self.span / factor > LARGEST_TIME:
            raise WorkloadError(
                f"the load factor is {factor}, but that spreads the jobs over more than "
                f"{LARGEST_TIME:,} seconds. Give a larger one."
            )
        origin = int(self.submit[0]) if len(self) else 0
        submit = origin + np.rint((self.submit - origin) / factor).astype(np.int64)
        # What really happened no longer belongs to these arrivals.
        extra = {key: values for key, values in self.extra.items() if key != "real_start"}
        return self.replaced(submit=submit, extra=extra, epoch=None)

    def with_load(self, load: float, cores: int) -> Workload:
        """Move arrivals so that the offered load on ``cores`` processors is ``load``."""
        now = self.load(cores)
        if not 0 < now < float("inf"):
            raise WorkloadError(
                f"workload '{self.name}' offers a load of {now}, but only a load above 0 can be "
                "changed. Give jobs that run, submitted at different times."
            )
        if not 0 < load < float("inf"):
            raise WorkloadError(
                f"the load is {load}, but it must be above 0. Give for example 0.85."
            )
        return self.with_load_factor(load / now)

    def grouped(
        self, thresholds: tuple[float, ...] = DEFAULT_THRESHOLDS, *, by: str = "share"
    ) -> Workload:
        """Group users by their share of the resources, or by a column of the log.

        Parameters
        ----------
        thresholds
            Shares in falling order; group 1 holds the users above the first, and so on.
        by
            ``"share"``, or the name of an extra column whose numbers become the groups. Names are
            numbered from 1 in their order; group 0, ``none``, are jobs without one.

        Jobs that were cancelled get the groups of their users, or of their column.
        """
        found, other = self._grouped(thresholds, by), self.cancelled
        if other is None:
            return found
        if by != "share":
            return found.replaced(cancelled=other.grouped(by=by))
        groups = groups_of_users(other.user, self.user, found.group, len(thresholds) + 1)
        return found.replaced(cancelled=other.replaced(group=groups))

    def _grouped(self, thresholds: tuple[float, ...], by: str) -> Workload:
        unnamed = {name: each for name, each in self.labels.items() if name != "group"}
        if by == "share":
            groups = share_groups(self.user, self.work, thresholds)
            return self.replaced(group=groups, labels=unnamed)
        if by not in self.extra or not np.issubdtype(self.extra[by].dtype, np.integer):
            numeric = [k for k, v in self.extra.items() if np.issubdtype(v.dtype, np.integer)]
            raise UsageError(
                f"workload '{self.name}' has no whole-number column '{by}' to group by. "
                f"{did_you_mean(by, ['share', *numeric])}Choose 'share' or one of: "
                f"{', '.join(numeric) or '(none)'}."
            )
        if by not in self.labels:
            return self.replaced(group=self.extra[by], labels=unnamed)
        groups, names = named_groups(self.extra[by], self.labels[by])
        return self.replaced(group=groups, labels={**unnamed, "group": names})

    def fitting(self, cores: int, *, strict: bool = False) -> Workload:
        """Leave out, and count, jobs wider than a machine of ``cores`` processors."""
        wide = self.cores > cores
        count = int(np.count_nonzero(wide))
        if not count:
            return self
        first = int(np.argmax(wide))
        sentence = f"job {self.id[first]} asks for {self.cores[first]} cores, but there are {cores}"
        if strict:
            raise WorkloadError(f"{sentence}. Leave such jobs out by not asking for --strict.")
        if count == len(self):
            raise WorkloadError(
                f"{sentence}, and no other job of '{self.name}' fits either. "
                "Give the number of cores of the machine that the log comes from."
            )
        change = Change(f"wider than the machine's {so_many(cores, 'core')}", count, dropped=True)
        return self.select(~wide).noting(change)

    def renamed(self, name: str) -> Workload:
        """Return the same jobs under another name."""
        return self.replaced(name=name)


def task_cores(workload: Workload) -> Ints:
    """Return the cores without which a job cannot run: of one task, or of the whole job."""
    cores: Ints = workload.extra.get(TASK_CORES, workload.cores)
    return cores


def _checked_labels(labels: Mapping[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]]:
    if labels is None:
        return {}
    way_out = "Give the names of a column's numbers, from 0 up: {'user': ['ann', 'bob']}."
    columns = table("labels", labels, way_out)
    return {key: several(f"labels of '{key}'", names, way_out) for key, names in columns.items()}


def _from_parts(parts: dict[str, Any]) -> Workload:
    return Workload(**parts)


def checked_workload(value: object) -> Workload:
    """Return a workload, or say how to get one from what was given instead."""
    way_out = "Read a file with read(...), make one of a pandas table with from_frame(...)."
    return of_kind("the log", value, Workload, way_out)


def describe(workload: Workload) -> Description:
    """Summarise arrivals, sizes, runtimes, estimates and load of a workload."""
    return checked_workload(workload).describe()

"""The jobs of a running Slurm, as squeue and sprio tell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from queuesmith.live.queries import JOB_FIELDS, PRIORITY_FIELDS, SEPARATOR
from queuesmith.workload.slurm_text import count, duration

#: The walltime of a job that may run for ever: a year.
ENDLESS = 365 * 86_400
WAITING = ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
HOLDING = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "SIGNALING", "RESIZING")
#: A priority this far from the sum of its parts was set by hand; parts are rounded one by one.
ROUNDING = 12
_NOTHING = ("", "(null)", "n/a", "none")
_HELD = re.compile(r"held|JobHoldMaxRequeue|launch failed requeued", re.IGNORECASE)


@dataclass(frozen=True)
class Priority:
    """What a waiting job's priority is made of.

    Parameters
    ----------
    value
        The priority that counts.
    site
        The part that a site adds; all that steering ever sets.
    parts
        The sum of all other parts, nice included: the priority without the site's part.
    """

    value: int
    site: int
    parts: int

    @property
    def natural(self) -> int:
        """The priority that the job would have without the site's part; at least 1."""
        return max(self.value - self.site if self.value > 1 else self.parts, 1)

    @property
    def by_hand(self) -> bool:
        """Whether somebody set the priority itself: then its parts do not make it up."""
        return abs(max(self.parts + self.site, 1) - self.value) > ROUNDING


@dataclass(frozen=True)
class LiveJob:
    """A job, or all waiting tasks of an array that are still one, as Slurm knows it now.

    Times are Unix seconds, or seconds; ``start`` is None where Slurm expects none. ``cores``,
    ``nodes`` and ``walltime`` are of one task.
    """

    id: int
    array: int
    tasks: int
    user: str
    account: str
    partition: str
    qos: str
    state: str
    reason: str
    priority: int
    nice: int
    cores: int
    nodes: int
    walltime: int
    elapsed: int
    start: int | None
    submit: int
    node_list: str
    reservation: str
    dependency: str
    gres: str
    sharing: str
    wanted_nodes: str
    excluded_nodes: str
    features: str
    resources: str = ""
    made_of: Priority | None = None

    @property
    def waiting(self) -> bool:
        """Whether it has not started."""
        return self.state in WAITING

    @property
    def running(self) -> bool:
        """Whether it holds nodes."""
        return self.state in HOLDING

    @property
    def held(self) -> bool:
        """Whether its user or an administrator holds it."""
        return self.priority == 0 or _HELD.search(self.reason) is not None

    @property
    def ready(self) -> bool:
        """Whether nothing but its place in the queue keeps it from starting."""
        blocked = self.reason in ("BeginTime", "Dependency", "DependencyNeverSatisfied")
        return self.waiting and not self.held and not blocked and not self.dependency


def jobs_of(queue: str, priorities: str = "", resources: str = "") -> tuple[LiveJob, ...]:
    """Read the jobs from what squeue and sprio print; lines that are no jobs are left out."""
    made_of = dict(_priorities(priorities))
    of_job = dict(_resources(resources))
    return tuple(
        replace(job, made_of=made_of.get(job.id), resources=of_job.get(job.id, ""))
        for line in queue.splitlines()
        if (job := _job(line)) is not None
    )


def _job(line: str) -> LiveJob | None:
    values = line.split(SEPARATOR)
    if len(values) != len(JOB_FIELDS) or not values[0].isdecimal():
        return None
    text = dict(zip(JOB_FIELDS, (value.strip() for value in values), strict=True))
    number = int(text["id"])
    return LiveJob(
        id=number,
        array=int(text["array"]) if text["array"].isdecimal() else number,
        tasks=tasks_in(text["tasks"]),
        user=text["user"],
        account=_text(text, "account"),
        partition=text["partition"],
        qos=_text(text, "qos"),
        state=text["state"].upper(),
        reason=text["reason"],
        priority=_number(text["priority"], int, 0),
        nice=_number(text["nice"], int, 0),
        cores=max(_number(text["cores"], count, 1), 1),
        nodes=max(_number(text["nodes"].partition("-")[0], count, 1), 1),
        walltime=_walltime(text["walltime"]),
        elapsed=max(_number(text["elapsed"], duration, 0), 0),
        start=_number(text["start"], int, -1) if text["start"].isdecimal() else None,
        submit=_number(text["submit"], int, 0),
        node_list=_text(text, "node_list"),
        reservation=_text(text, "reservation"),
        dependency=_text(text, "dependency"),
        gres=_text(text, "gres"),
        sharing=_text(text, "sharing"),
        wanted_nodes=_text(text, "wanted_nodes"),
        excluded_nodes=_text(text, "excluded_nodes"),
        features=_text(text, "features"),
    )


def _text(text: Mapping[str, str], name: str) -> str:
    return "" if text[name].lower() in _NOTHING else text[name]


def _number(text: str, parse: Callable[[str], int], otherwise: int) -> int:
    try:
        return parse(text)
    except ValueError:
        return otherwise


def _walltime(text: str) -> int:
    seconds = _number(text, duration, -1)
    return seconds if seconds > 0 else ENDLESS


def tasks_in(text: str) -> int:
    """Return how many tasks of an array a list such as ``1-5,9,20-40:10%2`` stands for.

    >>> tasks_in("1-5,9,20-40:10%2"), tasks_in("N/A")
    (9, 1)
    """
    number = 0
    for part in text.partition("%")[0].split(","):
        match = re.fullmatch(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?", part.strip())
        if match is not None:
            first, last = int(match[1]), int(match[2] or match[1])
            number += max((last - first) // max(int(match[3] or 1), 1) + 1, 0)
    return max(number, 1)


def _priorities(text: str) -> Iterator[tuple[int, Priority]]:
    """Yield each job's priority; of a job in several partitions the highest."""
    rows: dict[int, Priority] = {}
    for line in text.splitlines():
        values = [value.strip() for value in line.split("|")]
        if len(values) != len(PRIORITY_FIELDS) or not values[0].partition("_")[0].isdecimal():
            continue
        row = dict(zip(PRIORITY_FIELDS, values, strict=True))
        number = int(row["id"].partition("_")[0])
        added = ("age", "association", "fair_share", "size", "partition", "qos")
        parts = sum(_number(row[name], _whole, 0) for name in added) + _of_resources(
            row["resources"]
        )
        parts -= _number(row["nice"], _whole, 0)
        found = Priority(
            _number(row["priority"], _whole, 0), _number(row["site"], _whole, 0), parts
        )
        if number not in rows or found.value > rows[number].value:
            rows[number] = found
    yield from rows.items()


def _whole(text: str) -> int:
    return round(float(text))


def _of_resources(text: str) -> int:
    """Return the sum of a list such as ``cpu=12,mem=3``."""
    amounts = (part.partition("=")[2] for part in text.split(","))
    return sum(_number(amount, _whole, 0) for amount in amounts)


def _resources(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdecimal():
            yield int(words[0]), words[1]

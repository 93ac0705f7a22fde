"""What must be set so that the queue stands in an order: differences only, nobody else pushed.

Steered jobs share out among themselves the priorities that they have anyway: the first gets the
highest of them, and so on. A job that is not steered keeps both its priority and its place among
those values. All that is set is ``SiteFactor``, the difference between the priority that a job is
to have and the one that it has by itself. It survives holds and requeues, cannot hold or release a
job, means nothing where somebody sets a priority by hand, and 0 takes it away without a trace.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from queuesmith.live.jobs import LiveJob

#: The largest site's part that Slurm takes, with room to spare.
LARGEST_PART = 2_000_000_000
#: How far apart priorities are put where there is room: ages and shares change a little all the
#: time, at another second for each job, and that must not change the order.
SPACING = 10


@dataclass(frozen=True)
class AllowList:
    """Whose jobs may be steered; empty: everybody's."""

    partitions: frozenset[str] = field(default_factory=frozenset)
    accounts: frozenset[str] = field(default_factory=frozenset)
    users: frozenset[str] = field(default_factory=frozenset)

    def allows(self, job: LiveJob) -> bool:
        """Tell whether a job may be steered."""
        return (
            (not self.partitions or set(job.partition.split(",")) <= self.partitions)
            and (not self.accounts or job.account in self.accounts)
            and (not self.users or job.user in self.users)
        )


@dataclass(frozen=True)
class Change:
    """What is to be set for one job, or for a whole array.

    Parameters
    ----------
    job
        The number by which Slurm is told: the array's where it is one.
    user, submit
        Whose it is, and when it was submitted: numbers of jobs can come again.
    site
        The site's part that the job is to have.
    priority
        The priority that it then has.
    """

    job: int
    user: str
    submit: int
    site: int
    priority: int

    @property
    def command(self) -> str:
        """What scontrol is told."""
        return f"update JobId={self.job} SiteFactor={self.site}"


def why_not(job: LiveJob, allowed: AllowList, ours: Mapping[int, Collection[int]]) -> str | None:
    """Return why a job is not to be touched; None where it may be steered.

    Parameters
    ----------
    job
        A job.
    allowed
        Whose jobs may be steered.
    ours
        What we have set, by the array's number.
    """
    if not job.ready:
        return "it is held, or not yet due"
    if not allowed.allows(job):
        return "it is not on the allow-list"
    if job.made_of is None:
        return "sprio does not tell what its priority is made of"
    if job.made_of.by_hand:
        return "its priority was set by hand"
    if job.nice < 0:
        return "an administrator gave it a negative nice"
    if job.made_of.site and job.made_of.site not in ours.get(job.array, ()):
        return "somebody else has set its SiteFactor"
    if job.reservation:
        return "it runs in a reservation"
    return None


def movable(
    order: Sequence[LiveJob], allowed: AllowList, ours: Mapping[int, Collection[int]]
) -> list[LiveJob]:
    """Return those jobs of an order that may be steered, of each array one.

    An array is told as a whole, so it is left alone where one of its parts must be.
    """
    untouched = {job.array for job in order if why_not(job, allowed, ours) is not None}
    found: dict[int, LiveJob] = {}
    for job in order:
        if job.array not in untouched:
            found.setdefault(job.array, job)
    return list(found.values())


def with_the_others(
    today: Sequence[LiveJob], moved: Sequence[LiveJob], order: Sequence[LiveJob]
) -> tuple[LiveJob, ...]:
    """Return an order in which jobs that may not be steered keep today's places.

    Parameters
    ----------
    today
        All jobs as they stand.
    moved
        Those that may be steered, of each array one.
    order
        All jobs as they are wanted.
    """
    arrays = {job.array for job in moved}
    others = iter(job for job in order if job.array in arrays)
    return tuple(next(others) if job.array in arrays else job for job in today)


def changes_for(jobs: Sequence[LiveJob]) -> list[Change]:
    """Return what must be set so that jobs stand in this order, the most urgent first.

    Most jobs that stand in the right order among themselves keep what they have; others are put
    between them where there is room.
    """
    natural = [_natural(job) for job in jobs]
    present = [_present(job) for job in jobs]
    wanted = _between(present, natural) or _shared_out(natural)
    found = []
    for job, own, has, value in zip(jobs, natural, present, wanted, strict=True):
        site = max(min(value - own, LARGEST_PART), -LARGEST_PART)
        if value != has:
            found.append(Change(job.array, job.user, job.submit, site, value))
    return found


def _natural(job: LiveJob) -> int:
    assert job.made_of is not None  # others are not movable
    return job.made_of.natural


def _present(job: LiveJob) -> int:
    assert job.made_of is not None
    return max(job.made_of.value, 1)


def _shared_out(natural: Sequence[int]) -> list[int]:
    """Return the priorities of all, the highest first, none near another, none below 1."""
    values = sorted((max(value, 1) for value in natural), reverse=True)
    for i in range(len(values) - 2, -1, -1):
        values[i] = max(values[i], values[i + 1] + SPACING)
    return values


def _between(present: Sequence[int], natural: Sequence[int]) -> list[int] | None:
    """Return priorities that put the others between those that stay; None without room.

    Nobody leaves the range of the priorities that all have by themselves by more than there are
    jobs, times the spacing, so that nobody else is overtaken or lets others pass for that.
    """
    stays = _longest_fall(present)
    values = list(present)
    ceiling = max(natural, default=0) + SPACING * (len(present) + 1)
    floor = max(min(natural, default=0) - SPACING * (len(present) + 1), 0)
    for first, last in _gaps(stays, len(present)):
        above = values[first - 1] if first else ceiling
        below = values[last] if last < len(values) else floor
        room = above - below - 1
        if room < last - first:
            return None
        for number, place in enumerate(range(first, last), 1):
            values[place] = above - number * (room + 1) // (last - first + 1)
    return values if all(a > b for a, b in pairwise(values)) else None


def _gaps(stays: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Return the runs of places, each from the first up to, not including, the last, between."""
    edges = [-1, *stays, count]
    return [(before + 1, after) for before, after in pairwise(edges) if after > before + 1]


def _longest_fall(values: Sequence[int]) -> list[int]:
    """Return the places of a longest strictly falling part of the values."""
    tails: list[int] = []  # the negative of the last value of the best part of each length
    at: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        length = bisect_left(tails, -value)
        if length == len(tails):
            tails.append(-value)
            at.append(place)
        else:
            tails[length], at[length] = -value, place
        before.append(at[length - 1] if length else -1)
    chain = []
    place = at[-1] if at else -1
    while place >= 0:
        chain.append(place)
        place = before[place]
    return chain[::-1]

"""The limits behind a log: what several reached while they waited, and none exceeded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster.inference.history import JobHistory
from queuesmith.cluster.levels import Levels, peaks
from queuesmith.cluster.limits import Amounts, Association, Limits, QualityOfService
from queuesmith.cluster.nodes import Partition

#: A limit is believed where so many reached it, none exceeded it, and each had jobs waiting at it
#: for so many seconds.
REACHED_BY, WAITED_AT_LIMIT = 3, 3600
#: A partition has a limit where its jobs held nearly its peak for this share of their waiting.
HELD_SHARE = 0.25
#: Jobs of a partition must have waited for so many seconds in all.
LEAST_WAITING = 86_400
#: A peak this near to the whole machine is the machine, not a limit.
NEARLY_ALL = 0.9


def partition_caps(
    seen: JobHistory, partitions: tuple[Partition, ...], cores: int, inferred: dict[str, str]
) -> dict[str, QualityOfService]:
    """Return the most cores of a partition that its jobs never exceeded, though they waited."""
    number = {partition.name: i for i, partition in enumerate(partitions)}
    line = np.array([number.get(name, -1) for name in seen.partition], np.int64)
    found = seen.by(line, seen.workload.cores)
    caps = {}
    for partition, most in zip(partitions, peaks(found, len(partitions)), strict=True):
        own = found.line == number[partition.name]
        waiting = own & (found.waiting > 0)
        waited = int(found.lasts[waiting].sum())
        at_most = int(found.lasts[waiting & (found.held >= NEARLY_ALL * most)].sum())
        if most < NEARLY_ALL * cores and waited >= LEAST_WAITING and at_most >= HELD_SHARE * waited:
            limits = Limits(group=Amounts(cores=int(most)))
            caps[partition.name] = QualityOfService(_cap_name(partition), limits=limits)
            inferred[f"cores of partition {partition.name}"] = (
                f"never more than {most} at once, and nearly so many for {at_most / waited:.0%} of "
                "the time during which its jobs waited"
            )
    return caps


def capped(partition: Partition, caps: dict[str, QualityOfService]) -> Partition:
    """Return a partition with its limit, where one was found."""
    capped = partition.name in caps
    return replace(partition, qos=_cap_name(partition)) if capped else partition


def _cap_name(partition: Partition) -> str:
    return f"partition {partition.name}"


def user_qos(
    seen: JobHistory, cores: int, inferred: dict[str, str]
) -> tuple[QualityOfService, ...]:
    """Return the QOS that jobs name, with the limits of users that several reached."""
    texts = seen.names("qos")
    names = [name for name in dict.fromkeys(texts) if name] or ["normal"]
    found = []
    for name in names:
        own = np.ones(len(texts), np.bool_) if (texts == "").all() else texts == name
        limits = _user_limits(seen, own, cores)
        found.append(QualityOfService(name, limits=limits))
        for thing, amount in (("jobs", limits.user.jobs), ("cores", limits.user.cores)):
            if amount is not None:
                inferred[f"qos {name}: {thing} of a user"] = (
                    f"at least {REACHED_BY} users reached {amount} while more of their jobs "
                    "waited, and none exceeded it"
                )
    return tuple(found)


def _user_limits(seen: JobHistory, own: NDArray[np.bool_], cores: int) -> Limits:
    line = np.where(own, seen.workload.user, -1)
    one = np.ones(len(line), np.int64)
    jobs = _reached(seen.by(line, one), least=2)
    held = _reached(seen.by(line, seen.workload.cores), least=2)
    if held is not None and held >= NEARLY_ALL * cores:
        held = None
    return Limits(user=Amounts(jobs=jobs, cores=held))


def _reached(found: Levels, least: int) -> int | None:
    """Return the most that anybody held, where several did so for long while more waited."""
    if not len(found.held):
        return None
    most = int(found.held.max())
    at_limit = (found.held == most) & (found.waiting > 0)
    waited = np.zeros(int(found.line.max()) + 1, np.int64)
    np.add.at(waited, found.line[at_limit], found.lasts[at_limit])
    several = np.count_nonzero(waited >= WAITED_AT_LIMIT) >= REACHED_BY
    return most if several and most >= least else None


def accounts_of(seen: JobHistory, inferred: dict[str, str]) -> tuple[Association, ...]:
    """Return the accounts and users of the jobs, with equal shares."""
    accounts, users = seen.names("account"), seen.names("user")
    pairs = dict.fromkeys(zip(accounts, users, strict=True))
    named = [(account, user) for account, user in pairs if account]
    if not named:
        return ()
    inferred["accounts"] = (
        "the accounts and users of the jobs; their shares are not known: all alike"
    )
    used = Counter(zip(users, accounts, strict=True))
    links = [Association(account) for account in dict.fromkeys(account for account, _ in named)]
    favourite: dict[str, str] = {}
    for (user, account), _ in used.most_common():
        favourite.setdefault(user, account)
    for account, user in named:
        if user:
            links.append(Association(account, user, default=favourite[user] == account))
    return tuple(links)

"""How much one job, one user, one account may hold, and who has which share of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import number, whole_number
from queuesmith.base.errors import ClusterError
from queuesmith.workload.workload import Ints

ROOT = "root"


@dataclass(frozen=True)
class Amounts:
    """The most, or the least, of each thing; None: no limit.

    Parameters
    ----------
    cores, nodes, memory, gpus
        Held at once; memory in MB.
    jobs, submitted
        Jobs that run at once, and jobs that run or wait.
    core_minutes, running_core_minutes, minutes
        Core-minutes used so far; core-minutes that running jobs may still use; wall-clock minutes
        used so far.
    gres
        Other resources, and GPUs of one type, by name: ``{"gpu:v100": 4}``.
    """

    cores: int | None = None
    nodes: int | None = None
    memory: int | None = None
    gpus: int | None = None
    jobs: int | None = None
    submitted: int | None = None
    core_minutes: int | None = None
    running_core_minutes: int | None = None
    minutes: int | None = None
    gres: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "gres"}
        for name, amount in {**given, **self.gres}.items():
            if amount is not None:
                whole_number(f"a limit of {name}", amount, 0, "Leave it out for no limit.")

    def __bool__(self) -> bool:
        return self != Amounts()

    def or_else(self, other: Amounts) -> Amounts:
        """Return these amounts, and those of another where these say nothing."""
        if not other:
            return self
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "gres"}
        filled = {n: getattr(other, n) if value is None else value for n, value in own.items()}
        return Amounts(**filled, gres={**other.gres, **self.gres})


NO_LIMIT = Amounts()


@dataclass(frozen=True)
class Limits:
    """What must not be exceeded, by whom it is counted.

    Parameters
    ----------
    job
        By a single job.
    job_least
        Less than this no job may ask for.
    node
        By a single job on one node.
    user, account
        By all jobs of a user, or of an account, together.
    group
        By all jobs that the limit is about: all of a QOS, or of an account with those below it.
    max_time
        The longest walltime, in seconds.
    """

    job: Amounts = NO_LIMIT
    job_least: Amounts = NO_LIMIT
    node: Amounts = NO_LIMIT
    user: Amounts = NO_LIMIT
    account: Amounts = NO_LIMIT
    group: Amounts = NO_LIMIT
    max_time: int | None = None

    def __post_init__(self) -> None:
        if self.max_time is not None:
            whole_number("a limit of time", self.max_time, 1, "Leave it out for no limit.")

    def or_else(self, other: Limits) -> Limits:
        """Return these limits, and those of another where these say nothing."""
        amounts = {
            name: getattr(self, name).or_else(getattr(other, name)) for name in AMOUNTS_OF_LIMITS
        }
        max_time = other.max_time if self.max_time is None else self.max_time
        return Limits(**amounts, max_time=max_time)


AMOUNTS_OF_LIMITS = ("job", "job_least", "node", "user", "account", "group")


@dataclass(frozen=True)
class QualityOfService:
    """A quality of service (QOS): a priority and limits that jobs choose by its name.

    Parameters
    ----------
    name
        What jobs call it.
    priority
        Its part in a job's priority.
    limits
        What its jobs must keep to.
    flags
        What Slurm calls flags, such as ``DenyOnLimit`` or ``OverPartQOS``.
    preempts, preempt_mode, grace_time
        The QOS whose jobs it may preempt, what becomes of its own jobs when they are, and the
        seconds they have left then.
    usage_factor
        By how much its use counts in fair-share.
    preempt_exempt_time
        The seconds after its begin in which a job is not preempted; None: as the cluster has it.
    """

    name: str
    priority: int = 0
    limits: Limits = Limits()
    flags: tuple[str, ...] = ()
    preempts: tuple[str, ...] = ()
    preempt_mode: str | None = None
    grace_time: int = 0
    usage_factor: float = 1.0
    preempt_exempt_time: int | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ClusterError("a QOS has no name, but jobs ask for it by name. Give one.")
        what = f"QOS '{self.name}'"
        whole_number(f"priority of {what}", self.priority, 0, "Give a number from 0 up.")
        whole_number(f"grace_time of {what}", self.grace_time, 0, "Give seconds from 0 up.")
        if self.preempt_exempt_time is not None:
            exempt = self.preempt_exempt_time
            whole_number(f"preempt_exempt_time of {what}", exempt, 0, "Give seconds from 0 up.")
        number(f"usage_factor of {what}", self.usage_factor, 0, 1e12, "Give a number from 0 up.")
        for name in ("flags", "preempts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True)
class Association:
    """An account, or a user of an account: its share of the machine and its limits.

    Parameters
    ----------
    account, user
        Whom it is about; without a user it is the account itself.
    partition
        Where it holds for one partition alone.
    parent
        The account above an account.
    shares
        The share among those of the same parent; None: it counts as its parent does.
    limits
        What must be kept to. ``group`` is about all below an account together; what else an
        account states holds for each user below who states nothing.
    qos, default_qos
        The QOS that its jobs may ask for, and the one they have if they ask for none.
    default
        Whether jobs of this user that name no account belong to this one.
    """

    account: str
    user: str | None = None
    partition: str | None = None
    parent: str = ROOT
    shares: int | None = 1
    limits: Limits = Limits()
    qos: tuple[str, ...] = ()
    default_qos: str | None = None
    default: bool = False

    def __post_init__(self) -> None:
        if not self.account:
            raise ClusterError(f"the association of user '{self.user}' has no account. Give one.")
        if self.shares is not None:
            whole_number(f"shares of {self}", self.shares, 0, "Give a number from 0 up.")
        object.__setattr__(self, "qos", tuple(self.qos))

    def __str__(self) -> str:
        if self.user is None:
            return f"account '{self.account}'"
        where = f" in partition '{self.partition}'" if self.partition else ""
        return f"user '{self.user}' of account '{self.account}'{where}"

    @property
    def key(self) -> tuple[str, str | None, str | None]:
        """What tells it from all others."""
        return self.account, self.user, self.partition


class ShareTree(NamedTuple):
    """The accounts and users as a tree, parents before children; the root is number 0.

    Attributes
    ----------
    parent
        The number of the parent; -1 of the root.
    shares
        The shares among siblings; -1 where one counts as its parent does.
    account
        The number of the account itself where it is a user's, and its own number where it is one.
    is_user
        Whether it is a user, a leaf.
    """

    parent: Ints
    shares: Ints
    account: Ints
    is_user: NDArray[np.bool_]


def ordered(associations: Iterable[Association]) -> tuple[Association, ...]:
    """Return associations with parents before children and the root account first.

    Accounts that only users or other accounts name are added; one that is its own ancestor, or
    stands there twice, is an error.
    """
    given: dict[tuple[str, str | None, str | None], Association] = {}
    for each in associations:
        if each.key in given:
            raise ClusterError(f"{each} stands twice among the associations. Give it once.")
        given[each.key] = each
    accounts = {each.account: each for each in given.values() if each.user is None}
    accounts.setdefault(ROOT, Association(ROOT))
    for each in [*given.values()]:
        for name in (each.account, each.parent):
            accounts.setdefault(name, Association(name))
    in_order: dict[str, Association] = {}
    for name in accounts:
        for ancestor in reversed(_ancestry(name, accounts)):
            in_order.setdefault(ancestor, accounts[ancestor])
    users = [each for each in given.values() if each.user is not None]
    return (*in_order.values(), *users)


def _ancestry(name: str, accounts: Mapping[str, Association]) -> list[str]:
    path = [name]
    while path[-1] != ROOT:
        path.append(accounts[path[-1]].parent)
        if path[-1] in path[:-1]:
            raise ClusterError(
                f"account '{name}' is its own ancestor ({' < '.join(path)}), but accounts form a "
                "tree below root. Correct a parent."
            )
    return path


def share_tree(associations: Sequence[Association]) -> ShareTree:
    """Return the tree of shares as arrays, in the order of associations that are `ordered`."""
    number_of = {each.account: i for i, each in enumerate(associations) if each.user is None}
    parent = [
        number_of[each.account if each.user is not None else each.parent] for each in associations
    ]
    if parent:
        parent[0] = -1
    return ShareTree(
        parent=np.array(parent, np.int64),
        shares=np.array([-1 if a.shares is None else a.shares for a in associations], np.int64),
        account=np.array([number_of[a.account] for a in associations], np.int64),
        is_user=np.array([a.user is not None for a in associations], np.bool_),
    )


def inherited(associations: Sequence[Association]) -> tuple[Association, ...]:
    """Return associations with what users and accounts take over from the accounts above them.

    ``group`` limits stay with the account that states them: they hold for all below together.
    """
    tree = share_tree(associations)
    resolved: list[Association] = []
    for each, above in zip(associations, tree.parent, strict=True):
        if above < 0:
            resolved.append(each)
            continue
        parent = resolved[above]
        limits = each.limits.or_else(replace(parent.limits, group=NO_LIMIT))
        qos, default_qos = each.qos or parent.qos, each.default_qos or parent.default_qos
        resolved.append(replace(each, limits=limits, qos=qos, default_qos=default_qos))
    return tuple(resolved)

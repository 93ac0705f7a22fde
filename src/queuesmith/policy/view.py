"""What an order can see: one waiting job, and the machine.

The true runtime is not among it: a scheduler does not know it.
"""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import NamedTuple, cast


class Job(NamedTuple):
    """A waiting job, as an order function sees it."""

    id: int
    submit: int
    walltime: int
    cores: int
    log_walltime: float  # natural logarithms of the two, computed once for each job
    log_cores: float
    user: int
    group: int
    partition_factor: float  # priority of its partition, 0 to 1
    qos_factor: float  # priority of its quality of service, 0 to 1
    usage_share: float  # its user's part of the decayed usage of all users, 0 to 1
    user_share: float  # the part that each user is entitled to, 0 to 1
    fair_share: float  # 1 for a user without usage, halved for each user_share that was used
    nodes: int  # what it asks for where the log tells: nodes (else 1), MB and GPUs in all (else 0)
    memory: int
    gpus: int
    partition: int  # numbers by which the log knows these names; -1 where it does not tell
    qos: int
    account: int


#: The fields of a job that only some logs tell.
ASKED_FIELDS = ("nodes", "memory", "gpus", "partition", "qos", "account")


@lru_cache(maxsize=64)
def job_view(own: tuple[str, ...]) -> type[Job]:
    """Return what an order sees of a job of a log with columns of its own, after all others."""
    return cast(type[Job], namedtuple("Job", (*Job._fields, *own))) if own else Job


class Machine(NamedTuple):
    """The state of the machine at the instant of the decision."""

    cores: int
    free: int
    waiting: int  # how many jobs wait


class Head(NamedTuple):
    """The first job of the queue, which does not fit, as a backfill function sees it."""

    submit: int
    walltime: int
    cores: int
    reserved: int  # when it can start at the latest, if running jobs end by their walltimes
    spare: int  # cores that are free then besides its own

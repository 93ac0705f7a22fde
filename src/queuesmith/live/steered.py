"""By what a queue is being steered: said by the steerer, for forecasts to know."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from queuesmith.base.checks import positive
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.files import atomic_write
from queuesmith.live.changes import AllowList
from queuesmith.live.journal import is_steered, said_files
from queuesmith.policy import AnyPolicy, load_policy


@dataclass(frozen=True)
class Steered:
    """How a queue is steered.

    Parameters
    ----------
    policy
        The policy whose order it is kept in.
    every
        Seconds from one cycle of the steerer to the next.
    allowed
        Whose jobs are steered.
    """

    policy: AnyPolicy
    every: float = 30.0
    allowed: AllowList = field(default_factory=AllowList)

    def __post_init__(self) -> None:
        positive("the time between cycles", self.every, "Give for example 30.")


def say(folder: Path, cluster: str, steered: Steered) -> None:
    """Let others know by what a cluster is steered, until the journal forgets all that was set."""
    policy, how = said_files(folder, cluster)
    if how.exists():
        return
    steered.policy.save(policy)
    facts: dict[str, object] = {"every": steered.every}
    facts |= {name: sorted(names) for name, names in vars(steered.allowed).items()}
    with atomic_write(how) as file:
        file.write((json.dumps(facts) + "\n").encode())


def steered_now(folder: Path, cluster: str) -> Steered | None:
    """Return by what a cluster is steered from this machine; None where it is not, as far as known.

    Parameters
    ----------
    folder
        Where the steerer has its journal.
    cluster
        The name of the cluster.
    """
    policy, how = said_files(folder, cluster)
    if not is_steered(folder, cluster):
        return None
    try:
        facts = json.loads(how.read_bytes())
        names = ("partitions", "accounts", "users")
        allowed = AllowList(*(frozenset(facts[name]) for name in names))
        return Steered(load_policy(policy), float(facts["every"]), allowed)
    except (OSError, ValueError, KeyError, TypeError, QueuesmithError):
        return None  # it has just stopped, or is somebody else's

"""What all policies have in common, whether they sort one way, switch, or plan."""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PolicyError
from queuesmith.base.files import atomic_write
from queuesmith.base.json import read_json
from queuesmith.cluster import Cluster
from queuesmith.policy import trust as trusting
from queuesmith.policy import user_files
from queuesmith.workload import Workload
from queuesmith.workload.group_names import GroupNames

#: The kind of a policy file that holds nothing but how the policy is written.
WRITTEN = "written"


class AnyPolicy(ABC):
    """How a waiting queue becomes starts, in whatever way it is decided.

    Its text is what one writes to choose it; it can be saved as a small JSON file.
    """

    #: What the groups that it knows are called; None where it knows none, or they have no names.
    groups: GroupNames | None = None

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds, names of groups apart."""

    def having(self, **parameters: float) -> Self:
        """Return the policy with other values of its parameters."""
        if not parameters:
            return self
        raise PolicyError(
            f"policy '{self}' has no parameter '{next(iter(parameters))}' that could be set. "
            "Leave --set out; it is for policies written order+backfill."
        )

    @property
    def tunable(self) -> Mapping[str, float]:
        """The parameters that a search may change, with the values they have; none by default."""
        return {}

    def tuned(self, values: Mapping[str, float]) -> Self:
        """Return the policy with values that a search proposes, made such as it can take."""
        return self.having(**values)

    def for_groups(self, groups: GroupNames | None) -> Self:
        """Return the policy for groups of these names, whatever their numbers are in a log.

        As it is where it does not look at groups at all, as far as its text tells.
        """
        if groups is None:
            return self
        text = json.dumps(self.to_dict())
        if "group" not in text and ".py:" not in text:
            return self
        other = copy.copy(self)
        object.__setattr__(other, "groups", groups)  # policies are frozen
        return other

    def replaced(self, **parts: Any) -> Self:
        """Return the policy with other parts, for the same groups."""
        return replace(self, **parts).for_groups(self.groups)  # type: ignore[type-var]

    def content(self) -> dict[str, Any]:
        """Return what the JSON file holds, names of groups included."""
        named = {} if self.groups is None else {"groups": self.groups.to_dict()}
        return self.to_dict() | named

    def save(self, path: str | Path) -> None:
        """Write the policy as a small JSON file.

        Files of own orders are named from its folder where they lie below that, and trusted: who
        saves a policy has run them.
        """
        content = user_files.relative(self.content(), path)
        with atomic_write(path) as file:
            file.write((json.dumps(content, indent=2) + "\n").encode())
        trusting.remember(user_files.found(content, path)[1])


class Watch(Protocol):
    """Who watches a replay: is told how far it is, and may want it to stop."""

    @property
    def cancelled(self) -> bool:
        """Whether the replay should stop at its next event; what it returns then is not used."""

    def arrived(self, count: int) -> None:
        """Take note that so many jobs have arrived so far."""


class SelfReplaying(AnyPolicy):
    """A policy that replays a workload by itself, in Python, for the engine has no loop for it.

    Its text must be one that an entry point reads, or it cannot be loaded again.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds: the policy as it is written."""
        return {"kind": WRITTEN, "policy": str(self)}

    @abstractmethod
    def replay(self, workload: Workload, cluster: Cluster, watch: Watch) -> NDArray[np.int64]:
        """Return the start of each job; all of them fit the cluster."""


@contextmanager
def opened_policy_file(
    path: str | Path, *, trust: bool = False
) -> Iterator[tuple[dict[str, Any], GroupNames | None]]:
    """Give what a policy's JSON file holds, files of own orders by where they were found, and the
    names of groups that it was learned for.

    Only within may these files be run, and only where they are trusted.
    """
    content = read_json(path, f"policy file '{path}'", error=PolicyError)
    if not isinstance(content, dict):
        raise PolicyError(
            f"policy file '{path}' does not describe a policy: it must be an object with 'order' "
            "and, if wanted, 'parameters', 'backfill', 'depth' and 'keep', or with 'kind'. "
            "Correct it."
        )
    placed, files = user_files.found(content, path)
    with trusting.only_trusted(path, files, trust=trust):
        groups = GroupNames.from_dict(placed.pop("groups"), path) if "groups" in placed else None
        yield placed, groups

"""What the numbers of groups stand for, where a column of the log names them.

Names are numbered by the alphabet, log by log, so the same number may be another name elsewhere:
whoever learned something of groups must keep their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.base.errors import PolicyError, WorkloadError
from queuesmith.workload.groups import DEFAULT_THRESHOLDS, NOBODY, named_groups
from queuesmith.workload.workload import Workload

#: How many names a message tells.
FEW = 5


def grouped_for(groups: GroupNames | None, workload: Workload) -> Workload:
    """Return a workload in groups by the column that these names are of, where it has that."""
    if groups is None or groups.column not in workload.extra:
        return workload
    return workload.grouped(by=groups.column)


@dataclass(frozen=True)
class GroupNames:
    """The names of groups, and where they are from.

    Parameters
    ----------
    column
        The column of the log that groups were made of; ``group`` where the log has them itself.
    names
        What the numbers stand for, from 0 on, which is the group of jobs without a name.
    """

    column: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, workload: Workload, likely: str = "") -> GroupNames | None:
        """Return what a workload's groups are called; None where they have no names.

        Where several columns divide the jobs alike, the likely one is taken, or the first.
        """
        names = workload.labels.get("group")
        if names is None:
            return None
        columns = [column for column in workload.extra if column in workload.labels]
        for column in sorted(columns, key=lambda column: column != likely):
            groups, known = named_groups(workload.extra[column], workload.labels[column])
            if known == names and np.array_equal(groups, workload.group):
                return cls(column, names)
        return cls("group", names)

    @classmethod
    def from_dict(cls, content: Any, path: Any) -> GroupNames:
        """Read names from what a policy's file holds; the path is for messages."""
        match content:
            case {"column": str(column), "names": [*names]} if all(
                isinstance(name, str) for name in names
            ) and len(set(names)) == len(names):
                return cls(column, tuple(names))
        raise PolicyError(
            f"policy file '{path}' must have as 'groups' an object with 'column', a text, and "
            "'names', different texts: what groups 0, 1 and so on are called. Correct it."
        )

    def __str__(self) -> str:
        told = (f"{number} is {name}" for number, name in enumerate(self.names[1 : FEW + 1], 1))
        more = len(self.names) - 1 - FEW
        return f"{', '.join(told)}" + (f", and {more:,} more" if more > 0 else "")

    def to_dict(self) -> dict[str, Any]:
        """Return what a policy's file holds."""
        return {"column": self.column, "names": list(self.names)}

    def grouped(self, workload: Workload) -> Workload:
        """Return a workload in groups by this column, of which these names are known, too.

        So none of its jobs need be of a name that is known here.
        """
        own = workload.labels.get(self.column, ())
        further = (name for name in self.names if name not in (NOBODY, *own))
        labels = {**workload.labels, self.column: (*own, *further)}
        return workload.replaced(labels=labels).grouped(by=self.column)

    def numbered(self, workload: Workload, policy: object) -> Workload:
        """Return a workload with its groups numbered as here; those of other names are the last.

        Where the log has this column, groups are by it, whatever they were. The policy is for
        messages.
        """
        if GroupNames.of(workload, self.column) == self:
            return workload
        known = grouped_for(self, workload)
        own = GroupNames.of(known, self.column)
        self._check(own, workload, policy)
        assert own is not None
        number = {name: place for place, name in enumerate(self.names)}
        new = max(len(self.names), len(DEFAULT_THRESHOLDS) + 1)  # orders favour none from there on
        groups = np.array([number.get(name, new) for name in own.names], np.int64)
        gone = known.cancelled
        return workload.replaced(
            group=groups[known.group],
            labels={name: each for name, each in workload.labels.items() if name != "group"},
            cancelled=None if gone is None else self.numbered(gone, policy),
        )

    def _check(self, own: GroupNames | None, workload: Workload, policy: object) -> None:
        """Raise where the groups of a workload are not of the kind that are named here."""
        if own is None:
            difference = "have no names"
        elif "group" not in (own.column, self.column) and own.column != self.column:
            difference = f"are by '{own.column}'"
        elif not (set(self.names) & set(own.names)) - {NOBODY}:
            difference = f"are others ({own})"
        else:
            return
        raise WorkloadError(
            f"policy '{policy}' was learned for groups by '{self.column}' ({self}), but those of "
            f"workload '{workload.name}' {difference}. Give a log whose column '{self.column}' has "
            "these names, or learn again."
        )

"""Cores that are kept free for the groups of users that count most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from queuesmith.base.errors import PolicyError

HOUR = 3600
#: A hundred years; beyond them nobody waits.
LONGEST_PATIENCE = 876_000


@dataclass(frozen=True)
class Keep:
    """Favoured groups are scheduled as if they were alone; others only where they leave room.

    Others start while no favoured job waits, and only if a share of the machine stays free: the
    next favoured job then need not wait for a long one to end. A job that could never leave that
    much starts on an empty machine.

    Parameters
    ----------
    share
        The part of the machine's cores that others leave free, from 0 to less than 1; on nodes, of
        the cores of those that the job may use and that are there.
    groups
        Groups 1 up to this one are favoured.
    patience
        Hours that others wait at most for a turn of their own: a job that has waited longer counts
        as favoured from then on. None where others may wait for ever.
    """

    share: float
    groups: int = 2
    patience: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise PolicyError(
                f"keep has share={self.share:g}, but it must be at least 0 and less than 1. "
                "Write for example keep(share=0.3)."
            )
        if not (self.groups >= 1 and self.groups % 1 == 0):
            raise PolicyError(
                f"keep has groups={self.groups:g}, but it must be a whole number, 1 or more: the "
                "last group that is favoured. Write for example keep(share=0.3,groups=2)."
            )
        object.__setattr__(self, "groups", int(self.groups))
        if self.patience is not None and not 0 <= self.patience <= LONGEST_PATIENCE:
            raise PolicyError(
                f"keep has patience={self.patience:g}, but it must be a number of hours from 0 to "
                f"{LONGEST_PATIENCE:,}. Write for example keep(share=0.3,patience=72), or leave it "
                "out where others may wait for ever."
            )

    def __str__(self) -> str:
        groups = "" if self.groups == 2 else f",groups={self.groups}"
        patience = "" if self.patience is None else f",patience={self.patience:.12g}"
        return f"keep(share={self.share:g}{groups}{patience})"

    @classmethod
    def having(cls, settings: Mapping[str, Any]) -> Keep:
        """Return one with these settings; an error where one is unknown, missing or no number."""
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(settings) - set(known))
        if unknown or "share" not in settings:
            what = f"has no setting '{unknown[0]}'" if unknown else "lacks its share"
            raise PolicyError(
                f"keep {what}. It takes {', '.join(known)}: keep(share=0.3,groups=2,patience=72)."
            )
        for name, value in settings.items():
            if name == "patience" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise PolicyError(f"keep has {name}={value!r}, but it must be a number.")
        return cls(**settings)

    def to_dict(self) -> dict[str, Any]:
        """Return what a policy file holds."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def cores(self, machine: int) -> int:
        """Return how many cores of a machine are kept free."""
        return int(self.share * machine)

    def favours(self, group: int) -> bool:
        """Tell whether jobs of a group are favoured."""
        return 1 <= group <= self.groups

    def is_over(self, waited: int) -> bool:
        """Tell whether the patience of a job is over that has waited for so many seconds."""
        return self.patience is not None and waited > self.patience * HOUR

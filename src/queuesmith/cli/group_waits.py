"""How commands show what groups pay for a gain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from queuesmith.cli.output import print_sentences, print_table

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule
    from queuesmith.schedule.starvation import GroupWaits


def print_waits(schedules: Mapping[str, Schedule]) -> None:
    """Print a row for each policy: the longest wait and the jobs beyond a week of each group."""
    from queuesmith.schedule.starvation import group_waits

    print_group_waits({policy: group_waits(each) for policy, each in schedules.items()})


def print_group_waits(waits: Mapping[str, Mapping[str, GroupWaits]]) -> None:
    """Print the same of waits that are known already, by policy and group."""
    from queuesmith.report.group_waits import CAPTION, rows_of_waits

    rows = rows_of_waits(waits)
    if rows:
        print_sentences(CAPTION)
        print_table(rows, right=list(rows[0])[1:])

"""How commands show what groups pay for a gain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from queuesmith.cli.output import print_sentences, print_table

if TYPE_CHECKING:
    from queuesmith.schedule.schedule import Schedule


def print_waits(schedules: Mapping[str, Schedule]) -> None:
    """Print a row for each policy: the longest wait and the jobs beyond a week of each group."""
    from queuesmith.report.group_waits import CAPTION, wait_rows

    rows = wait_rows(schedules)
    print_sentences(CAPTION)
    print_table(rows, right=list(rows[0])[1:])

"""What groups pay for a gain: their longest waits and the jobs beyond a week, in a narrow table."""

from __future__ import annotations

from collections.abc import Mapping

from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.starvation import GroupWaits, group_waits

DAY = 86_400.0
#: So many groups stand in a table; those whose unluckiest job waits longest under any policy.
MOST_GROUPS = 6
CAPTION = "Longest wait of each group in days; in brackets its jobs that wait more than a week."


def wait_rows(schedules: Mapping[str, Schedule]) -> list[dict[str, str]]:
    """Return a row for each policy with a column for each group.

    Parameters
    ----------
    schedules
        Schedules of the same jobs, by what the table calls them.
    """
    return rows_of_waits({name: group_waits(each) for name, each in schedules.items()})


def rows_of_waits(waits: Mapping[str, Mapping[str, GroupWaits]]) -> list[dict[str, str]]:
    """Return the same of waits that are known already, by policy and group."""
    shown = shown_groups(waits)
    return [
        {"policy": name, **{f"group {g}": cell(own[g]) if g in own else "-" for g in shown}}
        for name, own in waits.items()
    ]


def shown_groups(waits: Mapping[str, Mapping[str, GroupWaits]]) -> list[str]:
    """Return the groups that a table has room for, in their order."""
    longest: dict[str, float] = {}
    for own in waits.values():
        for group, each in own.items():
            longest[group] = max(longest.get(group, 0.0), each.longest)
    most = sorted(longest, key=lambda group: -longest[group])[:MOST_GROUPS]
    return [group for group in longest if group in most]


def cell(waits: GroupWaits) -> str:
    """Return what a group waits, in one cell."""
    beyond = f" ({waits.beyond_a_week:,})" if waits.beyond_a_week else ""
    return f"{waits.longest / DAY:,.1f}{beyond}"


def waits_to_dict(schedules: Mapping[str, Schedule]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the waits of all groups, by policy and group, ready for JSON."""
    return {
        name: {group: each.to_dict() for group, each in group_waits(schedule).items()}
        for name, schedule in schedules.items()
    }

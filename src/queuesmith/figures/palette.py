"""The colours of all figures: one for each policy, one for each user group.

Policies take the colours of Okabe and Ito (2008), groups those of Tol's "light" and "muted"
schemes. Both are made to be told apart by colour-blind readers, on white and on dark ground.
"""

from __future__ import annotations

from collections.abc import Sequence

HISTORY_COLOUR = "#8a8f98"

POLICY_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#999933",
    "#aa4499",
    "#44aa99",
    "#cc6677",
)
DASHES = ("solid", "dash", "dot", "dashdot")

GROUP_COLOURS = (
    "#4477aa",
    "#ee8866",
    "#66b29b",
    "#eecc55",
    "#aa7fbf",
    "#88ccee",
    "#cc6677",
    "#999966",
)
OTHER_COLOUR = "#9a9fa8"


def policy_colours(policies: Sequence[str]) -> dict[str, str]:
    """Return the colour of each policy; what really happened is always grey."""
    simulated = [policy for policy in policies if policy != "history"]
    colours = {
        policy: POLICY_COLOURS[i % len(POLICY_COLOURS)] for i, policy in enumerate(simulated)
    }
    return {policy: colours.get(policy, HISTORY_COLOUR) for policy in policies}


def policy_dashes(policies: Sequence[str]) -> dict[str, str]:
    """Return the dash of each policy's line: solid until the colours repeat."""
    simulated = [policy for policy in policies if policy != "history"]
    dashes = {
        policy: DASHES[i // len(POLICY_COLOURS) % len(DASHES)] for i, policy in enumerate(simulated)
    }
    return {policy: dashes.get(policy, "dash") for policy in policies}


def group_colours(count: int, *, other: bool) -> list[str]:
    """Return a colour for each of ``count`` groups, the last being grey where it is the rest."""
    own = count - 1 if other else count
    colours = [GROUP_COLOURS[i % len(GROUP_COLOURS)] for i in range(own)]
    return [*colours, OTHER_COLOUR] if other else colours

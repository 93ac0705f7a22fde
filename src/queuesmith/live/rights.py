"""Who we are to Slurm: an operator's rights suffice, and more is not wanted."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from enum import StrEnum

from queuesmith.live.commands import PATIENCE, NoAnswerError, SlurmError, run


class Rights(StrEnum):
    """What Slurm lets a user do."""

    NONE = "none"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"


def own_rights(settings: Mapping[str, str], *, seconds: float = PATIENCE) -> tuple[str, Rights]:
    """Return the name of this process's user, and the user's rights.

    Root and SlurmUser may do everything; others what the accounting says, which is nothing where
    there is none.
    """
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    if uid == 0 or settings.get("SlurmUser", "").partition("(")[0] == name:
        return name, Rights.ADMINISTRATOR
    words = (
        "sacctmgr",
        "--noheader",
        "--parsable2",
        "show",
        "user",
        name,
        "format=user,adminlevel",
    )
    try:
        text = run(words, seconds=seconds)
    except NoAnswerError:
        raise
    except SlurmError:
        return name, Rights.NONE
    level = next((line.split("|")[1] for line in text.splitlines() if line.count("|") == 1), "")
    return name, {"operator": Rights.OPERATOR, "administrator": Rights.ADMINISTRATOR}.get(
        level.strip().lower(), Rights.NONE
    )


def check_rights(
    settings: Mapping[str, str], *, more_is_fine: bool = False, seconds: float = PATIENCE
) -> None:
    """Raise where this process may not steer, or has more rights than it needs."""
    name, rights = own_rights(settings, seconds=seconds)
    if rights is Rights.NONE:
        raise SlurmError(
            f"user '{name}' may not set SiteFactor on cluster '{settings.get('ClusterName')}'. Let "
            f"an administrator run: sacctmgr modify user {name} set adminlevel=operator."
        )
    if rights is Rights.ADMINISTRATOR and not more_is_fine:
        raise SlurmError(
            f"user '{name}' has all rights, but steering needs only an operator's. Run it as a "
            "user of its own with adminlevel=operator, or allow this with --as-administrator."
        )


def hidden_from(settings: Mapping[str, str], *, seconds: float = PATIENCE) -> str | None:
    """Return the name of this process's user where Slurm hides the jobs of others from it."""
    private = settings.get("PrivateData", "").lower().split(",")
    if not {"jobs", "all"} & {word.strip() for word in private}:
        return None
    name, rights = own_rights(settings, seconds=seconds)
    return name if rights is Rights.NONE else None


def check_all_shown(cluster: str, user: str | None) -> None:
    """Raise where Slurm hides the jobs of others from a user."""
    if user is not None:
        raise SlurmError(
            f"cluster '{cluster}' hides the jobs of others from user '{user}' (PrivateData=jobs), "
            "and nothing true can be said without them. Let an operator run this, or keep a state "
            "for --state with queuesmith slurm look --out."
        )


def check_multifactor(settings: Mapping[str, str]) -> None:
    """Raise where priorities are not made of factors: then a site's part means nothing."""
    kind = settings.get("PriorityType", "")
    if "multifactor" not in kind:
        raise SlurmError(
            f"cluster '{settings.get('ClusterName')}' has PriorityType={kind or 'unknown'}, where "
            "SiteFactor means nothing. Steering needs priority/multifactor; advise works anyway."
        )
    plugin = settings.get("PrioritySiteFactorPlugin", "(null)").lower()
    if plugin not in ("", "(null)", "none", "site_factor/none"):
        raise SlurmError(
            f"cluster '{settings.get('ClusterName')}' has PrioritySiteFactorPlugin={plugin}, which "
            "sets SiteFactor by itself. Two cannot: take the plugin out, or do not steer."
        )

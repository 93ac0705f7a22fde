"""What a second of each resource counts in fair-share: Slurm's ``TRESBillingWeights``."""

from __future__ import annotations

import re

from queuesmith.base.errors import ClusterError

_WEIGHT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTP]?)", re.IGNORECASE)
#: The unit that a weight of memory is for, in MB.
_UNITS = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
MEMORY = "mem"


def billing_weights(text: str, what: str) -> dict[str, float]:
    """Return the weight of each resource by its name in small letters; of memory, of a MB.

    Parameters
    ----------
    text
        Such as ``CPU=1.0,Mem=0.25G,GRES/gpu=8``.
    what
        Whose weights they are, as a sentence says it.
    """
    weights: dict[str, float] = {}
    for part in (each.strip() for each in text.split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        match = _WEIGHT.fullmatch(value)
        if not part:
            continue
        if not name or match is None or (match[2] and name.lower() != MEMORY):
            raise ClusterError(
                f"billing of {what} has '{part}', but a weight is written as CPU=1.0, Mem=0.25G or "
                "GRES/gpu=8. Correct it."
            )
        unit = _UNITS[match[2].upper()] if name.lower() == MEMORY else 1.0
        weights[name.lower()] = float(match[1]) / unit
    return weights

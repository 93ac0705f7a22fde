"""The weights of Slurm's multifactor priority, as a slurm.conf states them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from queuesmith.errors import PolicyError
from queuesmith.policy.orders import ORDERS
from queuesmith.workload.sacct import duration

_TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife")
_SWITCHES = ("PriorityFavorSmall",)


@dataclass(frozen=True)
class SlurmConf:
    """What a slurm.conf says about priorities."""

    parameters: dict[str, float]  # of the multifactor order
    partition_priority: dict[str, float]


def read_slurm_conf(path: str | Path) -> SlurmConf:
    """Read weights, times and the partitions' priority factors from a slurm.conf.

    Weights that the file leaves out are 0, as in Slurm.
    """
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise PolicyError(
            f"'{path}' cannot be read: {error.strerror}. Give the path of a slurm.conf."
        ) from error
    text = re.sub(r"\\\n", " ", re.sub(r"#.*", "", text))
    known = {name.lower(): name for name in ORDERS["multifactor"].parameters}
    parameters = {name: 0.0 for name in known.values() if "Weight" in name}
    partitions: dict[str, float] = {}
    for line in text.splitlines():
        fields = {key.lower(): value for key, value in re.findall(r"(\w+)\s*=\s*(\S+)", line)}
        if "partitionname" in fields:
            factor = _number(path, "PriorityJobFactor", fields.get("priorityjobfactor", "1"))
            partitions[fields["partitionname"]] = factor
            continue
        for key, value in fields.items():
            if key in known:
                parameters[known[key]] = _number(path, known[key], value)
    return SlurmConf(parameters, partitions)


def _number(path: str | Path, name: str, value: str) -> float:
    if name in _SWITCHES:
        return float(value.upper() in ("YES", "1", "TRUE"))
    try:
        return float(max(duration(value), 0)) if name in _TIMES else float(value)
    except ValueError:
        raise PolicyError(
            f"'{path}' sets {name}={value}, but it must be a "
            f"{'time' if name in _TIMES else 'number'}. Correct it."
        ) from None

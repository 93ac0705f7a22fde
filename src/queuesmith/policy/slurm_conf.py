"""The weights of Slurm's multifactor priority, as a slurm.conf states them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from queuesmith.base.errors import PolicyError
from queuesmith.cluster.config_lines import config_lines
from queuesmith.policy.orders import ORDERS
from queuesmith.workload.slurm_text import duration

_TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife")
_SWITCHES = ("PriorityFavorSmall",)
#: Slurm holds times in 32 bits; this one is "unlimited".
_UNLIMITED = 2**32 - 1


@dataclass(frozen=True)
class SlurmConf:
    """What a slurm.conf says about priorities."""

    parameters: dict[str, float]  # of the multifactor order
    partition_priority: dict[str, float]


def read_slurm_conf(path: str | Path) -> SlurmConf:
    """Read weights, times and the partitions' priority factors from a slurm.conf.

    Weights that the file leaves out are 0, as in Slurm; ``PartitionName=DEFAULT`` and
    ``Include`` mean what they mean there.
    """
    known = {name.lower(): name for name in ORDERS["multifactor"].parameters}
    parameters = {name: 0.0 for name in known.values() if "Weight" in name}
    partitions: dict[str, float] = {}
    default = 1.0
    for line in config_lines(path, error=PolicyError):
        name = line.values.get("partitionname")
        if name is not None:
            # Priority is the older word for both the factor and the tier.
            stated = line.values.get("priorityjobfactor", line.values.get("priority"))
            factor = default if stated is None else _number(path, "PriorityJobFactor", stated)
            if name.upper() == "DEFAULT":
                default = factor
            else:
                partitions[name] = factor
            continue
        for key, value in line.values.items():
            if key in known:
                parameters[known[key]] = _number(path, known[key], value)
    return SlurmConf(parameters, partitions)


def _number(path: str | Path, name: str, value: str) -> float:
    if name in _SWITCHES:
        return float(value.upper() in ("YES", "1", "TRUE"))
    try:
        number = float(duration(value)) if name in _TIMES else float(value)
    except ValueError:
        raise PolicyError(
            f"'{path}' sets {name}={value}, but it must be a "
            f"{'time' if name in _TIMES else 'number'}. Correct it."
        ) from None
    if name == "PriorityMaxAge":
        # Of no length, any wait is the longest that counts.
        return _UNLIMITED if number < 0 else max(number, 1)
    if name == "FairShareDampeningFactor" and not number > 0:
        raise PolicyError(f"'{path}' sets {name}={value}, but it must be above 0. Correct it.")
    return max(number, 0) if name in _TIMES else number

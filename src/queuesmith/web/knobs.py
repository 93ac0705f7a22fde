"""The numbers of a policy that one can turn, each with the range in which it makes sense."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from queuesmith.policy import AnyPolicy, Policy, Slurm

DAY = 86_400.0
#: Low, high and step by the name of the parameter; an ending with * stands for what begins so.
RANGES: Mapping[str, tuple[float, float, float]] = {
    "alpha": (-5, 5, 0.1),
    "beta": (-5, 5, 0.1),
    "gamma": (-5, 5, 0.1),
    "group_*": (-10, 10, 0.5),
    "weight_*": (0, 20, 1),
    "favoured_groups": (0, 5, 1),
    "very_long": (0, 14 * DAY, DAY / 4),
    "PriorityWeight*": (0, 100_000, 500),
    "PriorityMaxAge": (DAY / 2, 30 * DAY, DAY / 2),
    "PriorityDecayHalfLife": (DAY / 2, 60 * DAY, DAY / 2),
    "PriorityFavorSmall": (0, 1, 1),
    "FairShareDampeningFactor": (1, 10, 1),
    "depth": (1, 5_000, 1),
    "keep.share": (0, 0.9, 0.05),
    "keep.groups": (1, 5, 1),
    "bf_interval": (1, 600, 1),
    "bf_window": (60, 20_160, 60),
    "bf_resolution": (1, 600, 1),
    "bf_max_job_test": (1, 5_000, 10),
    "default_queue_depth": (1, 5_000, 10),
}
#: What can be turned of Slurm, in the order in which it is shown; its times are in minutes.
SLURM = (
    "PriorityWeightAge",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityMaxAge",
    "PriorityDecayHalfLife",
    "bf_interval",
    "bf_window",
    "bf_resolution",
    "bf_max_job_test",
    "default_queue_depth",
)
_SLURM_TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife")
_UNITS = {
    "very_long": "s",
    "PriorityMaxAge": "s",
    "PriorityDecayHalfLife": "s",
    "bf_interval": "s",
    "bf_window": "min",
    "bf_resolution": "s",
}


@dataclass(frozen=True)
class Knob:
    """A number that can be turned.

    Parameters
    ----------
    name, value
        What it is called, and how it stands.
    low, high, step
        Where it can be turned to.
    unit
        What it counts, where that has a name.
    """

    name: str
    value: float
    low: float
    high: float
    step: float
    unit: str = ""

    @classmethod
    def of(cls, name: str, value: float) -> Knob:
        """Return the knob of a parameter, its range wide enough for its value."""
        low, high, step = _range(name, value)
        return cls(name, value, min(low, value), max(high, value), step, _UNITS.get(name, ""))


def knobs_of(policy: AnyPolicy, machine: Mapping[str, str] | None = None) -> list[Knob]:
    """Return what can be turned of a policy.

    Nothing of one that knows its groups by their names: what was turned is written as a text, and a
    text has no names.

    Parameters
    ----------
    policy
        The policy.
    machine
        What the machine's slurm.conf says, by Slurm's names, for ``slurm(...)``.
    """
    if policy.groups is not None:
        return []
    if isinstance(policy, Slurm):
        stated = policy.settings(machine or {})
        return [Knob.of(name, stated[name]) for name in SLURM]
    if not isinstance(policy, Policy):
        return []
    knobs = [Knob.of(name, value) for name, value in policy.order.parameters.items()]
    if policy.depth is not None:
        knobs.append(Knob.of("depth", policy.depth))
    if policy.keep is not None:
        knobs += [Knob.of("keep.share", policy.keep.share)]
        knobs += [Knob.of("keep.groups", policy.keep.groups)]
    return knobs


def turned(
    policy: AnyPolicy, values: Mapping[str, float], machine: Mapping[str, str] | None = None
) -> AnyPolicy:
    """Return a policy with knobs turned; knobs that it has not are passed over."""
    if policy.groups is not None:
        return policy
    if isinstance(policy, Slurm):
        now = policy.settings(machine or {})
        changed = {
            name: value / 60 if name in _SLURM_TIMES else value
            for name, value in values.items()
            if name in SLURM and (name in policy.parameters or value != now[name])
        }
        return policy.having(**changed) if changed else policy
    if not isinstance(policy, Policy):
        return policy
    own = {name: value for name, value in values.items() if name in policy.order.parameters}
    policy = policy.having(**own)
    if policy.depth is not None and "depth" in values:
        policy = policy.replaced(depth=int(values["depth"]))
    if policy.keep is not None:
        share = values.get("keep.share", policy.keep.share)
        groups = int(values.get("keep.groups", policy.keep.groups))
        policy = policy.replaced(keep=replace(policy.keep, share=share, groups=groups))
    return policy


def _range(name: str, value: float) -> tuple[float, float, float]:
    for pattern, known in RANGES.items():
        begin = pattern.removesuffix("*")
        if name == pattern or (begin != pattern and name.startswith(begin)):
            return known
    # Of an own order nothing is known but the number that stands there.
    size = 10.0 ** math.ceil(math.log10(max(abs(value), 1.0)))
    return (0.0 if value > 0 else -size, size, size / 100)

"""What Slurm itself would do: its schedulers and priorities, with any knob changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from queuesmith.base.errors import PolicyError
from queuesmith.base.registry import known
from queuesmith.policy.any_policy import WRITTEN, AnyPolicy
from queuesmith.policy.slurm_settings import (
    ABOVE_ZERO,
    DELAYS,
    NAMES,
    PRIORITIES,
    SCHEDULING,
    TIMES,
    SlurmSettings,
    check_preemption,
    read_stated,
    setting_number,
    settings_of,
)
from queuesmith.policy.writing import check_once, split_outside

KIND = "slurm"


@dataclass(frozen=True)
class Slurm(AnyPolicy):
    """The schedulers of Slurm on a machine of nodes.

    Parameters
    ----------
    parameters
        What is set otherwise than the machine's slurm.conf says, by Slurm's names.
    conf
        Another slurm.conf, instead of what the machine was read from.

    Examples
    --------
    >>> str(Slurm.parse("bf_interval=60, PriorityWeightAge=5000"))
    'slurm(bf_interval=60, PriorityWeightAge=5000)'
    """

    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    conf: str | None = None

    def __post_init__(self) -> None:
        for name in self.parameters:
            known("parameter of slurm(...) called", name, NAMES, error=PolicyError)
        check_preemption(self.parameters)
        self.settings({})

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{KIND}({'; '.join(part for part in (self.conf, inside) if part)})"

    @classmethod
    def parse(cls, inside: str) -> Slurm:
        """Read what stands between the parentheses of ``slurm(...)``."""
        conf: str | None = None
        parameters: dict[str, str] = {}
        parts = [part.strip() for part in split_outside(inside, ";") if part.strip()]
        if parts and "=" not in parts[0]:
            conf = parts.pop(0)
        for part in (each.strip() for rest in parts for each in split_outside(rest, ",")):
            name, equals, value = (text.strip() for text in part.partition("="))
            if not equals:
                raise PolicyError(
                    f"'{part}' in {KIND}({inside}) is no name=value. Write for example "
                    "slurm(slurm.conf; bf_interval=60, PriorityWeightAge=5000)."
                )
            check_once(name, parameters, f"{KIND}({inside})")
            parameters[name] = value
        return cls(parameters, conf)

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds: the policy as it is written."""
        return {"kind": WRITTEN, "policy": str(self)}

    def having(self, **parameters: float) -> Slurm:
        """Return the policy with other values of its parameters."""
        written = {n: f"{v:.0f}" if v % 1 == 0 else f"{v:g}" for n, v in parameters.items()}
        return Slurm({**self.parameters, **written}, self.conf)

    @property
    def tunable(self) -> Mapping[str, float]:
        """Those of the parameters given here that are numbers: weights, and knobs of backfill."""
        numbers = {*SCHEDULING, *PRIORITIES} - {*TIMES}
        return {
            name: setting_number(name, x) for name, x in self.parameters.items() if name in numbers
        }

    def tuned(self, values: Mapping[str, float]) -> Slurm:
        """Return the policy with such values as whole numbers, as Slurm takes them."""
        least = {name: 1 if name in ABOVE_ZERO else 0 for name in values}
        return self.having(**{n: float(max(round(v), least[n])) for n, v in values.items()})

    @property
    def fragment(self) -> str:
        """The parameters given here as lines for a slurm.conf."""
        return "\n".join(conf_lines(self.parameters)) + "\n"

    def with_other_clocks(self, machine: Mapping[str, str], first: int, count: int) -> list[Slurm]:
        """Return the policy and others that look at other instants, ``count`` in all.

        Which instants Slurm looks at decides about single jobs, and a log does not tell them. They
        are spread over the time between two calculations of priorities.

        Parameters
        ----------
        machine
            What the machine's slurm.conf says, by Slurm's names.
        first
            When the first job was submitted, as Unix seconds.
        count
            How many policies.
        """
        settings = self.settings(machine)
        known, period = settings.clock_offset(first), settings["PriorityCalcPeriod"]
        later = [known + math.ceil(period * i / count) for i in range(1, count)]
        return [self, *(self.having(clock_offset=offset) for offset in later)]

    def settings(self, machine: Mapping[str, str]) -> SlurmSettings:
        """Return all settings: those given here, of the slurm.conf, and Slurm's defaults.

        Parameters
        ----------
        machine
            What the machine's slurm.conf says, by Slurm's names.
        """
        stated = read_stated(self.conf) if self.conf else machine
        return settings_of(stated, self.parameters)


def conf_lines(parameters: Mapping[str, str]) -> list[str]:
    """Return parameters as lines for a slurm.conf; those of the scheduler to be added to its own.

    What only replays know, such as delays, stands in a comment.
    """
    plain = [f"{n}={v}" for n, v in parameters.items() if n not in (*SCHEDULING, *DELAYS)]
    scheduler = [f"{n}={v}" for n, v in parameters.items() if n in SCHEDULING]
    delays = [f"# {n}={v} is of the replay" for n, v in parameters.items() if n in DELAYS]
    added = [f"# add to SchedulerParameters: {','.join(scheduler)}"] if scheduler else []
    head = [] if "PriorityType" in parameters else ["PriorityType=priority/multifactor"]
    return [*head, *plain, *added, *delays]

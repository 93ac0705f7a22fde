"""The Python that does the same as a command, for whoever wants to go on from there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queuesmith.cli.options import (
    DEFAULT_THRESHOLDS,
    CountingOptions,
    LogOptions,
    MachineOptions,
    TruthOptions,
    names,
    numbers,
    settings,
)

#: How options of the command are called in Python, and what they are where nothing is said.
READING = {
    "log_format": ("format", "auto"),
    "columns": ("columns", None),
    "timezone": ("timezone", "UTC"),
    "overrun": ("overrun", "raise"),
    "strict": ("strict", False),
    "dependencies": ("dependencies", False),
}


@dataclass(frozen=True)
class Recipe:
    """What ``queuesmith report`` was asked for, as Python that runs."""

    log: LogOptions
    machine: MachineOptions
    truth: TruthOptions
    counting: CountingOptions
    policies: str
    metrics: str

    def code(self, out: Path, title: str | None) -> str:
        """Return the Python that writes the same report."""
        lines = ["import queuesmith as qs", "", *self._reading(), *self._machine(), ""]
        wanted = names(self.metrics)
        own = [metric for metric in wanted if re.fullmatch(r".+\.py:\w+", metric)]
        lines += [f"qs.add_metric({metric!r})" for metric in own]
        metrics = [m.rpartition(":")[2] if m in own else m for m in wanted]
        counting = {
            "warm_up": self.counting.warm_up,
            "cool_down": self.counting.cool_down,
            "bound": self.counting.bound,
        }
        further: dict[str, Any] = {**counting, "today": self.truth.today}
        if self.log.strict:
            further["strict"] = True
        given = "".join(f"    {key}={value!r},\n" for key, value in further.items())
        lines.append(
            "comparison = qs.compare(\n    log,\n    machine,\n"
            f"    policies={self._policies()!r},\n    metrics={metrics!r},\n{given})"
        )
        options = f", title={title!r}" if title else ""
        options += ", although_untrue=True" if self.truth.although_untrue else ""
        lines.append(f"qs.write_report(comparison, {str(out)!r}{options})")
        return "\n".join(lines)

    def _policies(self) -> list[str]:
        """Return the policies as one writes them, with the weights of the slurm.conf."""
        from queuesmith.policy import as_policy
        from queuesmith.policy.writing import split_outside

        written = [part.strip() for part in split_outside(self.policies, ",") if part.strip()]
        if self.machine.slurm_conf is None:
            return written
        return [
            text if text.endswith(".json") else str(self.machine.configured(as_policy(text)))
            for text in written
        ]

    def _reading(self) -> list[str]:
        log = self.log
        options = [
            f", {name}={getattr(log, field)!r}"
            for field, (name, default) in READING.items()
            if getattr(log, field) != default
        ]
        lines = [f"log = qs.read({str(log.log)!r}{''.join(options)})"]
        if log.groups != "share" or log.thresholds != DEFAULT_THRESHOLDS:
            shares = tuple(numbers(log.thresholds, "thresholds"))
            lines.append(f"log = log.grouped({shares!r}, by={log.groups!r})")
        if self.truth.nodes is not None and log.is_part:
            lines.append("whole = log")
        if log.between is not None:
            from queuesmith.workload.moments import split_moments

            first, last = split_moments(log.between) or ("", "")
            lines.append(f"log = log.between({first!r}, {last!r})")
        if log.where is not None:
            lines.append(f"log = log.where({log.where!r})")
        if log.head is not None:
            lines.append(f"log = log.head({log.head})")
        if log.load_factor is not None:
            lines.append(f"log = log.with_load_factor({log.load_factor!r})")
        return lines

    def _machine(self) -> list[str]:
        lines = self._described_machine()
        if self.truth.maintenance:
            lines += [
                "from queuesmith.cluster import with_maintenance",
                f"machine = with_maintenance(machine, log, {self.truth.windows()!r})",
            ]
        if self.truth.nodes is not None or self.truth.constraints is not None:
            given = {"constraints": self.truth.constraints, "today": self.truth.today}
            asked = "".join(f", {key}={value!r}" for key, value in given.items() if value)
            part = ", whole=whole" if self.truth.nodes is not None and self.log.is_part else ""
            lines.append(f"log = qs.with_constraints(log, machine{asked}{part})")
        return lines

    def _described_machine(self) -> list[str]:
        if self.truth.nodes is not None:
            zone = "" if self.log.timezone == "UTC" else f", timezone={self.log.timezone!r}"
            return [f"machine = qs.machine_from({self.truth.nodes!r}, log=log{zone})"]
        conf = self.machine.slurm_conf
        cores = self.machine.stated_cores()
        size = "log.machine_cores" if cores is None else repr(cores)
        options = ""
        if conf is not None:
            from queuesmith.policy.slurm_conf import read_slurm_conf

            options += f", partition_priority={read_slurm_conf(conf).partition_priority!r}"
        if self.machine.qos_priority:
            priority = settings(self.machine.qos_priority, "qos-priority", "high=100,normal=10")
            options += f", qos_priority={priority!r}"
        return [f"machine = qs.Cluster({size}, log.name{options})"]

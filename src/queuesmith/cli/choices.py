"""What ``simulate`` tells beyond metrics: how a policy chose, how requests were answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.output import check_targets, tell

if TYPE_CHECKING:
    from queuesmith.policy import AnyPolicy
    from queuesmith.schedule import Schedule
    from queuesmith.schedule.reservations import Request


@dataclass(frozen=True)
class ChoiceOptions:
    """Reservations that come in, and files about what was answered and chosen."""

    reservations: Annotated[
        Path | None,
        typer.Option(help="Requests for cores in advance: CSV with id, submit, begin, end, cores."),
    ] = None
    answers: Annotated[
        Path | None, typer.Option(help="Write each request with its answer as CSV.")
    ] = None
    switches: Annotated[
        Path | None,
        typer.Option(help="Write each change of a self-tuning policy, with its cause, as CSV."),
    ] = None

    def check(self, policy: AnyPolicy) -> None:
        """Refuse files that would have nothing in them, or cannot be written."""
        from queuesmith.policy import SelfTuning

        check_targets(self.answers, self.switches)
        if self.answers is not None and self.reservations is None:
            raise UsageError("--answers is given, but no requests are. Give --reservations, too.")
        if self.switches is not None and not isinstance(policy, SelfTuning):
            raise UsageError(
                f"--switches is given, but policy '{policy}' does not switch. "
                "Use it with dynp(...)."
            )

    def requests(self) -> tuple[Request, ...]:
        """Read the requests."""
        from queuesmith.schedule.reservations import read_requests

        return () if self.reservations is None else read_requests(self.reservations)

    def write(self, schedule: Schedule, *, quiet: bool) -> None:
        """Write the files that were asked for."""
        from queuesmith.schedule.reservations import write_answers

        if self.answers is not None:
            write_answers(schedule.reservations, self.answers)
            tell(f"wrote {self.answers}", quiet=quiet)
        if self.switches is not None:
            schedule.decisions.save_switches(self.switches)
            tell(f"wrote {self.switches}", quiet=quiet)

    def told(self, schedule: Schedule) -> dict[str, Any]:
        """Return what the JSON has under ``decisions`` and ``reservations``."""
        from queuesmith.schedule.reservations import summarize_answers

        told: dict[str, Any] = {}
        if schedule.decisions is not None:
            told["decisions"] = schedule.decisions.to_dict()
        if self.reservations is not None:
            answers = [answer.to_dict() for answer in schedule.reservations]
            told["reservations"] = {**summarize_answers(schedule.reservations), "answers": answers}
        return told


def as_rows(told: dict[str, Any]) -> dict[str, Any]:
    """Return the same as rows of a table: counts by name, nothing that has a file of its own."""
    rows: dict[str, Any] = {}
    for part in told.values():
        for key, value in part.items():
            if isinstance(value, dict):
                rows |= {f"{key}[{name}]": each for name, each in value.items()}
            elif key == "by_rule":
                rows |= _counts_of_rules(value)
            elif key != "answers":
                rows[key] = value
    return rows


def _counts_of_rules(parts: list[list[int]]) -> dict[str, int]:
    """Count the rules that decided at least once, numbered from 1; two parts are told apart."""
    parted = ["rule"] if len(parts) == 1 else ["order rule", "algorithm rule"]
    return {
        f"by_rule[{name} {number}]": count
        for name, counts in zip(parted, parts, strict=True)
        for number, count in enumerate(counts, 1)
        if count
    }

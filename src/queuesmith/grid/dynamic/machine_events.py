"""Machines join a grid and leave it: at random, or as a file says."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from queuesmith.base.checks import positive, seeded
from queuesmith.base.errors import WorkloadError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes


@dataclass(frozen=True, order=True)
class MachineEvent:
    """A machine joins the grid or leaves it.

    Parameters
    ----------
    time
        When, in seconds.
    machine
        Which, by its number.
    joins
        Whether it joins; else it leaves, and what runs on it is lost and begins anew elsewhere.
    """

    time: float
    machine: int
    joins: bool


def churn(
    machines: int, span: float, *, up_seconds: float, down_seconds: float, seed: int = 0
) -> list[MachineEvent]:
    """Let machines leave and come back at random up to a time; all come back in the end.

    Parameters
    ----------
    machines, span
        How many machines, and up to when they leave.
    up_seconds, down_seconds
        How long each stays and stays away on average, exponentially distributed.
    seed
        Same seed, same events.
    """
    positive("up_seconds", up_seconds, "Give for example 86400.")
    positive("down_seconds", down_seconds, "Give for example 3600.")
    rng = seeded(seed)
    events = []
    for machine in range(machines):
        clock = rng.exponential(up_seconds)
        while clock < span:
            back = clock + rng.exponential(down_seconds)
            events += [MachineEvent(clock, machine, False), MachineEvent(back, machine, True)]
            clock = back + rng.exponential(up_seconds)
    return sorted(events)


def read_machine_events(path: AnyPath, machine_names: Sequence[str]) -> list[MachineEvent]:
    """Read events from CSV with the columns ``time``, ``machine`` and ``event``, join or leave."""
    text = decoded(check_text(read_bytes(path), path, "a list of events"))
    table = csv.DictReader(io.StringIO(text, newline=""))
    number = {name: place for place, name in enumerate(machine_names)}
    return [_event(row, line, number, path) for line, row in enumerate(table, 2)]


def _event(row: dict[str, str], line: int, number: dict[str, int], path: AnyPath) -> MachineEvent:
    words = [(row.get(column) or "").strip() for column in ("time", "machine", "event")]
    try:
        joins = {"join": True, "leave": False}[words[2]]
        return MachineEvent(float(words[0]), number[words[1]], joins)
    except (KeyError, ValueError):
        raise WorkloadError(
            f"line {line} of '{path}' says '{','.join(words)}', but an event is a time, the name "
            f"of a machine ({', '.join(list(number)[:4])}, ...) and 'join' or 'leave', below the "
            "header 'time,machine,event'. Correct it."
        ) from None


def check_events(events: tuple[MachineEvent, ...], machines: int) -> None:
    """Raise an error unless machines that there are join and leave in turn."""
    for event in events:
        if not 0 <= event.machine < machines or not 0 <= event.time < float("inf"):
            raise WorkloadError(
                f"machine {event.machine} has an event at second {event.time:g}, but machines are "
                f"numbered 0 to {machines - 1} and times begin at 0. Correct it."
            )
    by_machine = sorted(events, key=lambda event: event.machine)  # stable: still by time
    for one, two in itertools.pairwise(by_machine):
        if one.machine == two.machine and (one.joins == two.joins or one.time == two.time):
            raise WorkloadError(
                f"machine {one.machine} {'joins' if two.joins else 'leaves'} at second "
                f"{two.time:g} after it {'joined' if one.joins else 'left'} at {one.time:g}, but "
                "it must join and leave in turn, at different times. Correct the events."
            )

"""What must be said wherever history stands beside replays."""

from __future__ import annotations

from collections.abc import Sequence

from queuesmith.report.wording import duration
from queuesmith.schedule.fidelity import Fidelity
from queuesmith.schedule.schedule import HISTORY, Schedule
from queuesmith.schedule.verify import usage


def history_caution(schedules: Sequence[Schedule]) -> str | None:
    """Say that history and replays are not alike, and where history contradicts the machine.

    None where there is no history.
    """
    real = next((schedule for schedule in schedules if schedule.policy == HISTORY), None)
    if real is None:
        return None
    waited, cores = duration(float(real.wait.mean())), real.cluster.cores
    sentences = [
        f"What really happened (a mean wait of {waited}) stands apart: the replays know a pool of "
        f"{cores:,} equal cores, no nodes, partitions, limits or downtimes.",
    ]
    replayed = next((schedule for schedule in schedules if schedule is not real), None)
    if replayed is not None and replayed.pieces is None:
        sentences.append(Fidelity(real, replayed).sentence)
    peak = peak_of(real)
    if peak > cores:
        sentences.append(
            f"And the log contradicts the machine: {peak:,} cores were really busy at once, but "
            f"it has {cores:,}."
        )
    return " ".join(sentences)


def peak_of(schedule: Schedule) -> int:
    """Return the most cores that are busy at once."""
    stairs = usage(schedule)
    return int(stairs.busy.max()) if len(stairs.busy) else 0

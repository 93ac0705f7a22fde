"""The parts in which jobs ran, where a job is more than one block of cores at one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.schedule.times import Times, frozen
from queuesmith.workload.workload import Ints


@dataclass(frozen=True, eq=False)
class Pieces:
    """Parts of jobs: one row each, such as a job's part on one node, or one chunk of its tasks.

    Parameters
    ----------
    job
        The position of each piece's job in the workload.
    start, end
        From when to when it held its cores.
    cores
        How many cores it held.
    place
        Where that was, as a position among the machine's places; None where cores have no names.
    """

    job: Ints
    start: Times
    end: Times
    cores: Ints
    place: Ints | None = None

    def __post_init__(self) -> None:
        columns = ["job", "start", "end", "cores", *(["place"] if self.place is not None else [])]
        for column in columns:
            object.__setattr__(self, column, frozen(getattr(self, column)))
        lengths = {column: len(getattr(self, column)) for column in columns}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{count} of '{column}'" for column, count in lengths.items())
            raise ScheduleError(
                f"pieces of a schedule have {told}, but every piece has one of each. "
                "Give columns of one length."
            )

    def __len__(self) -> int:
        return len(self.job)

    @property
    def length(self) -> Times:
        """How long each piece took."""
        return self.end - self.start

    def select(self, keep: NDArray[np.bool_]) -> Pieces:
        """Keep the pieces of some jobs, whose positions then count from 0 among those kept."""
        kept = keep[self.job]
        position = np.cumsum(keep) - 1
        place = None if self.place is None else self.place[kept]
        return Pieces(
            position[self.job[kept]], self.start[kept], self.end[kept], self.cores[kept], place
        )

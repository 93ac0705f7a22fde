"""The course of a study: hand out what is not done yet, until all is; then gather."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from queuesmith.base.checks import number, of_kind, progress_function
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.files import AnyPath, as_path
from queuesmith.campaign.results import Results, gathered
from queuesmith.campaign.study_file import Study
from queuesmith.campaign.unit_work import ChunkDone, work_on
from queuesmith.campaign.units import Unit, units_of
from queuesmith.study.engines import Engine, checked_engine
from queuesmith.study.shards import Shards

#: A worker keeps at its units for at least so long before it writes them, in seconds.
CHUNK_SECONDS = 30.0
#: Chunks in a row whose workers went away: then something else is wrong.
MOST_LOST = 20
#: How often engines are looked after, in seconds.
TEND_EVERY = 1.0
#: A worker gets this part of what is left for each worker, so that all end at about the same time.
HAND_OUT = 0.5
#: More units than this in a chunk, or than so many times what a chunk takes, only make its message
#: long; one of less than so many seconds is not worth its message and its shard.
MOST_IN_CHUNK, ENOUGH, WORTH_A_SHARD = 1000, 4.0, 0.5


@dataclass
class Course:
    """How a run of a study went.

    Parameters
    ----------
    units, known
        How many units the study has, and how many of them were known before.
    chunks, computed, lost
        Shards that were written now, the units in them, and chunks whose workers went away.
    seconds
        Processor time of the units that were computed now.
    """

    units: int
    known: int
    chunks: int = 0
    computed: int = 0
    lost: int = 0
    seconds: float = 0.0


class StudyError(QueuesmithError):
    """A study cannot go on."""


def run_study(
    study: Study,
    engine: Engine,
    folder: AnyPath,
    *,
    chunk_seconds: float = CHUNK_SECONDS,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Results, Course]:
    """Compute all units of a study that are not known yet, and return the values of all.

    Called again after whatever kind of end, it goes on where it stopped, on this engine or another.

    Parameters
    ----------
    study, engine
        What is computed, and where.
    folder
        Where shards are kept; all workers must see it under this name.
    chunk_seconds
        A worker writes a shard after at least so many seconds of work.
    progress
        Is called with how many units are done, and how many there are.
    """
    number("the seconds of a chunk", chunk_seconds, 0, 86_400, "Give for example 30.")
    of_kind("the study", study, Study, "Read one with read_study(...).")
    checked_engine(engine)
    progress_function(progress)
    units = units_of(study)
    shards = Shards(as_path(folder).absolute())
    known = shards.refresh()
    course = Course(len(units), sum(unit.name in known for unit in units))
    waiting = [unit for unit in _once(units) if unit.name not in known]
    # What a worker of an earlier run may still be busy with comes last.
    busy = shards.under_way()
    waiting.sort(key=lambda unit: unit.name in busy)
    if waiting:
        engine.ready()
    line = _Line(deque(waiting), engine, shards, course, chunk_seconds)
    while line.goes_on():
        line.hand_out()
        line.collect()
        if progress is not None:
            progress(course.known + course.computed, course.units)
    return gathered(study, units, shards), course


def _once(units: Sequence[Unit]) -> list[Unit]:
    return list({unit.name: unit for unit in units}.values())


@dataclass
class _Line:
    """The units that wait, and the chunks that are out."""

    waiting: deque[Unit]
    engine: Engine
    shards: Shards
    course: Course
    chunk_seconds: float
    out: dict[Future[Any], tuple[Unit, ...]] = field(default_factory=dict)
    lost_in_a_row: int = 0
    tended: float = 0.0

    def goes_on(self) -> bool:
        return bool(self.waiting or self.out)

    def hand_out(self) -> None:
        while self.waiting and len(self.out) < self.engine.workers:
            chunk = self.next_chunk()
            if not chunk:
                return
            arguments = (chunk, str(self.shards.folder), self.chunk_seconds)
            self.out[self.engine.submit(work_on, *arguments)] = chunk

    def next_chunk(self) -> tuple[Unit, ...]:
        """Take units of one log from the line; fewer as the end comes near."""
        share = HAND_OUT * len(self.waiting) / max(self.engine.workers, 1)
        most = min(max(self.fewest, int(share)), self.enough)
        known = self.shards.refresh()
        chunk: list[Unit] = []
        while self.waiting and len(chunk) < most:
            unit = self.waiting.popleft()
            if unit.name in known:  # a worker of an earlier run has written it since
                self.course.known += 1
            else:
                chunk.append(unit)
        return tuple(chunk)

    @property
    def fewest(self) -> int:
        """How many units are worth a shard of their own, also at the end."""
        if not self.course.computed:
            return 1
        return 1 + int(min(WORTH_A_SHARD, self.chunk_seconds) / self.mean_seconds)

    @property
    def enough(self) -> int:
        """How many units are surely more than a worker computes before it writes them."""
        if not self.course.computed:
            return MOST_IN_CHUNK
        return min(1 + int(ENOUGH * self.chunk_seconds / self.mean_seconds), MOST_IN_CHUNK)

    @property
    def mean_seconds(self) -> float:
        """Processor time of a unit so far."""
        return max(self.course.seconds / self.course.computed, 1e-6)

    def collect(self) -> None:
        if not self.out:  # no worker is there at the moment
            time.sleep(TEND_EVERY / 4)
        done, _ = wait(self.out, TEND_EVERY, return_when=FIRST_COMPLETED)
        for future in done:
            self.settle(self.out.pop(future), future)
        if time.monotonic() - self.tended > TEND_EVERY:
            self.engine.tend()
            self.tended = time.monotonic()

    def settle(self, chunk: tuple[Unit, ...], future: Future[Any]) -> None:
        error = future.exception() if not future.cancelled() else None
        if error is None and not future.cancelled():
            answer: ChunkDone = future.result()
            self.course.chunks += 1
            self.course.computed += answer.units
            self.course.seconds += answer.seconds
            self.lost_in_a_row = 0
            self.waiting.extendleft(reversed(answer.left))
            return
        if error is not None and not self.engine.is_lost(error):
            raise error
        self.course.lost += 1
        self.lost_in_a_row += 1
        if self.lost_in_a_row > MOST_LOST:
            raise StudyError(
                f"{self.lost_in_a_row} workers in a row went away without a result, the last while "
                f"it worked on '{chunk[0].policy_name}' on '{chunk[0].log.name}'. Look at their "
                "logs and their memory; what is done is kept, so repeat this command then."
            ) from error
        self.waiting.extend(chunk)

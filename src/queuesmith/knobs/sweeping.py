"""The exhaustive search of all knob settings (Simon, Nguyen and Halem, algorithm 2)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from queuesmith.base.checks import progress_function
from queuesmith.cluster import Cluster
from queuesmith.compiled import load
from queuesmith.knobs.bags import Floats, TaskJobs
from queuesmith.knobs.cost_model import CostModel, Marks
from queuesmith.knobs.kernels import runs
from queuesmith.knobs.kernels.passes import DOUBT
from queuesmith.knobs.kernels.replay import CANCEL, BagReplay
from queuesmith.knobs.options import BagOptions, SweepOptions
from queuesmith.knobs.ranges import Settings, range_texts
from queuesmith.knobs.sweep_result import SweepResult
from queuesmith.study.engines import Engine
from queuesmith.study.naming import version_facts
from queuesmith.study.spreading import spread
from queuesmith.study.store import DIGEST, Store
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

#: How many parts a sweep is divided into at most; each is kept as soon as it is done.
MOST_PARTS = 512
#: How many of them a worker of another machine gets at once, since the log travels with them.
PARTS_AT_ONCE = 8

#: What is known of the settings of a part: costs, where they come from, and whether they are clear.
Part = tuple[Floats, Marks, Marks]
#: What is told the share of the work done, if anybody is.
Report = Callable[[float], None] | None


def sweep(
    jobs: TaskJobs | Workload,
    cluster: Cluster | None = None,
    ranges: str | Sequence[str] = SweepOptions.ranges,
    *,
    cores: int | None = None,
    backfill: str = BagOptions.backfill,
    workers: int | None = None,
    engine: Engine | None = None,
    keep: str | Path | None = None,
    progress: Report = None,
) -> SweepResult:
    """Replay a log under all settings of the knobs and return what each costs.

    Parameters
    ----------
    jobs
        The bags of tasks (then it is the knapsack that is swept), or a workload of rigid jobs.
    cluster, cores
        The machine, or just its number of processors; by default the size that the log states.
    ranges
        ``LOW:HIGH:STEP`` for all three knobs, or three of them for alpha, beta and gamma.
    backfill
        Who may overtake a job that does not fit: ``list``, ``easy`` or ``none``.
    workers
        How many threads; by default one for each core of this computer.
    engine
        Other machines, or other processes, that replay instead of threads of this one.
    keep
        A file that keeps what is done, so that a sweep that was killed goes on where it was.
        ``save_sweep`` removes it once the result is safely on disk.
    progress
        Is called with the share of the work done, 0 to 1.

    Notes
    -----
    **Settings between which no decision changes give one schedule.** A replay under (a, b, g) does
    nothing but pick, again and again, the highest of some scores. Each score is linear in g, so the
    lead of the one picked over each other candidate is linear in g, too, and one knows up to which
    g' it stays positive. Up to the least of these g' every pick is the same, so every start is the
    same, so every later score is the same: the schedule under (a, b, x) is the same for all x from
    g to g'. Those settings are not replayed. Leads near the digits kept count as changed, and
    jobs alike in size, wait and walltime have equal scores whatever the knobs. For settings of one
    direction see :class:`~queuesmith.knobs.ranges.Settings`.
    """
    progress_function(progress)
    load(runs.run_settings, runs.run_lines)
    began = time.perf_counter()
    model = CostModel.of(jobs, cluster, cores=cores, backfill=backfill)
    texts = range_texts(ranges)
    settings = Settings.parse(texts)
    with ExitStack() as stack:
        store = None
        if keep is not None:
            store = stack.enter_context(Store(keep, _facts(model, texts)))
        state = _SweepState(model, settings, store, workers, engine, progress)
        state.replay_directions()
        state.copy_or_replay_the_rest()
    return SweepResult(
        model.jobs.workload.name,
        len(model.jobs),
        model.cluster.cores,
        describe_scheduler(model),
        settings.values,
        state.costs,
        state.origin == runs.REPLAYED,
        time.perf_counter() - began,
    )


def describe_scheduler(model: CostModel) -> str:
    """Say what is swept: ``list``, or ``knapsack`` where some job can be split."""
    if not model.jobs.is_malleable.any():
        return model.backfill
    extra = "" if model.backfill == "list" else f"+{model.backfill}"
    return f"knapsack{extra}"


def _facts(model: CostModel, ranges: Sequence[str]) -> dict[str, Any]:
    """Return what names a sweep, by what messages call it."""
    return {
        "command": "sweep",
        "ranges": list(ranges),
        "scheduler": describe_scheduler(model),
        "backfill": model.backfill,
        "cores": int(model.cluster.cores),
        "jobs of the log": f"{DIGEST}{model.fingerprint()}",
        **version_facts(),
    }


class _SweepState:
    """The arrays that a sweep fills, part by part."""

    def __init__(
        self,
        model: CostModel,
        settings: Settings,
        store: Store | None,
        workers: int | None,
        engine: Engine | None,
        progress: Report,
    ) -> None:
        self.model, self.settings, self.store = model, settings, store
        self.workers, self.engine, self.progress = workers, engine, progress
        count = len(settings)
        self.costs = np.full((count, runs.COSTS), np.nan)
        self.clear = np.zeros(count, np.int8)
        own = settings.source == np.arange(count)
        self.origin = np.where(own, runs.UNKNOWN, runs.LATER).astype(np.int8)

    def replay_directions(self) -> None:
        """Replay one setting of each direction, line by line."""
        ends = _line_ends(self.settings.values)
        parts = np.array_split(ends, min(len(ends), MOST_PARTS))
        bounds = [0, *(int(part[-1]) for part in parts)]
        self._in_parts([np.arange(a, b) for a, b in itertools.pairwise(bounds)], 0)

    def copy_or_replay_the_rest(self) -> None:
        """Give the other settings of a direction the same costs, where that is proven."""
        rest = np.flatnonzero(self.origin == runs.LATER)
        source = self.settings.source[rest]
        proven = self.clear[source] == 1
        same, others = rest[proven], rest[~proven]
        self.costs[same] = self.costs[source[proven]]
        self.origin[same] = runs.PROVEN
        self.origin[others] = runs.UNKNOWN
        if len(others):
            self._in_parts(np.array_split(others, min(len(others), MOST_PARTS)), MOST_PARTS)

    def _in_parts(self, parts: list[Ints], first_number: int) -> None:
        numbered = list(enumerate(parts, first_number))
        todo = [(number, rows) for number, rows in numbered if not self._taken_up(number, rows)]
        report = self._reporting(first_number == 0)
        if self.engine is None:
            self._in_threads(todo, report)
        else:
            self._elsewhere(self.engine, todo, report)

    def _in_threads(self, todo: list[tuple[int, Ints]], report: Report) -> None:
        def replay_part(replay: BagReplay, place: int) -> None:
            number, rows = todo[place]
            part = self._known(rows)
            self.model.run_lines(replay, self.settings.values[rows], DOUBT, *part)
            if not replay.counters[CANCEL]:
                self._keep(number, rows, part)

        self.model.in_threads(replay_part, len(todo), workers=self.workers, progress=report)

    def _elsewhere(self, engine: Engine, todo: list[tuple[int, Ints]], report: Report) -> None:
        chunks = [todo[i : i + PARTS_AT_ONCE] for i in range(0, len(todo), PARTS_AT_ONCE)]
        done = 0

        def take(place: int, found: list[Part]) -> None:
            nonlocal done
            for (number, rows), part in zip(chunks[place], found, strict=True):
                self._keep(number, rows, part)
            done += len(found)
            if report is not None:
                report(done / len(todo))

        asked = [
            (self.model, [(self.settings.values[rows], self._known(rows)) for _, rows in chunk])
            for chunk in chunks
        ]
        spread(engine, _parts_swept, asked, watch=take)

    def _known(self, rows: Ints) -> Part:
        return self.costs[rows], self.origin[rows], self.clear[rows]

    def _keep(self, number: int, rows: Ints, found: Part) -> None:
        self.costs[rows], self.origin[rows], self.clear[rows] = found
        if self.store is not None:
            self.store.put(_key(number), b"".join(x.tobytes() for x in found))

    def _reporting(self, first: bool) -> Report:
        """Return what reports the progress of the directions, or of the rest after them."""
        progress = self.progress
        if progress is None:
            return None
        own = np.count_nonzero(self.settings.source == np.arange(len(self.settings)))
        border = float(own / len(self.settings))
        if first:
            return lambda share: progress(share * border)
        return lambda share: progress(border + share * (1 - border))

    def _taken_up(self, number: int, rows: Ints) -> bool:
        found = None if self.store is None else self.store.get(_key(number))
        if found is None:
            return False
        count = len(rows)
        marks = np.frombuffer(found[-2 * count :], np.int8)
        costs = np.frombuffer(found[: -2 * count], np.float64)
        self.costs[rows] = costs.reshape(count, -1)
        self.origin[rows], self.clear[rows] = marks[:count], marks[count:]
        return True


def _parts_swept(asked: tuple[CostModel, list[tuple[Floats, Part]]]) -> list[Part]:
    """Replay some parts where a worker of an engine is."""
    model, parts = asked
    load(runs.run_lines)
    replay = model.new_replay()
    found = [
        (np.array(costs), np.array(origin), np.array(clear)) for _, (costs, origin, clear) in parts
    ]
    for (values, _), part in zip(parts, found, strict=True):
        model.run_lines(replay, values, DOUBT, *part)
    return found


def _key(number: int) -> str:
    return f"part {number}"


def _line_ends(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Ints:
    """Return where each line of equal alpha and beta ends."""
    change = np.any(values[1:, :2] != values[:-1, :2], axis=1)
    return np.append(np.flatnonzero(change) + 1, len(values))

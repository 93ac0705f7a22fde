"""Forecasts that are noted on disk, and corrected by what came of earlier ones of the cluster."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from queuesmith.base.errors import OutputError
from queuesmith.base.files import atomic_write
from queuesmith.base.words import so_many
from queuesmith.live.commands import SlurmError
from queuesmith.live.forecast import Expectation
from queuesmith.live.journal import STATE_VARIABLE, safe_name
from queuesmith.live.outcomes import Noted, Outcomes
from queuesmith.live.state import ClusterState
from queuesmith.live.steered import Steered
from queuesmith.workload import Workload

_VERSION = 2
#: Who is foretold again within so many seconds is not noted again.
PAUSE = 30


def learned_marks(
    learned: Outcomes, expected: Sequence[Expectation], now: int
) -> list[Expectation]:
    """Return forecasts with the marks that earlier ones teach, and take note of them.

    Parameters
    ----------
    learned
        What came of earlier forecasts.
    expected
        Forecasts as the replays make them.
    now
        Their moment.
    """
    half, late, so_far = (
        np.array(values, np.float64)
        for values in (
            [each.median for each in expected],
            [each.late for each in expected],
            [max(now - each.job.submit, 0) for each in expected],
        )
    )
    # On the nodes and with Slurm's own rules the median of the replays is the better one.
    marks = np.maximum(learned.corrected(half, late, so_far)[1], half)
    rests_on = learned.jobs
    noted = {each.job: each.made for each in learned.noted}
    # When the first task of an array starts, no accounting tells under the array's number.
    fresh = [e.job.tasks == 1 and now - noted.get(e.job.id, -PAUSE) >= PAUSE for e in expected]
    learned.expect(
        Noted(each.job.id, each.job.submit, now, each.median, each.late, mark, now)
        for each, mark, new in zip(expected, marks.tolist(), fresh, strict=True)
        if new
    )
    return [
        replace(each, late=round(mark), rests_on=rests_on)
        for each, mark in zip(expected, marks.tolist(), strict=True)
    ]


def told(
    expected: Sequence[Expectation],
    state: ClusterState,
    history: Workload | None,
    folder: Path,
    steered: Steered | None = None,
) -> tuple[list[Expectation], str]:
    """Correct forecasts by what came of earlier ones of this cluster, and note them for later.

    Forecasts of a queue that is steered are compared with such of the same policy only.

    Parameters
    ----------
    expected
        Forecasts as the replays make them.
    state
        The cluster.
    history
        Jobs that have ended; what runs now is known from the state.
    folder
        Where forecasts are noted.
    steered
        By what the queue is steered.

    Returns
    -------
    list of Expectation, str
        The forecasts, and on what their marks rest.
    """
    path = _path(folder, state)
    with _alone(path):
        ways = _up_to_now(path, state, history)
        learned = ways.setdefault(_by(steered), Outcomes())
        found = learned_marks(learned, expected, state.now)
        _write(path, state.cluster, ways)
    return found, _sentence(learned)


def as_learned(
    expected: Sequence[Expectation],
    state: ClusterState,
    history: Workload | None,
    folder: Path,
    steered: Steered | None = None,
) -> list[Expectation]:
    """Correct forecasts as `told` does, but note nothing: for who only looks."""
    ways = _up_to_now(_path(folder, state), state, history)
    return learned_marks(ways.get(_by(steered), Outcomes()), expected, state.now)


def _path(folder: Path, state: ClusterState) -> Path:
    return folder / f"{safe_name(state.cluster)}.forecasts"


def _by(steered: Steered | None) -> str:
    return "" if steered is None else str(steered.policy)


def _up_to_now(path: Path, state: ClusterState, history: Workload | None) -> dict[str, Outcomes]:
    """Return what was noted, and what has come of it by now."""
    begun = _starts(state, history)
    waiting = {(job.id, job.submit) for job in state.waiting}
    ways = _read(path, state.cluster)
    for way in ways.values():
        way.learn(
            state.now,
            lambda each: begun.get((each.job, each.submit)),
            lambda each: (each.job, each.submit) in waiting,
        )
    return ways


def _sentence(learned: Outcomes) -> str:
    if learned.jobs:
        return f"marks rest on what came of forecasts of {so_many(learned.jobs, 'past job')}"
    return "marks rest on what came of forecasts elsewhere: of this cluster it is not known yet"


def _starts(state: ClusterState, history: Workload | None) -> dict[tuple[int, int], int]:
    """Return when jobs started, by their numbers and submissions."""
    found = {(job.id, job.submit): state.now - job.elapsed for job in state.running}
    if history is not None and history.real_start is not None:
        first = history.epoch or 0
        columns = (history.id, first + history.submit, first + history.real_start)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        found |= {(job, submit): start for job, submit, start in rows}
    return found


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let nobody else note forecasts of the same cluster while within."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".noting"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise OutputError(
            f"forecasts cannot be noted in '{path.parent}' ({error.strerror}). Give a folder that "
            f"may be written to with --marks or {STATE_VARIABLE}, or note none with --as-replayed."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _read(path: Path, cluster: str) -> dict[str, Outcomes]:
    """Return what came of forecasts, by the policy that steered; '' where none did."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    try:
        header = json.loads(lines[0])
        if header["forecasts"] != _VERSION or header["cluster"] != cluster:
            raise ValueError
        ways = {
            by: Outcomes(levels={int(stretch): float(level) for stretch, level in levels.items()})
            for by, levels in header["levels"].items()
        }
        for line in lines[1:]:
            facts = json.loads(line)
            ways[facts.pop("by")].noted.append(Noted(**facts))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise SlurmError(
            f"'{path}' does not hold forecasts of cluster '{cluster}' as they are noted. Remove it "
            "to learn anew, give another folder with --marks, or forecast --as-replayed."
        ) from None
    return ways


def _write(path: Path, cluster: str, ways: dict[str, Outcomes]) -> None:
    levels = {by: way.levels for by, way in ways.items()}
    lines: list[dict[str, object]] = [
        {"forecasts": _VERSION, "cluster": cluster, "levels": levels},
        *({"by": by, **asdict(each)} for by, way in ways.items() for each in way.noted),
    ]
    with atomic_write(path) as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines).encode())

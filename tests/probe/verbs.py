"""Long verbs that keep a record, run as their own process that can be killed or starved of disk.

A process is a fork of this one, where everything is imported and compiled already: so a run takes
as long as its work, and hundreds of them can be killed within minutes.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

#: What a process was told when it was killed.
KILLED = -signal.SIGKILL


class Verb(NamedTuple):
    """A command, its record, and what its result is, without what a clock measured."""

    words: tuple[str, ...]
    record: str | None
    result: Callable[[Path], object]


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    errors: str
    seconds: float


def _bytes(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).read_bytes()


def _rows(name: str) -> Callable[[Path], object]:
    # The first line of a sweep's table tells how long it took.
    return lambda folder: (folder / name).read_bytes().partition(b"\n")[2]


def _front(folder: Path) -> object:
    content = json.loads((folder / "front.json").read_text())
    return {key: value for key, value in content.items() if key != "seconds"}


_LEARN = ("--cores", "64", "--split", "none", "--objective", "awrt", "--quiet", "--workers", "1")
_SEARCH = ("--cores", "64", "--objective", "awrt", "--quiet", "--workers", "1")

VERBS: dict[str, Verb] = {
    "tune pittsburgh": Verb(
        ("tune", "jobs.csv", *_LEARN, "--generations", "12", "--offspring", "6", "--rules", "3",
         "--store", "run.sqlite", "--out", "policy.json"),
        "run.sqlite",
        _bytes("policy.json"),
    ),
    "tune own order": Verb(
        ("tune", "jobs.csv", *_LEARN, "--generations", "10", "--offspring", "6", "--rules", "3",
         "--strategies", "my.py:mine+easy,fcfs+easy", "--store", "own.sqlite", "--out", "own.json"),
        "own.sqlite",
        _bytes("own.json"),
    ),
    "tune priority": Verb(
        ("tune", "jobs.csv", *_LEARN, "--method", "priority", "--generations", "12",
         "--offspring", "6", "--store", "p.sqlite", "--out", "p.json"),
        "p.sqlite",
        _bytes("p.json"),
    ),
    "pareto": Verb(
        ("pareto", "jobs.csv", *_SEARCH, "--population", "20", "--generations", "8",
         "--store", "front.sqlite", "--out", "front.json"),
        "front.sqlite",
        _front,
    ),
    "sweep": Verb(
        ("sweep", "jobs.csv", "--cores", "64", "--range", "-1:1:0.2", "--quiet", "--workers", "1",
         "--out", "sweep.csv"),
        "sweep.csv.unfinished",
        _rows("sweep.csv"),
    ),
    "convert": Verb(
        ("convert", "jobs.csv", "--out", "copy.swf.gz", "--quiet"), None, _bytes("copy.swf.gz")
    ),
}  # fmt: skip

_MINE = "def mine(job, now):\n    return -job.walltime\n"


def prepare(folder: Path) -> None:
    """Write the log and the order that the verbs take."""
    from queuesmith import lublin, write

    write(lublin(400, 64, load=1.0, users=40, seed=3), folder / "jobs.csv")
    (folder / "my.py").write_text(_MINE)


def warm_up(folder: Path) -> None:
    """Run each verb once in this process, so that forks find everything compiled."""
    for verb in VERBS.values():
        if run_here(verb, folder) != 0:
            raise RuntimeError(f"{' '.join(verb.words)} fails undisturbed")
        clear(folder)


def clear(folder: Path) -> None:
    """Remove what verbs wrote."""
    for path in folder.iterdir():
        if path.name not in ("jobs.csv", "my.py", "__pycache__"):
            path.unlink()


def run_here(verb: Verb, folder: Path) -> int:
    """Run a verb in this process, its output thrown away."""
    from queuesmith.cli import main

    before = Path.cwd()
    os.chdir(folder)
    try:
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            return main(list(verb.words))
    finally:
        os.chdir(before)


def run(
    verb: Verb, folder: Path, *, kill_after: float | None = None, most_bytes: int | None = None
) -> Ended:
    """Run a verb as a process, killed after some seconds or allowed no larger files."""
    reading, writing = os.pipe()
    began = time.monotonic()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:  # the child: whatever happens, it must not come back
        code = 70
        try:
            os.close(reading)
            os.dup2(writing, 2)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            if most_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            code = run_here(verb, folder)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(process, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        errors = pipe.read().decode("utf-8", "replace")
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return Ended(code, errors, time.monotonic() - began)

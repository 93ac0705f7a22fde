"""What a worker does with a task: claim it, run its command, and record how that ended.

A claim is the output file of the attempt, which only one process can create. So an attempt is never
run twice, even where Dask gives it to a second worker because the first did not answer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from queuesmith.base.errors import OutputError
from queuesmith.running.records import NO_ROOM, own_records
from queuesmith.study.engines import under_watch

#: In the environment of every command: which run, bag, task and attempt it belongs to.
MARK = "QUEUESMITH_TASK"
#: Seconds that a command has after it was asked to end and before it is killed.
GRACE = 5.0


@dataclass(frozen=True)
class TaskOrder:
    """One attempt of a task, as it is handed to a worker."""

    folder: str
    bag: str
    task: int
    attempt: int
    command: str
    timeout: float | None
    cwd: str

    @property
    def output(self) -> Path:
        """The file of what the command prints."""
        return Path(self.folder) / "output" / self.bag / f"{self.task}.{self.attempt}.out"

    @property
    def mark(self) -> str:
        """What the command and all that it starts have in their environment."""
        return f"{self.folder}:{self.bag}:{self.task}.{self.attempt}"


class Ended(StrEnum):
    """How an attempt ended."""

    DONE = "done"  # the command returned 0
    FAILED = "failed"  # it returned something else, or was killed
    TIMED_OUT = "timed out"
    TAKEN = "taken"  # another worker has claimed it before
    NO_ROOM = "no room"  # the disk is full, so that it was not begun


@dataclass(frozen=True)
class TaskEnd:
    """How an attempt ended: the exit code (negative for a signal), and when."""

    ended: Ended
    code: int | None = None
    start: float | None = None
    end: float | None = None


def run_task(order: TaskOrder) -> TaskEnd:
    """Run one attempt of a task to its end; called in a worker."""
    return under_watch(lambda: _run(order))


def _run(order: TaskOrder) -> TaskEnd:
    records = own_records(order.folder)
    try:
        order.output.parent.mkdir(parents=True, exist_ok=True)
        with (
            order.output.with_suffix(".err").open("ab") as errors,
            order.output.open("xb") as output,
        ):
            names = {"bag": order.bag, "task": order.task, "attempt": order.attempt}
            records.append({"event": "started", **names, "start": time.time()}, sync=False)
            end = _run_command(order, output, errors)
    except FileExistsError:
        return TaskEnd(Ended.TAKEN)
    except OSError as error:
        if error.errno in NO_ROOM:
            return TaskEnd(Ended.NO_ROOM)
        raise OutputError(
            f"'{order.output}' cannot be written ({error.strerror}). Check the folder."
        ) from error
    times = {"start": end.start, "end": end.end}
    records.append({"event": "ended", **names, "ended": end.ended, "code": end.code, **times})
    return end


def _run_command(order: TaskOrder, output: BinaryIO, errors: BinaryIO) -> TaskEnd:
    start = time.time()
    try:
        process = subprocess.Popen(
            [*_dying_with_us(), "/bin/sh", "-c", order.command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            cwd=order.cwd,
            env={**os.environ, MARK: order.mark},
        )
    except OSError as error:  # a command that is too long, no memory, a folder that went away
        with contextlib.suppress(OSError):
            errors.write(f"the command cannot be started: {error}\n".encode())
        return TaskEnd(Ended.FAILED, None, start, time.time())
    try:
        code = process.wait(order.timeout)
        ended = Ended.DONE if code == 0 else Ended.FAILED
    except subprocess.TimeoutExpired:
        code, ended = _stopped(process, order.mark), Ended.TIMED_OUT
    return TaskEnd(ended, code, start, time.time())


def _stopped(process: subprocess.Popen[bytes], mark: str) -> int:
    """End a command and all that it started, first politely; the shell may end before the rest."""
    lives, until = _signalled(process, signal.SIGTERM), time.monotonic() + GRACE
    while lives and time.monotonic() < until:
        time.sleep(0.02)
        lives = _signalled(process, 0)
    if lives:
        _signalled(process, signal.SIGKILL)
    kill_leftovers(mark)  # what has left the group of the command
    return process.wait()


def _signalled(process: subprocess.Popen[bytes], what: int) -> bool:
    """Send a signal to a command's group, 0 for none; tell whether anything is left of it."""
    process.poll()  # a shell that has ended is in its group until it is waited for
    try:
        os.killpg(process.pid, what)
    except ProcessLookupError:
        return False
    return True


@functools.cache
def _dying_with_us() -> tuple[str, ...]:
    """Return what makes a command end with its worker, where the system can."""
    program = shutil.which("setpriv")
    return () if program is None else (program, "--pdeathsig", "KILL", "--")


def kill_leftovers(mark: str) -> int:
    """Kill what an attempt has left running on this machine; return how many processes."""
    wanted = f"{MARK}={mark}".encode()
    killed = 0
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (place / "environ").read_bytes().split(b"\0"):
                os.kill(int(place.name), signal.SIGKILL)
                killed += 1
    return killed

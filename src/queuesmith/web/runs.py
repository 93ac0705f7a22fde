"""Long work of the page: each run is a process of its own, and everything about it is in a folder.

So a run goes on when the tab is closed or the server is stopped, and a server that is started anew
finds it. What is in the folder of a run:

    run.json         what was asked
    jobs.npz         the jobs
    store.sqlite     the record by which a run that was stopped goes on
    progress.jsonl   one line for each round
    policy.json      the best policy so far
    result.json      what was found, once it is
    failure.txt      why it ended before, where it did
    output.txt       what its process wrote, such as the details of an error
    process          the number of the process
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.base.files import atomic_write
from queuesmith.base.json import read_json
from queuesmith.policy import AnyPolicy, load_policy
from queuesmith.workload import Workload
from queuesmith.workload.workload import CORE_COLUMNS

SPECIFICATION, JOBS, STORE = "run.json", "jobs.npz", "store.sqlite"
PROGRESS, POLICY, RESULT = "progress.jsonl", "policy.json", "result.json"
FAILURE, PROCESS, STOPPED, OUTPUT = "failure.txt", "process", "stopped", "output.txt"
#: What the name of a learned policy begins with in the address.
LEARNED = "learned-"
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


@dataclass(frozen=True)
class Run:
    """One run, as its folder tells."""

    folder: Path

    @property
    def name(self) -> str:
        """What the address calls it."""
        return self.folder.name

    @cached_property
    def asked(self) -> dict[str, Any]:
        """What was asked."""
        content = read_json(self.folder / SPECIFICATION, f"run '{self.name}'", error=UsageError)
        return content if isinstance(content, dict) else {}

    @property
    def status(self) -> str:
        """Whether it is ``running``, ``finished``, ``failed``, ``stopped`` or ``interrupted``."""
        if (self.folder / RESULT).exists():
            return "finished"
        if self.process is not None:
            return "running"
        if (self.folder / FAILURE).exists():
            return "failed"
        return "stopped" if (self.folder / STOPPED).exists() else "interrupted"

    @property
    def process(self) -> int | None:
        """The number of its process, where that is under way."""
        try:
            number = int((self.folder / PROCESS).read_text(encoding="ascii"))
            os.kill(number, 0)
        except (OSError, ValueError, OverflowError):
            return None
        words = Path(f"/proc/{number}/cmdline")
        if words.exists():
            try:  # the number may long be another's; a process that has ended has no words
                return number if str(self.folder).encode() in words.read_bytes() else None
            except OSError:
                return None
        return number

    @property
    def failure(self) -> str:
        """Why it failed, or where to look for that if its process ended without saying it."""
        said = _text(self.folder / FAILURE).strip()
        if said or not _text(self.folder / OUTPUT).strip():
            return said
        return f"its process ended without saying why. See what it wrote in {self.folder / OUTPUT}."

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What it told after each round."""
        steps = []
        for line in _text(self.folder / PROGRESS).splitlines():
            try:
                steps.append(json.loads(line))
            except ValueError:
                continue  # the line that is just being written
        return steps

    @property
    def result(self) -> dict[str, Any] | None:
        """What it found; None before the end."""
        if not (self.folder / RESULT).exists():
            return None
        content = read_json(self.folder / RESULT, f"result of '{self.name}'", error=UsageError)
        return content if isinstance(content, dict) else None

    @property
    def policy(self) -> AnyPolicy | None:
        """The best policy so far, of a run that learns one."""
        path = self.folder / POLICY
        return load_policy(path) if path.exists() else None


class RunShelf:
    """All runs of a folder.

    Parameters
    ----------
    folder
        Where they are; it is made where it does not exist, for its owner alone.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._starting = threading.Lock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __iter__(self) -> Any:
        names = sorted((path.name for path in self.folder.iterdir()), reverse=True)
        return iter([Run(self.folder / name) for name in names if _NAME.fullmatch(name)])

    def find(self, name: str) -> Run:
        """Return a run by its name."""
        folder = self.folder / name
        if not _NAME.fullmatch(name) or not folder.is_dir():
            raise UsageError(f"there is no run '{name[:40]}'. Choose one of the list.")
        return Run(folder)

    def policy(self, text: str) -> AnyPolicy:
        """Return the policy that a run has learned, by its name in the address."""
        found = self.find(text.removeprefix(LEARNED)).policy
        if found is None:
            raise UsageError(f"the run '{text}' has no policy yet. Wait for its first round.")
        return found

    def start(self, asked: Mapping[str, Any], jobs: Workload | None) -> Run:
        """Begin a run in a process of its own, on some jobs where it needs any."""
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        if jobs is not None:
            save_jobs(jobs, folder / JOBS)
        with atomic_write(folder / SPECIFICATION) as file:
            file.write(json.dumps({**asked, "began": time.time()}, indent=2).encode())
        run = Run(folder)
        self.resume(run)
        return run

    def resume(self, run: Run) -> None:
        """Let a run go on, which was stopped or whose process has died."""
        with self._starting:  # two tabs may ask at once
            if run.process is None and run.result is None:
                self._begin(run)

    def _begin(self, run: Run) -> None:
        for name in (FAILURE, STOPPED):
            (run.folder / name).unlink(missing_ok=True)
        words = [sys.executable, "-m", "queuesmith.web.run_process", str(run.folder)]
        with (run.folder / OUTPUT).open("ab") as output:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # what stops the server does not stop it
            )
        (run.folder / PROCESS).write_text(str(process.pid), encoding="ascii")
        # So that the system forgets it when it has ended, as long as this server is there.
        threading.Thread(target=process.wait, daemon=True).start()

    def stop(self, run: Run) -> None:
        """Stop a run; it can go on later."""
        number = run.process
        (run.folder / STOPPED).write_text("by its owner\n", encoding="utf-8")
        if number is not None:
            try:
                os.kill(number, signal.SIGTERM)
            except ProcessLookupError:
                return
            _reap(number)


def _reap(number: int, seconds: float = 5.0) -> None:
    """Wait until a process has ended; where it is our child, take note of its end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if os.waitpid(number, os.WNOHANG)[0]:
                return
        except ChildProcessError:
            if not Path(f"/proc/{number}").exists():
                return
        time.sleep(0.02)


def save_jobs(jobs: Workload, path: Path) -> None:
    """Keep the jobs of a run: numbers only, so that reading them runs nothing."""
    columns = {name: getattr(jobs, name) for name in CORE_COLUMNS}
    extra = {
        f"extra.{name}": values
        for name, values in jobs.extra.items()
        if np.issubdtype(values.dtype, np.number)
    }
    facts = {
        "labels": {name: list(names) for name, names in jobs.labels.items()},
        "name": jobs.name,
        "machine_cores": jobs.machine_cores,
        "epoch": jobs.epoch,
    }
    written = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    with atomic_write(path) as file:
        np.savez(file, allow_pickle=False, **columns, **extra, facts=written)


def load_jobs(path: Path) -> Workload:
    """Return the jobs of a run."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            facts = json.loads(kept["facts"].tobytes())
            columns = {name: kept[name] for name in CORE_COLUMNS}
            prefix = "extra."
            extra = {
                name.removeprefix(prefix): kept[name]
                for name in kept.files
                if name.startswith(prefix)
            }
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise UsageError(
            f"the jobs of the run '{path.parent.name}' cannot be read. Start it anew."
        ) from error
    labels = {name: tuple(names) for name, names in facts["labels"].items()}
    return Workload(
        **columns,
        extra=extra,
        labels=labels,
        name=facts["name"],
        machine_cores=facts["machine_cores"],
        epoch=facts["epoch"],
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

"""Daemons of a lab: started in the background, ended by their own process ids."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path


class Daemons:
    """Programs that run until the lab is stopped; the last to start is the first to end."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, command: list[str], *, user: str, environment: Mapping[str, str]
    ) -> None:
        """Start a daemon in the foreground of a session of its own."""
        with (self._logs / f"{name}.out").open("ab") as out:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=dict(environment),
                user=user,
                group=subprocess.check_output(["id", "-gn", user], text=True).strip(),
                start_new_session=True,
            )

    def wait_until(self, name: str, ready: Callable[[], bool], *, seconds: float = 60.0) -> None:
        """Wait until a daemon answers; an error with its last words where it does not."""
        last = time.monotonic() + seconds
        while not ready():
            process = self._running[name]
            if process.poll() is not None or time.monotonic() > last:
                said = (self._logs / f"{name}.out").read_text(errors="replace")[-2000:]
                state = "ended" if process.poll() is not None else "does not answer"
                raise RuntimeError(f"{name} {state}. Its last words: {said}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End all daemons, those that do not listen by force."""
        for process in reversed(self._running.values()):
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()


def free_ports(count: int) -> int:
    """Return the first of so many neighbouring ports that nobody listens on.

    They are drawn: two labs that start at once would be offered the same. They lie below those that
    the kernel gives to connections.
    """
    while True:
        first = secrets.randbelow(20_000) + 10_000
        if all(_is_free(first + i) for i in range(count)):
            return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True

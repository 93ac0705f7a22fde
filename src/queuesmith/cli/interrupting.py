"""Ctrl-C: a command ends soon, whatever library it waits for, and says what can be resumed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

#: The exit code of a command that was stopped.
STOPPED = 130
#: How long a command may take to end by itself, in seconds. Compiled solvers look up only when
#: their time is over.
GRACE = 2.0


def stopped_sentence(words: Sequence[str]) -> str:
    """Say that a command was stopped, and what of it is kept.

    Parameters
    ----------
    words
        The words of the command.
    """
    kept = _record(words) or _folder(words)
    if kept is None:
        return "stopped before it was done; no half-written file is left."
    return (
        f"stopped before it was done; what was finished is kept in '{kept}', and the same command "
        "goes on from there."
    )


def _record(words: Sequence[str]) -> Path | None:
    """Return the file with what a command had finished, where it keeps one and it is there."""
    named = {"--store": "", "--resume": ""}
    if words and words[0] == "sweep":
        named["--out"] = ".unfinished"
    if words and words[0] == "import":
        named["--out"] = ".pieces"
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        if option in named:
            path = Path((value if equals else following) + named[option])
            if path.name and path.exists():
                return path
    return None


def _folder(words: Sequence[str]) -> Path | None:
    """Return the folder of a study, or of a run of bags, where it is there."""
    if list(words[:2]) == ["study", "run"]:
        ending, inside = ".study", "shard-*.json"
    elif words and words[0] == "run":
        ending, inside = ".run", "journal.jsonl"
    else:
        return None
    # Named, or beside the file that is named; no other word has such a folder.
    places = [Path(word.removeprefix("--folder=")) for word in words if word]
    places += [place.with_suffix(ending) for place in places if place.name]
    return next((place for place in places if any(place.glob(inside))), None)


def end_soon_after_ctrl_c(words: Sequence[str]) -> None:
    """Let this process end within seconds of Ctrl-C, even while a library keeps it busy.

    Python sees Ctrl-C only between steps of its own. Where a solver's library runs, and where
    threads of one still do when the command has ended, that may take as long as they have time.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            signals = os.read(read, 64)
            if signal.SIGINT in signals:
                break
        _ended.wait(GRACE)
        end_now(words)

    threading.Thread(target=watch, daemon=True, name="ctrl-c").start()


#: Set once the command has ended by itself after Ctrl-C and said so.
_ended = threading.Event()


def end_now(words: Sequence[str]) -> None:
    """End this process at once; where the command has not said so, say that it was stopped."""
    if not _ended.is_set():
        print(f"error: {stopped_sentence(words)}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(STOPPED)


def ended_by_itself() -> None:
    """Take note that the command has ended and said why."""
    _ended.set()

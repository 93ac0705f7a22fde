"""Which files of Python a policy file may run: those that its reader has seen and trusts.

A policy that is named directly, such as ``my.py:mine+easy``, is its user's own word. A policy file
may come from anybody: what it would run is told, and run only once that was asked for. Trust is
remembered by content, in the user's folder of settings.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from queuesmith.base.errors import PolicyError, QueuesmithError
from queuesmith.base.files import atomic_write
from queuesmith.base.words import so_many
from queuesmith.policy.user_files import bytes_of, sources

#: Where settings are kept, where it is not the usual folder.
FOLDER_VARIABLE = "QUEUESMITH_CONFIG"
REMEMBERED = "trusted"

#: The files that may be run while a policy file is read; None where none is.
_allowed: ContextVar[frozenset[Path] | None] = ContextVar("allowed", default=None)


class UntrustedError(PolicyError):
    """A policy file would run Python that was never trusted."""

    def __init__(self, sentence: str, files: Sequence[Path]) -> None:
        super().__init__(sentence)
        self.files = tuple(files)


@contextmanager
def only_trusted(path: str | Path, files: Sequence[Path], *, trust: bool) -> Iterator[None]:
    """Let a policy file run the files that it names, and no others, while it is read.

    Parameters
    ----------
    path
        The policy file.
    files
        The files of Python that it names.
    trust
        Whether they are to be trusted from now on, until their content changes.
    """
    if trust:
        remember(files)
    else:
        _check(path, files)
    allowed = _allowed.set(frozenset(file.resolve() for file in files))
    try:
        yield
    finally:
        _allowed.reset(allowed)


def check_allowed(file: Path) -> None:
    """Raise where the policy file that is being read may not run a file."""
    allowed = _allowed.get()
    if allowed is not None and file.resolve() not in allowed:
        raise PolicyError(
            f"'{file}' would be run, but it is named where a policy file names no file of Python. "
            "Name it as an order, file.py:function."
        )


def remember(files: Iterable[Path]) -> None:
    """Trust files as they are now, as far as the folder of settings can be written."""
    known = _remembered()
    lines = known | {mark: str(file.resolve()) for file in files for mark in [bytes_of(file)]}
    if lines == known:
        return
    text = "".join(f"{mark} {place!r}\n" for mark, place in lines.items())
    with contextlib.suppress(OSError, QueuesmithError):
        folder = settings_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / REMEMBERED) as file:
            file.write(text.encode("utf-8", "replace"))


def settings_folder() -> Path:
    """Return the user's folder of settings, which need not exist."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(home) if home else Path("~/.config").expanduser()) / "queuesmith"


def _remembered() -> dict[str, str]:
    try:
        text = (settings_folder() / REMEMBERED).read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):
        return {}
    pairs = (line.partition(" ") for line in text.splitlines())
    return {mark: place.strip("'\"") for mark, _, place in pairs if mark.startswith("sha256:")}


def _check(path: str | Path, files: Sequence[Path]) -> None:
    known = _remembered() if files else {}
    unseen = [file for file in files if bytes_of(file) not in known]
    if not unseen:
        return
    run = list(dict.fromkeys(each for file in unseen for each in sources(file)))
    told = ", ".join(_described(each, Path(path)) for each in run[:5])
    more = f" and {len(run) - 5} more" if len(run) > 5 else ""
    raise UntrustedError(
        f"policy file '{path}' would run Python that was not trusted yet: {told}{more}. Read it, "
        "then give --trust once (trust=True in Python); that holds until its content changes.",
        run,
    )


def _described(file: Path, policy_file: Path) -> str:
    whole = file.resolve()
    outside = "" if whole.is_relative_to(policy_file.resolve().parent) else ", outside its folder"
    lines = so_many(len(whole.read_bytes().splitlines()), "line")
    return f"{whole} ({lines}{outside})"

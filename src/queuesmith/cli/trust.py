"""The option by which one trusts the Python that a policy file names, and what is shown before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from queuesmith.policy import AnyPolicy

Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run the Python that a policy's JSON file names, from now on until it changes.",
    ),
]

#: Of a file that is not trusted so many lines are shown, each so long.
LINES, WIDTH = 40, 120


def chosen_policy(text: str, *, trust: bool) -> AnyPolicy:
    """Read one policy; where it would run what is not trusted, show that."""
    from queuesmith.policy import as_policy

    with _showing():
        return as_policy(text, trust=trust)


def chosen_policies(text: str, *, trust: bool) -> list[AnyPolicy]:
    """Read a comma-separated list of policies, likewise."""
    from queuesmith.policy import parse_policies

    with _showing():
        return parse_policies(text, trust=trust)


def loaded_policy(path: Path, *, trust: bool) -> AnyPolicy:
    """Read a policy's JSON file, whatever its name ends in, likewise."""
    from queuesmith.policy import load_policy

    with _showing():
        return load_policy(path, trust=trust)


@contextmanager
def _showing() -> Iterator[None]:
    """Print the beginning of each file that would have to be trusted."""
    from queuesmith.policy.trust import UntrustedError

    try:
        yield
    except UntrustedError as error:
        for file in error.files:
            print(f"--- {_printable(str(file))}", *_lines(file), sep="\n", file=sys.stderr)
        raise


def _lines(file: Path) -> list[str]:
    lines = file.read_bytes().decode("utf-8", "replace").splitlines()
    left = len(lines) - LINES
    return [_printable(line) for line in lines[:LINES]] + ([f"... {left} more"] if left > 0 else [])


def _printable(line: str) -> str:
    """Return a line without what could deceive on a terminal, such as codes that hide text."""
    clean = "".join(c if c.isprintable() else "?" for c in line.expandtabs(4))
    return clean if len(clean) <= WIDTH else f"{clean[:WIDTH]}..."

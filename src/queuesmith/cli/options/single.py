"""Options that stand by themselves, and how one is described."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from queuesmith.cli.output import Format

FederationFile = Annotated[Path, typer.Argument(help="The clusters and their links, TOML.")]
FormatOption = Annotated[
    Format, typer.Option("--format", help="How the result is printed.", case_sensitive=False)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]


def described(help: str) -> Any:
    """Return an option named after its field, with a help text."""
    return typer.Option(help=help)

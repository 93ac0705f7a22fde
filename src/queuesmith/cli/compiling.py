"""What is compiled, said to those who wait; and a command that compiles all of it at once."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from queuesmith.cli.options import Quiet
from queuesmith.cli.output import on_terminal, tell

Workers = Annotated[
    int | None, typer.Option(help="Processes that compile; by default one for each core.")
]


def tell_of_compiling(what: str, seconds: float) -> None:
    """Say on the terminal what is being compiled, and how long that takes."""
    if on_terminal():
        tell(f"compiling {what} (about {seconds:.0f} s, once)")


def warm_up(workers: Workers = None, quiet: Quiet = False) -> None:
    """Compile all that commands need, so that none of them has to wait for it."""

    from queuesmith.base.checks import whole_number
    from queuesmith.compiled.warm_up import all_entries
    from queuesmith.compiled.warm_up import warm_up as compile_all

    if workers is not None:
        whole_number("the number of workers", workers, 1, "Give for example 2.")
    began, count = time.monotonic(), len(all_entries())
    for number, (what, seconds) in enumerate(compile_all(workers), 1):
        tell(f"{number:>3} of {count}  {seconds:5.1f} s  {what}", quiet=quiet)
    tell(f"all is compiled; it took {time.monotonic() - began:.0f} s.", quiet=quiet)

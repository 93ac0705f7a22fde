import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from queuesmith.cli.options import with_options


@dataclass(frozen=True)
class Bundle:
    place: Annotated[Path, typer.Argument()]
    size: Annotated[int, typer.Option()] = 3


def test_a_bundle_becomes_an_option_for_each_of_its_fields():
    seen = []

    @with_options
    def command(bundle: Bundle, out: Path, loud: bool = False) -> None:
        """Do it."""
        seen.append((bundle, out, loud))

    parameters = inspect.signature(command).parameters
    assert list(parameters) == ["place", "out", "size", "loud"]  # those that are required first
    assert command.__doc__ == "Do it."
    command(place=Path("a"), size=4, out=Path("b"), loud=True)
    assert seen == [(Bundle(Path("a"), 4), Path("b"), True)]

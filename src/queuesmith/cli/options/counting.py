"""The options that say which part of a replay counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from queuesmith.cli.options.single import described


@dataclass(frozen=True)
class CountingOptions:
    """Which part of a replay counts."""

    panel: ClassVar = "What counts"
    warm_up: Annotated[
        float, described("Share of the log at its beginning whose jobs do not count.")
    ] = 0.0
    cool_down: Annotated[float, described("Share of the log at its end not counted.")] = 0.0
    bound: Annotated[float, described("Bound of the bounded slowdown, in seconds.")] = 10.0

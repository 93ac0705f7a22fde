"""Studies: many replays at once; where they are computed, and how results are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.study.runner import simulate_many

__all__ = ["simulate_many"]

# Workers that only run commands must not wait for the compiler.
__getattr__, __dir__ = door(__name__, {"runner": ("simulate_many",)})

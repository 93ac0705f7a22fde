"""The what-if page: turn the knobs of a policy, see who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.web.server import serve

__all__ = ["serve"]

__getattr__, __dir__ = door(__name__, {"server": ("serve",)})

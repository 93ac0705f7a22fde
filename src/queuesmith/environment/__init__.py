"""An environment for reinforcement learning: which waiting job is next, at the engine's speed.

It follows Gymnasium's interface and needs ``pip install 'queuesmith[gym]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.environment.environment import SchedulingEnvironment

__all__ = ["SchedulingEnvironment"]

# Imported when it is first used: Gymnasium is an extra.
__getattr__, __dir__ = door(__name__, {"environment": ("SchedulingEnvironment",)})

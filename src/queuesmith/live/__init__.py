"""A running Slurm: look at it, say when jobs will start, advise, steer its queue, restore it.

``look`` reads the state with Slurm's ordinary commands and changes nothing; ``Steering`` is the
only part that changes anything, and all that it can change is the ``SiteFactor`` of jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from queuesmith.base.doors import door

if TYPE_CHECKING:
    from queuesmith.live.commands import SlurmError
    from queuesmith.live.state import ClusterState, look, state_of

__all__ = ["ClusterState", "SlurmError", "look", "state_of"]

__getattr__, __dir__ = door(
    __name__, {"commands": ("SlurmError",), "state": ("ClusterState", "look", "state_of")}
)

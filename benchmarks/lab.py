"""A real Slurm of the tests' lab for benchmarks: its controller can be killed and started again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.slurm_lab import LabNodes, SlurmLab


class KillableLab(SlurmLab):
    """A lab whose controller goes away and comes back."""

    def kill_controller(self) -> None:
        """End slurmctld as a crash would."""
        controller = self._daemons._running["slurmctld"]
        controller.kill()
        controller.wait()

    def restart_controller(self) -> None:
        """Start slurmctld again, with the state that it left."""
        self._start("slurmctld", "slurmctld", "-D", user="slurm")
        self._daemons.wait_until("slurmctld", lambda: "is UP" in self._call("scontrol", "ping"))


@contextmanager
def lab(cores: int) -> Iterator[KillableLab]:
    """Start a Slurm of one node, and let this process's commands talk to it."""
    with tempfile.TemporaryDirectory(prefix="queuesmith-lab-") as above:
        folder, nodes = Path(above) / "lab", [LabNodes("n1", cores=cores)]
        with KillableLab(folder, nodes=nodes) as slurm:
            os.environ["SLURM_CONF"] = str(slurm.configuration / "slurm.conf")
            yield slurm

"""A real Slurm on this machine, for tests that want its word: start, submit, read the accounting.

:class:`~tests.lab.slurm_lab.SlurmLab` is one cluster of its own in a folder of its own, on ports of
its own; several may run side by side. It needs root and Debian's Slurm, and ``absent()`` says in
one sentence what is missing where it cannot run.
"""

from tests.lab.slurm_lab import LabNodes, SlurmLab, absent

__all__ = ["LabNodes", "SlurmLab", "absent"]

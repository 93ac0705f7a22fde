"""What all compiled code shares: how it is compiled and kept, and the kernels of many users."""

from queuesmith.compiled.decorators import entry, kernel, njit, on_demand
from queuesmith.compiled.fingerprint import fingerprint

__all__ = ["entry", "fingerprint", "kernel", "njit", "on_demand"]

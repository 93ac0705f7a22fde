"""What all compiled code shares: how it is compiled and kept, and the kernels of many users."""

from queuesmith.compiled.decorators import entry, kernel, njit, on_demand

__all__ = ["entry", "kernel", "njit", "on_demand"]

"""What all compiled code shares: how it is compiled and kept, and the kernels of many users."""

from queuesmith.compiled.decorators import entry, kernel, load
from queuesmith.compiled.fingerprint import fingerprint
from queuesmith.compiled.written import written

__all__ = ["entry", "fingerprint", "kernel", "load", "written"]

"""The engine for commands: loaded when a command needs it, and no sooner."""

from __future__ import annotations

import sys

#: Whether this process is a command, not a program that calls ``queuesmith.cli.main``.
own_process = False


def load_engine() -> None:
    """Import the engine without what no replay needs.

    One file of Numba imports all of scipy.linalg, where it is installed, only to learn whether
    compiled code could multiply matrices, and has no setting for it. Hiding that while the file is
    read saves a third of the time of a short command. Only a process of ours does so (see
    ``queuesmith.cli.run``), never a library's user.
    """
    if not own_process or "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules["scipy.linalg"]
    import queuesmith.engine  # noqa: F401

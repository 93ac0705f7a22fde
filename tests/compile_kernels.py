"""Compile every kernel once, before many test processes would each do so at the same time."""

import os
from pathlib import Path

if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1] / "build" / "numba-tests"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))
    from queuesmith.compiled.warm_up import warm_up

    for _ in warm_up():
        pass

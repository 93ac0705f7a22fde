"""The logs that are timed."""

import os
from pathlib import Path

import queuesmith as qs

SYNTHETIC_CORES = 1024


def synthetic(jobs: int) -> qs.Workload:
    """The yardstick: a Lublin-Feitelson log on 1,024 processors at load 0.8."""
    return qs.lublin(jobs, SYNTHETIC_CORES, load=0.8, seed=0)


def folder() -> Path:
    """Where real data are, if they are."""
    root = Path(__file__).resolve().parent.parent
    return Path(os.environ.get("QUEUESMITH_DATA", root.parent / "shared"))


def trace(name: str) -> Path | None:
    """A real trace, or None where the folder of traces is absent."""
    path = folder() / "traces" / name
    if not path.is_file():
        print(f"{name}: not there; set QUEUESMITH_DATA to the folder of real traces")
        return None
    return path

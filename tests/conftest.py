"""What all tests share: where compiled code is kept, where the real traces lie."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no failure; on CI the same examples run each time.
settings.register_profile(
    "queuesmith",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("queuesmith")

ROOT = Path(__file__).resolve().parent.parent
# Compiled code of the tests is kept apart, so that a user's cache is neither used nor spoiled.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "build" / "numba-tests"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real traces; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("QUEUESMITH_DATA", ROOT.parent / "shared"))
    if not (folder / "traces").is_dir():
        pytest.skip(f"no real traces in {folder}: set QUEUESMITH_DATA to the folder that has them")
    return folder

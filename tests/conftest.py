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


@pytest.fixture(scope="session", autouse=True)
def settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let tests trust files without a trace in the settings of whoever runs them."""
    os.environ["QUEUESMITH_CONFIG"] = str(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real traces; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("QUEUESMITH_DATA", ROOT.parent / "shared"))
    if not (folder / "traces").is_dir():
        pytest.skip(f"no real traces in {folder}: set QUEUESMITH_DATA to the folder that has them")
    return folder

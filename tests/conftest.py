"""What all tests share: where compiled code is kept, where the real traces lie."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no failure. The same examples run each time, so that a change is to blame where
# one fails; with QUEUESMITH_CHANCE=1 others are drawn each time.
settings.register_profile(
    "queuesmith",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("QUEUESMITH_CHANCE") != "1",
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


@pytest.fixture
def mine(tmp_path: Path) -> Callable[[str], str]:
    """Write an order into a file; return how a policy calls it, its function being ``mine``."""

    def write(text: str) -> str:
        path = tmp_path / "my.py"
        path.write_text(text, encoding="utf-8")
        return f"{path}:mine"

    return write


@pytest.fixture(scope="module")
def dask_scheduler() -> Iterator[str]:
    """Start Dask with two workers in this process; tests that need it skip where it is absent."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, processes=False, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a real Chromium; tests that need it skip where it, or what drives it, is absent."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no 'chromium' on the PATH: install Chromium to test the page")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no Python package 'playwright': install it to test the page"
    )
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()

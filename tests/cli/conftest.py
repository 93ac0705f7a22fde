"""The command line, called in this process, on small logs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from queuesmith.cli import main
from queuesmith.policy import own_metrics
from queuesmith.schedule.metrics import METRICS

SACCT_HEADER = (
    "JobID|User|Account|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|ReqCPUS"
)
SACCT_JOBS = (
    ("1", "ann", "bio", "main", "normal", "00:00:00", "00:00:10", "01:00:10", "01:00:00"),
    ("2", "bob", "chem", "debug", "normal", "00:00:05", "02:00:10", "03:00:10", "01:00:00"),
    ("3", "ann", "bio", "main", "high", "00:00:06", "01:00:10", "02:00:10", "01:00:00"),
)


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Give what was printed as one line, wherever the terminal broke its sentences."""
        return " ".join(self.out.split())


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def own_metrics_are_forgotten() -> Iterator[None]:
    """Let metrics that a test adds be unknown to the next."""
    before = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(before)
    own_metrics._ADDED.clear()


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands print for a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def fits_a_terminal(text: str) -> bool:
    """Tell whether no line is longer than 80 characters and nothing was cut."""
    return "…" not in text and all(len(line) <= 80 for line in text.splitlines())


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line; nothing that was printed before counts."""

    def call(*words: object) -> Outcome:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small log of each format."""
    folder = tmp_path_factory.mktemp("logs")
    generate = [
        "generate",
        "lublin",
        "--jobs",
        "200",
        "--cores",
        "64",
        "--load",
        "0.9",
        "--quiet",
        "--out",
    ]
    for name in ("small.swf", "small.csv", "small.parquet"):
        assert main([*generate, str(folder / name)]) == 0
    (folder / "real.sacct").write_text(sacct_text())
    return folder


def sacct_text() -> str:
    day = "2024-03-01T"
    rows = [SACCT_HEADER]
    for id, user, account, partition, qos, submit, start, end, elapsed in SACCT_JOBS:
        dates = f"{day}{submit}|{day}{start}|{day}{end}"
        rows.append(
            f"{id}|{user}|{account}|{partition}|{qos}|{dates}|{elapsed}|02:00:00|COMPLETED|4|4"
        )
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="session")
def log(logs: Path) -> Path:
    """Two hundred jobs for 64 cores, as SWF."""
    return logs / "small.swf"


@pytest.fixture(scope="session")
def sacct(logs: Path) -> Path:
    """Three jobs of four cores each, with what really happened."""
    return logs / "real.sacct"


@pytest.fixture
def paper(run: Run, tmp_path: Path) -> tuple[Path, Path]:
    """The federation of the paper and one of its queues, as files."""
    assert run("federation", "generate", "--out", "f.toml", "--quiet").code == 0
    assert run("place", "generate", "WL-3", "--out", "q.csv", "--quiet").code == 0
    return tmp_path / "f.toml", tmp_path / "q.csv"

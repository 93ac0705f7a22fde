"""``queuesmith import``: a sacct that is none, an archive on this machine."""

import functools
import hashlib
import http.server
import os
import threading
from pathlib import Path

import pytest

from queuesmith import read
from queuesmith.workload import archive
from queuesmith.workload.archive import LOGS, ArchiveLog

#: Prints jobs of a week that wait or run in the piece that is asked for, as sacct does.
FAKE = """#!{python}
import os, sys
from datetime import datetime
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1]
open("calls", "a").write(option("--starttime") + " " + option("--endtime") + "\\n")
if os.path.exists("broken") and len(open("calls").readlines()) > 1:
    sys.exit("sacct: error: slurmdbd: connection refused")
first, last = (datetime.fromisoformat(option(n)).timestamp() for n in ("--starttime", "--endtime"))
assert os.environ["SLURM_TIME_FORMAT"] == "%s" and "--allusers" in words
print(option("--format").replace(",", "|"))
start = datetime(2024, 3, 1).timestamp()
for day in range(6):
    submit = int(start + 86400 * day + 3600)
    begin, end = submit + 7200, submit + 7200 + 86400  # each runs into the next day
    if submit < last and end >= first:
        print(f"{{day + 1}}|{{day + 1}}|u{{day % 2}}|acc|grp|main|normal|{{submit}}|{{begin}}"
              f"|{{end}}|1-00:00:00|2-00:00:00|COMPLETED|1|4|4|{{submit}}|4G|cpu=4|cpu=4||n1|")
"""


@pytest.fixture
def sacct(tmp_path, monkeypatch):
    import sys

    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "sacct"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


WEEK = ("import", "slurm", "--start", "2024-03-01", "--end", "2024-03-08", "--days", "2")


@pytest.mark.usefixtures("sacct")
def test_jobs_are_fetched_in_pieces_into_one_file_each_once(run, tmp_path):
    outcome = run(*WEEK, "--out", "atlas.parquet")
    assert outcome.code == 0, outcome.err
    assert "wrote 6 jobs to atlas.parquet" in outcome.err
    assert len((tmp_path / "calls").read_text().splitlines()) == 4
    log = read("atlas.parquet")
    assert (log.id.tolist(), log.cores.tolist()) == ([1, 2, 3, 4, 5, 6], [4] * 6)
    assert (log.real_start - log.submit).tolist() == [7200] * 6
    assert not (tmp_path / "atlas.parquet.pieces").exists()


@pytest.mark.usefixtures("sacct")
def test_an_export_that_failed_goes_on_where_it_was(run, tmp_path):
    (tmp_path / "broken").touch()
    failed = run(*WEEK, "--out", "atlas.csv")
    assert failed.code == 1
    assert "connection refused" in failed.err
    assert "the same command goes on from there" in failed.err
    assert not (tmp_path / "atlas.csv").exists()
    (tmp_path / "broken").unlink()
    other = run(*WEEK[:-1], "3", "--out", "atlas.csv")
    assert other.code == 2 and "pieces of another export: its days is 2, not 3" in other.err
    assert run(*WEEK, "--out", "atlas.csv").code == 0
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 5 and calls.count(calls[0]) == 1  # the first piece was not asked for again
    assert len(read("atlas.csv")) == 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--start", "soon"], "--start is 'soon', but it must be a date"),
        (["--end", "2023-01-01"], "but it must end later"),
        (["--days", "0"], "--days is 0"),
        (["--sacct", "no-such-program"], "there is no program 'no-such-program' here"),
        (["--sacct", "true"], "sacct's table begins with a line of names"),
        (["--out", "atlas.txt"], "does not tell a format that can be written"),
    ],
)
def test_a_wrong_export_is_refused_in_a_sentence(run, words, sentence):
    outcome = run(*WEEK, "--out", "atlas.csv", *words)
    assert outcome.code in (1, 2)
    assert sentence in outcome.err


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder like the archive's, with one log in it."""
    data = b"not really gzipped"
    (tmp_path / "web" / "l_tiny").mkdir(parents=True)
    (tmp_path / "web" / "l_tiny" / "tiny.swf.gz").write_bytes(data)
    known = ArchiveLog("l_tiny", "tiny.swf.gz", hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(LOGS, "TINY", known)
    monkeypatch.setitem(LOGS, "DAMAGED", ArchiveLog("l_tiny", "tiny.swf.gz", "0" * 64))
    monkeypatch.setitem(LOGS, "GONE", ArchiveLog("l_tiny", "gone.swf.gz", "0" * 64))
    handler = functools.partial(Quiet, directory=str(tmp_path / "web"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_address[1]}"
        found.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


def test_a_log_of_the_archive_is_fetched_and_checked(run, server):
    outcome = run("import", "archive", "TINY", "--from", server, "--out", "tiny.swf.gz")
    assert outcome.code == 0, outcome.err
    assert Path("tiny.swf.gz").read_bytes() == b"not really gzipped"


@pytest.mark.parametrize(
    ("name", "out", "sentence"),
    [
        ("DAMAGED", "a.swf.gz", "has the checksum"),
        ("GONE", "a.swf.gz", "cannot be fetched ("),
        ("KTH-SP3", "a.swf.gz", "Did you mean 'KTH-SP2'"),
        ("TINY", "a.csv", "to a .swf.gz file"),
    ],
)
def test_what_is_not_the_log_is_not_written(run, server, name, out, sentence):
    outcome = run("import", "archive", name, "--from", server, "--out", out)
    assert outcome.code in (1, 2)
    assert sentence in outcome.err
    assert not Path(out).exists()


def test_only_the_web_is_an_archive(run, tmp_path):
    outcome = run(
        "import", "archive", "KTH-SP2", "--from", f"file://{tmp_path}", "--out", "a.swf.gz"
    )
    assert outcome.code == 2
    assert "must begin with https://" in outcome.err


@pytest.mark.data
def test_the_checksums_are_those_of_the_logs_at_hand(data):
    for log in archive.LOGS.values():
        content = (data / "traces" / log.file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == log.sha256

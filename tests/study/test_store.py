"""The record of a long run: whole rounds or nothing."""

import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.study.store import Round, Store, fingerprint

SETTINGS = {"method": "pittsburgh", "seed": 1, "features": ("slowdown",)}
ROUNDS = [Round("a", (1.5, 0.1 + 0.2), 0.5), Round("b", (-1e300,), 0.25)]

WRITER = """
import sys
from queuesmith.study.store import Round, Store
with Store(sys.argv[1], {"seed": 1}) as store:
    number = 0
    while True:
        store.add(Round(str(number), tuple(float(number) for _ in range(1000)), 0.0))
        number += 1
        print(number, flush=True)
"""


def test_rounds_come_back_exactly_as_they_were(tmp_path):
    path = tmp_path / "run.sqlite"
    with Store(path, SETTINGS) as store:
        assert store.rounds() == []
        for round in ROUNDS:
            store.add(round)
    with Store(path, SETTINGS) as store:
        assert store.rounds() == ROUNDS


def test_the_record_is_one_file(tmp_path):
    with Store(tmp_path / "run.sqlite", SETTINGS) as store:
        store.add(ROUNDS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["run.sqlite"]


def test_a_killed_writer_loses_at_most_the_round_in_flight(tmp_path):
    path = tmp_path / "run.sqlite"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    told = 0
    while told < 20:
        told = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    told = max([told, *(int(line) for line in writer.stdout.read().split())])
    writer.wait()
    writer.stdout.close()
    with Store(path, {"seed": 1}) as store:
        rounds = store.rounds()
    assert told <= len(rounds) <= told + 1
    for number, round in enumerate(rounds):
        assert round == Round(str(number), (float(number),) * 1000, 0.0)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({**SETTINGS, "seed": 2}, "its seed is 1, not 2"),
        ({**SETTINGS, "rules": 3}, "its rules is null, not 3"),
        ({"method": "pittsburgh", "seed": 1}, r"its features is \[\"slowdown\"\], not null"),
        ({**SETTINGS, "method": "x" * 100}, r"xxx\.\.\.\."),
    ],
)
def test_a_record_of_another_run_is_refused(tmp_path, other, sentence):
    path = tmp_path / "run.sqlite"
    Store(path, SETTINGS).close()
    with pytest.raises(UsageError, match=sentence):
        Store(path, other)
    Store(path, SETTINGS).close()  # and it stays as it was


def test_two_runs_cannot_share_a_record(tmp_path):
    path = tmp_path / "run.sqlite"
    with Store(path, SETTINGS), pytest.raises(UsageError, match="in use by another run"):
        Store(path, SETTINGS)


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("what I had for lunch, and why it matters so much " * 20)
    with pytest.raises(UsageError, match="no record of a run"):
        Store(path, SETTINGS)
    assert path.read_text().startswith("what I had")


def test_somebody_elses_database_is_refused_and_kept(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE lunch (name TEXT)")
    other.close()
    with pytest.raises(UsageError, match="no record of a run that this version can read"):
        Store(path, SETTINGS)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("lunch",)]
    other.close()


def test_a_folder_that_does_not_exist_is_told_at_once(tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        Store(tmp_path / "nowhere" / "run.sqlite", SETTINGS)


def test_a_record_that_cannot_be_written_is_told(tmp_path):
    path = tmp_path / "run.sqlite"
    with Store(path, SETTINGS) as store:
        store._file.execute("PRAGMA query_only = ON")
        with pytest.raises(OutputError, match="cannot be written"):
            store.add(ROUNDS[0])


def test_a_fingerprint_differs_where_the_content_does():
    assert fingerprint({"a": [1, 2]}) == fingerprint({"a": (1, 2)})
    assert fingerprint([0.1]) != fingerprint([0.1 + 1e-17 + 2e-17])

"""The journal of what was set."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from queuesmith.base.errors import OutputError
from queuesmith.live.changes import Change
from queuesmith.live.commands import SlurmError
from queuesmith.live.journal import Journal, default_folder

CHANGE = Change(5, "ann", 1_700_000_000, 42, 142)


def test_what_is_remembered_is_there_after_a_kill(tmp_path):
    with Journal(tmp_path, "atlas") as journal:
        journal.remember([CHANGE])
        journal.remember([Change(5, "ann", 1_700_000_000, 43, 143)])
    with Journal(tmp_path, "atlas") as journal:
        assert journal.entries[5].sites == {42, 43}
        assert (journal.entries[5].user, journal.entries[5].last) == ("ann", 43)
        journal.forget()
    with Journal(tmp_path, "atlas") as journal:
        assert journal.entries == {}


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_a_line_that_was_being_written_counts_for_nothing(tmp_path, cut):
    with Journal(tmp_path, "atlas") as journal:
        journal.remember([CHANGE])
        journal.remember([Change(6, "ann", 1_700_000_000, 42, 142)])
    path = tmp_path / "atlas.journal"
    os.truncate(path, path.stat().st_size - cut)
    with Journal(tmp_path, "atlas") as journal:
        assert list(journal.entries) == [5]
        journal.remember([Change(7, "ann", 1_700_000_000, 1, 1)])
    with Journal(tmp_path, "atlas") as journal:
        assert list(journal.entries) == [5, 7]


def test_a_header_that_was_being_written_counts_for_nothing(tmp_path):
    (tmp_path / "atlas.journal").write_text('{"journal": 1, "clus')
    with Journal(tmp_path, "atlas") as journal:
        journal.remember([CHANGE])
    with Journal(tmp_path, "atlas") as journal:
        assert list(journal.entries) == [5]


def test_a_journal_of_another_cluster_is_refused(tmp_path):
    with Journal(tmp_path, "atlas") as journal:
        journal.remember([CHANGE])
    (tmp_path / "atlas.journal").rename(tmp_path / "borea.journal")
    with pytest.raises(SlurmError, match="belongs to cluster 'atlas', but this is 'borea'"):
        Journal(tmp_path, "borea")


def test_a_damaged_journal_is_refused_and_not_passed_over(tmp_path):
    with Journal(tmp_path, "atlas") as journal:
        journal.remember([CHANGE])
    with (tmp_path / "atlas.journal").open("a") as file:
        file.write("rubbish\n")
    with pytest.raises(SlurmError, match="line 3 of journal"):
        Journal(tmp_path, "atlas")


def test_jobs_that_have_ended_are_left_out_of_a_long_journal(tmp_path):
    with Journal(tmp_path, "atlas") as journal:
        for job in (5, 6, 7):
            for site in (1, 3, 2):
                journal.remember([Change(job, "ann", 1_700_000_000, site, 100)])
        journal.keep_only({6, 8})
        assert list(journal.entries) == [6]
        journal.remember([Change(9, "ann", 1_700_000_000, 4, 100)])
    with Journal(tmp_path, "atlas") as journal:
        assert list(journal.entries) == [6, 9]
        assert (journal.entries[6].sites, journal.entries[6].last) == ({1, 2, 3}, 2)


def test_one_steerer_is_enough(tmp_path):
    with Journal(tmp_path, "atlas"), pytest.raises(SlurmError, match="is being steered by"):
        Journal(tmp_path, "atlas")
    Journal(tmp_path, "atlas").close()


def test_who_comes_after_a_kill_waits_for_the_last_command(tmp_path):
    program = (
        "import os, sys, subprocess; from pathlib import Path;"
        "from queuesmith.live.journal import Journal;"
        f"journal = Journal(Path({str(tmp_path)!r}), 'atlas');"
        "subprocess.Popen(['sleep', '1'], pass_fds=(journal.lock,));"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    began = time.monotonic()
    Journal(tmp_path, "atlas").close()
    assert time.monotonic() - began > 0.2


def test_a_full_disk_is_told_before_anything_is_changed(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "atlas.journal").symlink_to("/dev/full")
    journal = Journal.__new__(Journal)
    journal.cluster, journal.path, journal.entries = "atlas", tmp_path / "atlas.journal", {}
    journal._file = Path("/dev/full").open("ab")  # noqa: SIM115
    with pytest.raises(OutputError, match="so nothing more is changed"):
        journal.remember([CHANGE])
    assert journal.entries == {}
    with pytest.raises(OSError, match="space"):
        journal._file.close()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--journal"):
        Journal(tmp_path / "file" / "folder", "atlas")


def test_the_folder_is_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("QUEUESMITH_STATE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("QUEUESMITH_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "queuesmith"

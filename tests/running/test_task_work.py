import errno
import os
import subprocess
import time
from pathlib import Path

import pytest

from queuesmith.running import task_work
from queuesmith.running.records import Tail
from queuesmith.running.task_work import MARK, Ended, TaskOrder, kill_leftovers, run_task


@pytest.fixture
def order(tmp_path):
    def make(command, attempt=0, timeout=None):
        return TaskOrder(str(tmp_path), "bag", 0, attempt, command, timeout, str(tmp_path))

    return make


def test_output_and_exit_code_are_kept(order, tmp_path):
    end = run_task(order("echo out; echo err >&2; exit 3"))
    assert (end.ended, end.code) == (Ended.FAILED, 3) and end.end >= end.start
    assert (tmp_path / "output/bag/0.0.out").read_text() == "out\n"
    assert (tmp_path / "output/bag/0.0.err").read_text() == "err\n"
    (path,) = (tmp_path / "records").glob("*.jsonl")
    events = [line["event"] for line in Tail(path).lines()]
    assert events == ["started", "ended"]


def test_an_attempt_is_run_once_however_often_it_is_handed_out(order, tmp_path):
    command = "echo ran >> count"
    assert run_task(order(command)).ended is Ended.DONE
    assert run_task(order(command)).ended is Ended.TAKEN
    assert run_task(order(command, attempt=1)).ended is Ended.DONE
    assert (tmp_path / "count").read_text() == "ran\n" * 2


def test_a_task_that_takes_too_long_is_killed_with_all_it_started(order, tmp_path):
    end = run_task(order("sleep 60 & echo $! > child; wait", timeout=0.3))
    assert end.ended is Ended.TIMED_OUT
    child = Path("/proc") / (tmp_path / "child").read_text().strip()
    for _ in range(50):
        if not child.exists() or "Z" in (child / "stat").read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the child of a task outlived its time-out")


@pytest.mark.parametrize("how", ["(trap '' TERM; sleep 60)", "setsid sleep 60"])
def test_a_child_outlives_no_time_out_though_it_ignores_the_signal_or_has_left_the_group(
    order, monkeypatch, how
):
    monkeypatch.setattr(task_work, "GRACE", 0.5)
    wanted = order(f"{how} & wait", timeout=0.5)
    assert run_task(wanted).ended is Ended.TIMED_OUT
    time.sleep(0.2)
    assert kill_leftovers(wanted.mark) == 0


def test_a_child_has_time_to_end_after_its_shell_did(order, tmp_path):
    slow = "(trap 'sleep 0.3; echo saved > saved; exit' TERM; while :; do sleep 0.1; done) & wait"
    assert run_task(order(slow, timeout=0.5)).ended is Ended.TIMED_OUT
    assert (tmp_path / "saved").read_text() == "saved\n"


def test_a_task_killed_by_a_signal_says_which(order):
    end = run_task(order("kill -9 $$"))
    assert (end.ended, end.code) == (Ended.FAILED, -9)


def test_a_command_that_cannot_be_started_fails_and_says_so(order, tmp_path):
    end = run_task(order("x" * 3_000_000))
    assert end.ended is Ended.FAILED and end.code is None
    assert "cannot be started" in (tmp_path / "output/bag/0.0.err").read_text()


def test_a_full_disk_means_that_the_task_was_not_begun(order, monkeypatch):
    wanted = order("true")

    def full(self, *arguments, **options):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(task_work.Path, "open", full)
        assert run_task(wanted).ended is Ended.NO_ROOM
    assert run_task(wanted).ended is Ended.DONE


def test_what_an_attempt_left_running_is_found_by_its_mark(order):
    mark = order("").mark
    process = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: mark})
    other = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: mark + "1"})
    assert kill_leftovers(mark) == 1
    assert process.wait(10) == -9 and other.poll() is None
    other.kill()
    other.wait()

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.web import run_process
from queuesmith.web.instances import PAPER_CLUSTERS
from queuesmith.web.runs import (
    FAILURE,
    JOBS,
    OUTPUT,
    PROCESS,
    SPECIFICATION,
    STOPPED,
    Run,
    RunShelf,
    load_jobs,
    save_jobs,
)
from queuesmith.web.runs_view import _card
from tests.web.conftest import small_log

LEARN = {"kind": "learn", "objective": "awrt", "method": "pittsburgh", "seed": 1, "cores": 64}


@pytest.fixture
def make_run(tmp_path):
    """Return what makes the folder of a run, without a process."""

    def make(name="20260101-000000-abcdef", **asked):
        folder = tmp_path / name
        folder.mkdir()
        save_jobs(small_log(60), folder / JOBS)
        (folder / SPECIFICATION).write_text(json.dumps({**LEARN, "generations": 1, **asked}))
        return Run(folder)

    return make


def test_jobs_are_kept_as_they_are(tmp_path):
    jobs = small_log(epoch=5)
    save_jobs(jobs, tmp_path / JOBS)
    again = load_jobs(tmp_path / JOBS)
    for column in ("submit", "runtime", "walltime", "cores", "id", "user", "group"):
        assert np.array_equal(getattr(again, column), getattr(jobs, column))
    assert np.array_equal(again.extra["partition"], jobs.extra["partition"])
    assert (again.labels, again.name, again.epoch) == (jobs.labels, jobs.name, jobs.epoch)


def test_jobs_that_would_run_code_are_not_read(tmp_path):
    np.savez(tmp_path / "jobs.npz", facts=np.array([{}], dtype=object))
    with pytest.raises(UsageError, match="cannot be read"):
        load_jobs(tmp_path / "jobs.npz")


def test_a_run_learns_a_policy_and_tells_how_far_it_is(make_run):
    run = make_run()
    assert run.status == "interrupted"
    assert run_process.main(run.folder) == 0
    assert run.status == "finished"
    assert [step["share"] for step in run.steps][-1] == 1.0
    assert run.steps[-1]["best"] <= run.steps[0]["best"]
    assert run.policy is not None
    assert {row["jobs"] for row in run.result["rows"]} == {"learned on", "held out"}


def test_a_run_sweeps_the_knobs(make_run):
    run = make_run(kind="sweep", ranges="0:1:1", backfill="easy")
    assert run_process.main(run.folder) == 0
    found = run.result
    assert all(len(values) == len(found["settings"]) for values in found["costs"].values())


@pytest.mark.parametrize(
    ("place", "queue", "method"),
    [("grid u_c_hihi", None, "min-min"), (PAPER_CLUSTERS, "WL-1", "lpt")],
)
def test_a_run_places_jobs_and_says_what_is_proven(make_run, place, queue, method):
    run = make_run(kind="placement", place=place, queue=queue, method=method, seconds=1.0)
    assert run_process.main(run.folder) == 0
    assert "least possible" in run.result["said"]
    assert run.result["gantt"]["policies"][0]["name"] == method


def test_a_run_that_cannot_be_says_why(make_run):
    run = make_run(objective="nonsense")
    assert run_process.main(run.folder) == 1
    assert run.status == "failed"
    assert "nonsense" in run.failure
    assert (run.folder / FAILURE).exists()


@pytest.mark.parametrize("error", [TypeError("no such thing"), KeyError("kind"), MemoryError()])
def test_an_error_that_nobody_foresaw_is_a_sentence_and_its_details_are_kept(
    make_run, monkeypatch, capsys, error
):
    def fails(run, tell):
        raise error

    run = make_run()
    monkeypatch.setattr(run_process, "KINDS", {"learn": fails})
    assert run_process.main(run.folder) == 1
    assert run.status == "failed"
    assert type(error).__name__ in run.failure
    assert run.failure.endswith(f"Details are in {run.folder / OUTPUT}.")
    assert "in fails" in capsys.readouterr().err


def test_a_result_that_cannot_be_written_is_said(make_run, monkeypatch):
    run = make_run()
    monkeypatch.setattr(run_process, "KINDS", {"learn": lambda run, tell: {"rows": object()}})
    assert run_process.main(run.folder) == 1
    assert run.status == "failed"


def test_a_process_that_ended_without_a_word_is_said_where_to_look_for(make_run):
    run = make_run()
    assert run.failure == ""
    (run.folder / OUTPUT).write_text("ImportError: libgomp.so.1\n")
    assert run.status == "interrupted"
    assert str(run.folder / OUTPUT) in run.failure
    assert str(run.folder / OUTPUT) in str(_card(run, "Learn.", looked_at=True))


def test_a_number_that_is_another_process_by_now_is_not_taken_for_the_run(make_run, tmp_path):
    run = make_run()
    (run.folder / PROCESS).write_text(str(os.getpid()))
    assert run.process is None
    (run.folder / PROCESS).write_text("no number")
    assert run.process is None
    shelf = RunShelf(tmp_path)
    shelf.stop(run)
    assert run.status == "stopped"


def test_a_run_is_stopped_by_its_own_process_and_goes_on(make_run, tmp_path, monkeypatch):
    run, shelf = make_run(), RunShelf(tmp_path)
    code = "import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code, str(run.folder)])
    (run.folder / PROCESS).write_text(str(process.pid))
    end = time.monotonic() + 30
    while run.status != "running" and time.monotonic() < end:
        time.sleep(0.01)
    assert run.status == "running"
    shelf.stop(run)
    process.wait()
    assert run.status == "stopped"
    started = []

    class Started:
        pid = os.getpid()
        wait = time.time

        def __init__(self, words, **options):
            started.append((words, options["start_new_session"]))

    monkeypatch.setattr("subprocess.Popen", Started)
    shelf.resume(run)
    assert started[0][0][-1] == str(run.folder)
    assert started[0][1] is True
    assert not (run.folder / STOPPED).exists()


def test_only_folders_of_runs_are_runs(tmp_path, make_run):
    run = make_run()
    (tmp_path / "upload-0123456789abcdef-x.swf").write_text("")
    shelf = RunShelf(tmp_path)
    assert [each.name for each in shelf] == [run.name]
    for name in ("..", "20260101-000000-ffffff", "upload-0123456789abcdef-x.swf"):
        with pytest.raises(UsageError, match="no run"):
            shelf.find(name)


def test_two_tabs_that_let_a_run_go_on_begin_one_process(make_run, tmp_path, monkeypatch):
    begun = []

    class Process:
        pid = os.getpid()

        def __init__(self, *_, **__):
            begun.append(self)
            time.sleep(0.05)  # the other tab asks meanwhile

        def wait(self):
            return 0

    run, shelf = make_run(), RunShelf(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(
        Run, "process", property(lambda run: (run.folder / PROCESS).exists() or None)
    )
    with ThreadPoolExecutor(2) as tabs:
        list(tabs.map(shelf.resume, [run, run]))
    assert len(begun) == 1


def test_jobs_that_are_cut_off_are_not_read(make_run):
    kept = make_run().folder / JOBS
    kept.write_bytes(kept.read_bytes()[:1000])
    with pytest.raises(UsageError, match=r"cannot be read\. Start it anew"):
        load_jobs(kept)

import random
import sqlite3
from pathlib import Path

import pytest

from queuesmith.base.errors import OutputError, QueuesmithError, UsageError
from queuesmith.campaign import read_results, read_study, run_study, unit_work
from queuesmith.campaign.course import StudyError
from queuesmith.campaign.unit_work import _log, evaluate, work_on
from queuesmith.campaign.units import units_of
from queuesmith.policy import as_policy
from queuesmith.study.engines import LocalEngine
from queuesmith.workload.files import write
from queuesmith.workload.synthetic import lublin
from tests.study.inline_engine import InlineEngine

STUDY = """
policies = ["fcfs+easy", "sjf+easy"]
seeds = 4
load_factors = [0.8, 1.0]
metrics = ["mean_wait", "utilization"]
[[logs]]
generate = "lublin"
jobs = 60
cores = 16
load = 0.9
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return read_study(path)


def table(study, folder):
    results = read_results(study, folder)
    results.save(folder / "results.sqlite")
    return (folder / "results.sqlite").read_bytes()


@pytest.fixture
def expected(study, tmp_path):
    run_study(study, InlineEngine(), tmp_path / "one")
    return table(study, tmp_path / "one")


def test_a_second_run_computes_nothing(study, tmp_path):
    _, first = run_study(study, InlineEngine(), tmp_path / "a")
    _, second = run_study(study, InlineEngine(), tmp_path / "a")
    assert first.computed == 16 and second.computed == 0 and second.known == 16


@pytest.mark.parametrize("workers", [2, 5])
def test_the_table_is_the_same_on_any_number_of_workers(study, tmp_path, expected, workers):
    run_study(study, InlineEngine(workers), tmp_path / "a", chunk_seconds=0)
    assert table(study, tmp_path / "a") == expected


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lost_workers_change_no_result(study, tmp_path, expected, seed):
    lost = random.Random(seed).sample(range(12), 4)
    engine = InlineEngine(3, lose=lost)
    _, course = run_study(study, engine, tmp_path / "a", chunk_seconds=0)
    assert course.lost == 4 and course.computed == 16
    assert table(study, tmp_path / "a") == expected


def test_shards_that_went_away_are_computed_again(study, tmp_path, expected):
    run_study(study, InlineEngine(), tmp_path / "a", chunk_seconds=0)
    shards = sorted((tmp_path / "a").glob("shard-*"))
    shards[0].unlink()
    shards[1].write_bytes(b"{}")
    results, course = run_study(study, InlineEngine(), tmp_path / "a")
    assert course.computed == 2 and results.damaged == 1
    assert table(study, tmp_path / "a") == expected


def test_real_processes_find_the_same(study, tmp_path, expected):
    with LocalEngine(2) as engine:
        run_study(study, engine, tmp_path / "a", chunk_seconds=0.01)
    assert table(study, tmp_path / "a") == expected


def test_a_dask_cluster_finds_the_same(study, tmp_path, expected, dask_scheduler):
    from queuesmith.study.dask_engines import DaskEngine

    with DaskEngine(dask_scheduler) as engine:
        run_study(study, engine, tmp_path / "a", chunk_seconds=0.01)
    assert table(study, tmp_path / "a") == expected


def test_workers_that_all_go_away_end_the_run_with_a_sentence(study, tmp_path):
    engine = InlineEngine(lose=range(1000))
    with pytest.raises(StudyError, match="workers in a row went away"):
        run_study(study, engine, tmp_path / "a")


def test_a_unit_without_a_value_is_a_result_and_says_why(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('"utilization"', '"awrt[9]"'))
    results, course = run_study(read_study(path), InlineEngine(), tmp_path / "a")
    assert course.computed == 16 and len(results.without_value) == 16
    assert results.rows()[0]["awrt[9]"] is None


def test_a_learned_policy_is_judged_where_fixed_ones_are(tmp_path):
    path = tmp_path / "study.toml"
    method = '[[methods]]\nmethod = "priority"\nobjective = "mean_wait"\ngenerations = 1'
    small = STUDY.replace("seeds = 4", "seeds = 1").replace("[0.8, 1.0]", "[1.0]")
    path.write_text(small + method)
    study = read_study(path)
    results, _ = run_study(study, InlineEngine(), tmp_path / "a")
    assert study.split == 0.7 and not results.without_value
    assert {row["policy"] for row in results.rows()} >= {"fcfs+easy", "priority: mean_wait"}


def test_a_metric_of_ones_own_is_measured_and_names_its_units(tmp_path):
    (tmp_path / "mine.py").write_text("def longest(schedule):\n    return schedule.wait.max()\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('"utilization"', '"max_wait", "mine.py:longest"'))
    study = read_study(path)
    assert study.metrics == ("mean_wait", "max_wait", "longest")
    results, _ = run_study(study, InlineEngine(), tmp_path / "a")
    assert all(row["longest"] == row["max_wait"] for row in results.rows())
    (tmp_path / "mine.py").write_text("def longest(schedule):\n    return 0\n")
    _, course = run_study(read_study(path), InlineEngine(), tmp_path / "a")
    assert course.computed == 16  # another metric, other units


class ChangingEngine(InlineEngine):
    """Before its second chunk somebody changes a file."""

    def __init__(self, change):
        super().__init__(1)
        self.change, self.asked = change, 0

    def submit(self, work, *arguments):
        self.asked += 1
        if self.asked == 2:
            self.change()
        return super().submit(work, *arguments)


def of_a_file(tmp_path, policies='"fcfs+easy", "sjf+easy"', metrics='"mean_wait"'):
    write(lublin(60, 16, load=0.9, seed=1), tmp_path / "jobs.swf")
    path = tmp_path / "study.toml"
    path.write_text(
        f"policies = [{policies}]\nmetrics = [{metrics}]\n[[logs]]\nfile = 'jobs.swf'\n"
    )
    _log.cache_clear()  # as in a worker that has just begun
    return read_study(path)


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"1 0 0 5 1\n")])
def test_a_log_that_changes_meanwhile_ends_the_study_and_is_no_result(tmp_path, change):
    study, log = of_a_file(tmp_path), tmp_path / "jobs.swf"
    kept = log.read_bytes()

    def lose():
        change(log)
        _log.cache_clear()

    with pytest.raises(QueuesmithError, match="'jobs"):
        run_study(study, ChangingEngine(lose), tmp_path / "a", chunk_seconds=0)
    log.write_bytes(kept)
    results, course = run_study(study, InlineEngine(), tmp_path / "a")
    assert (course.known, course.computed) == (1, 1) and not results.without_value


def test_what_a_chunk_has_found_before_an_error_is_kept(tmp_path, monkeypatch):
    study = of_a_file(tmp_path)
    units = units_of(study)

    def once(unit):
        if unit is units[1]:
            raise UsageError("the log is gone")
        return evaluate(unit)

    monkeypatch.setattr(unit_work, "evaluate", once)
    with pytest.raises(UsageError, match="gone"):
        work_on(units, str(tmp_path / "a"), 60)
    assert read_results(study, tmp_path / "a").done == 1


@pytest.mark.parametrize("kind", ["order", "policy file", "metric"])
def test_a_file_of_ones_own_that_changes_meanwhile_ends_the_study(tmp_path, kind):
    mine, saved = tmp_path / "mine.py", tmp_path / "saved.json"
    mine.write_text(
        "def widest(job, now):\n    return job.cores\n"
        "def longest(schedule):\n    return schedule.wait.max()\n"
    )
    as_policy("sjf+easy").save(saved)
    policy = {"order": f"{mine}:widest+easy", "policy file": f"{saved}"}.get(kind, "sjf+easy")
    metric = f"{mine}:longest" if kind == "metric" else "mean_wait"
    study = of_a_file(tmp_path, f"'fcfs+easy', '{policy}'", f"'{metric}'")

    def edit():
        if kind == "policy file":
            as_policy("ljf+easy").save(saved)
        else:
            text = mine.read_text()
            mine.write_text(text.replace("job.cores", "-job.cores").replace("max", "min"))

    with pytest.raises(QueuesmithError, match="has changed since the study was begun"):
        run_study(study, ChangingEngine(edit), tmp_path / "a", chunk_seconds=0)


def test_the_table_is_written_in_three_formats(study, tmp_path):
    results, _ = run_study(study, InlineEngine(), tmp_path / "a")
    for name in ("t.csv", "t.parquet", "t.sqlite"):
        results.save(tmp_path / name)
    with sqlite3.connect(tmp_path / "t.sqlite") as file:
        assert file.execute("SELECT count(*), min(mean_wait) FROM unit").fetchone()[0] == 16
    file.close()
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 17
    with pytest.raises(OutputError, match=r"End it in \.sqlite"):
        results.save(tmp_path / "t.xlsx")


def test_chunks_have_a_sensible_length(study, tmp_path):
    with pytest.raises(QueuesmithError, match="the seconds of a chunk is -1"):
        run_study(study, InlineEngine(), tmp_path / "a", chunk_seconds=-1)

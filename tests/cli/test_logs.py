"""Commands that look at, make and reshape job logs."""

import json
import re

import numpy as np
import pytest

from queuesmith import read
from tests.cli.conftest import fits_a_terminal

CORE = ("id", "submit", "runtime", "walltime", "cores", "user", "group")


def same_jobs(one, other, columns=CORE):
    return all(np.array_equal(getattr(one, c), getattr(other, c)) for c in columns)


# -- describe ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["small.swf", "small.csv", "small.parquet"])
def test_describe_says_what_is_in_a_log_of_any_format(run, logs, name):
    outcome = run("describe", logs / name)
    assert outcome.code == 0
    assert outcome.err == ""
    assert re.search(r"jobs +200\b", outcome.out)
    assert "offered load" in outcome.said


def test_describe_as_json_is_one_object(run, log):
    described = json.loads(run("describe", log, "--format", "json").out)
    assert described["jobs"] == 200
    assert described["machine_cores"] == 64
    assert described["load"] == pytest.approx(0.9, rel=0.05)


def test_describe_as_csv_has_a_line_for_each_fact(run, log):
    lines = run("describe", log, "--format", "csv").out.splitlines()
    assert lines[0] == "what,value"
    assert "jobs,200" in lines


def test_describe_of_a_single_job_has_null_where_there_is_no_number(run, log):
    described = json.loads(run("describe", log, "--head", 1, "--format", "json").out)
    assert described["jobs"] == 1
    assert described["load"] is None


def test_describe_draws_a_page_that_is_the_same_every_time(run, log, tmp_path):
    for name in ("one.html", "two.html"):
        outcome = run("describe", log, "--plot", name)
        assert (outcome.code, outcome.err) == (0, f"wrote {name}\n")
    one, two = (tmp_path / name for name in ("one.html", "two.html"))
    assert one.read_bytes() == two.read_bytes()
    assert "plotly" in one.read_text()


# -- generate ----------------------------------------------------------------------------------


def test_generate_gives_the_same_bytes_for_the_same_seed(run, tmp_path):
    words = [
        "generate",
        "lublin",
        "--jobs",
        "100000",
        "--cores",
        "1024",
        "--load",
        "0.8",
        "--seed",
        "0",
        "--out",
    ]
    for name in ("log.swf.gz", "again.swf.gz"):
        outcome = run(*words, name)
        assert outcome == (0, "", f"wrote 100,000 jobs to {name}\n")
    assert (tmp_path / "log.swf.gz").read_bytes() == (tmp_path / "again.swf.gz").read_bytes()
    made = read(tmp_path / "log.swf.gz")
    assert len(made) == 100_000
    assert made.machine_cores == 1024
    assert made.load(1024) == pytest.approx(0.8, rel=0.01)


@pytest.mark.parametrize("model", ["lublin", "bag-of-tasks"])
def test_generate_gives_other_jobs_for_another_seed(run, tmp_path, model):
    for seed in (1, 2):
        name = f"{seed}.csv"
        words = ["--jobs", 50, "--cores", 8, "--seed", seed, "--users", 3, "--out", name]
        assert run("generate", model, *words).code == 0
    one, two = read(tmp_path / "1.csv"), read(tmp_path / "2.csv")
    assert len(one) == len(two) == 50
    assert not np.array_equal(one.submit, two.submit)
    assert len(np.unique(one.user)) <= 3


def test_generate_without_estimates_gives_the_runtime_as_walltime(run, tmp_path):
    words = [
        "generate",
        "lublin",
        "--jobs",
        "50",
        "--cores",
        "8",
        "--no-estimates",
        "--quiet",
        "--out",
        "exact.swf",
    ]
    assert run(*words) == (0, "", "")
    made = read(tmp_path / "exact.swf")
    assert np.array_equal(made.walltime, made.runtime)


# -- convert -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["swf", "swf.gz", "csv", "parquet"])
def test_convert_keeps_the_jobs_in_every_format(run, log, tmp_path, ending):
    out = f"converted.{ending}"
    assert run("convert", log, "--out", out) == (0, "", f"wrote 200 jobs to {out}\n")
    assert same_jobs(read(log), read(tmp_path / out))


def test_convert_there_and_back_gives_the_same_jobs(run, log, tmp_path):
    assert run("convert", log, "--out", "a.parquet").code == 0
    assert run("convert", "a.parquet", "--out", "b.csv").code == 0
    assert run("convert", "b.csv", "--out", "c.swf").code == 0
    assert same_jobs(read(log), read(tmp_path / "c.swf"))


def test_convert_takes_the_first_jobs(run, log, tmp_path):
    assert run("convert", log, "--head", 7, "--out", "part.swf").code == 0
    assert read(tmp_path / "part.swf").id.tolist() == read(log).id[:7].tolist()


def test_convert_takes_the_jobs_between_two_seconds(run, log, tmp_path):
    submit = read(log).submit
    first, last = int(submit[20]), int(submit[150])
    assert run("convert", log, "--between", f"{first}:{last}", "--out", "part.csv").code == 0
    part = read(tmp_path / "part.csv").submit
    assert part.tolist() == submit[(submit >= first) & (submit < last)].tolist()


def test_convert_moves_arrivals_for_another_load(run, log, tmp_path):
    assert run("convert", log, "--load-factor", 2, "--out", "busy.swf").code == 0
    before, after = read(log), read(tmp_path / "busy.swf")
    assert after.load(64) == pytest.approx(2 * before.load(64), rel=0.01)


def test_convert_overwrites_what_stood_there(run, log, tmp_path):
    (tmp_path / "out.csv").write_text("old")
    assert run("convert", log, "--out", "out.csv").code == 0
    assert len(read(tmp_path / "out.csv")) == 200
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_unsorted_submits_are_sorted_and_noted(run, log, tmp_path):
    lines = log.read_text().splitlines()
    header = [line for line in lines if line.startswith(";")]
    jobs = [line for line in lines if not line.startswith(";")]
    (tmp_path / "back.swf").write_text("\n".join([*header, *reversed(jobs)]) + "\n")
    outcome = run("convert", "back.swf", "--out", "sorted.swf")
    assert outcome.code == 0
    assert re.search(r"note: \d+ jobs mended: .*sorted by submit time", outcome.err)
    assert same_jobs(read(log), read(tmp_path / "sorted.swf"))


# -- sacct -------------------------------------------------------------------------------------


def test_a_sacct_export_is_read_by_its_header(run, sacct, tmp_path):
    assert run("convert", sacct, "--out", "jobs.csv").code == 0
    jobs = read(tmp_path / "jobs.csv")
    assert jobs.submit.tolist() == [0, 5, 6]
    assert jobs.runtime.tolist() == [3600] * 3
    assert jobs.cores.tolist() == [4] * 3


def test_a_sacct_text_without_header_is_read_by_the_columns_of_xdmod(run, tmp_path):
    row = (
        "{id}|{id}|atlas|main|normal|bio|staff|100|ann|1000|2024-03-01T00:00:0{id}|"
        "2024-03-01T00:00:00|2024-03-01T01:00:00|2024-03-01T02:00:00|01:00:00|0:0|COMPLETED|1|4|4|"
        "4G|cpu=4|cpu=4|02:00:00|n[1]|a name"
    )
    (tmp_path / "export.txt").write_text("\n".join(row.format(id=id) for id in (1, 2)) + "\n")
    assert run("convert", "export.txt", "--columns", "xdmod", "--out", "jobs.swf").code == 0
    jobs = read(tmp_path / "jobs.swf")
    assert jobs.id.tolist() == [1, 2]
    assert jobs.submit.tolist() == [0, 1]
    assert jobs.walltime.tolist() == [7200, 7200]


def test_the_time_zone_shifts_the_dates_of_a_sacct_text(run, sacct, tmp_path):
    epochs = []
    for zone in ("UTC", "Europe/Berlin"):
        assert run("convert", sacct, "--timezone", zone, "--out", "jobs.swf").code == 0
        epochs.append(read(tmp_path / "jobs.swf").epoch)
    assert epochs[0] - epochs[1] == 3600


def test_users_are_grouped_by_a_column_of_the_log(run, sacct):
    words = ("--groups", "account", "--format", "json")
    groups = json.loads(run("describe", sacct, *words).out)["groups"]
    assert sorted(group["name"].split()[-1] for group in groups) == ["bio", "chem"]


def test_thresholds_divide_the_users(run, sacct):
    words = ("--thresholds", "0.5", "--format", "json")
    groups = json.loads(run("describe", sacct, *words).out)["groups"]
    assert [group["jobs"] for group in groups] == [2, 1]


# -- scale -------------------------------------------------------------------------------------


def test_scale_makes_a_log_for_another_machine(run, log, tmp_path):
    words = ["--from", "430", "--to", "1024", "--seed", "0", "--out"]
    for name in ("scaled.swf.gz", "again.swf.gz"):
        assert run("scale", log, *words, name).code == 0
    assert (tmp_path / "scaled.swf.gz").read_bytes() == (tmp_path / "again.swf.gz").read_bytes()
    scaled = read(tmp_path / "scaled.swf.gz")
    assert scaled.machine_cores == 1024
    assert len(scaled) > 200


def test_scale_takes_the_size_that_the_log_states(run, log, tmp_path):
    assert run("scale", log, "--to", 128, "--widen", 1, "--out", "stated.swf").code == 0
    assert (
        run(
            "scale", log, *["--from", "64", "--to", "128", "--widen", "1", "--out", "given.swf"]
        ).code
        == 0
    )
    assert (tmp_path / "stated.swf").read_bytes() == (tmp_path / "given.swf").read_bytes()
    assert read(tmp_path / "stated.swf").cores.sum() == 2 * read(log).cores.sum()


def test_scale_notes_the_jobs_that_were_not_drawn(run, log):
    outcome = run("scale", log, "--to", 8, "--out", "less.swf")
    assert outcome.code == 0
    assert re.search(r"note: \d+ jobs left out: not drawn in scaling from 64 to 8", outcome.err)


def test_scale_asks_for_the_size_where_the_log_does_not_state_it(run, log, tmp_path):
    jobs = [line for line in log.read_text().splitlines() if not line.startswith(";")]
    (tmp_path / "sizeless.swf").write_text("\n".join(jobs))
    outcome = run("scale", "sizeless.swf", "--to", 8, "--out", "out.swf")
    assert outcome.code == 2
    assert outcome.err.endswith("Give --from N.\n")
    assert not (tmp_path / "out.swf").exists()


@pytest.mark.usefixtures("narrow")
def test_describe_says_who_waited_how_long_where_history_is_known(run, sacct):
    outcome = run("describe", sacct)
    assert outcome.code == 0
    assert fits_a_terminal(outcome.out)
    for word in ("partition", "qos", "account", "user", "size", "daytime (UTC)", "longest"):
        assert word in outcome.out
    found = json.loads(run("describe", sacct, "--format", "json").out)
    assert found["waits"]["user"][0] == {
        "part": "ann",
        "jobs": 2,
        "mean": 1807.0,
        "median": 1807.0,
        "p95": pytest.approx(3424.3),
        "longest": 3604.0,
    }
    assert "00:00 " in run("describe", sacct, "--by", "hour").out
    only = run("describe", sacct, "--by", "user").out
    assert "ann" in only and "account" not in only


def test_describe_takes_a_number_of_cores_and_says_where_history_contradicts_it(run, sacct):
    assert "contradicts" not in run("describe", sacct, "--cores", 4).out
    outcome = run("describe", sacct, "--cores", 3)
    assert "4 cores were really busy at once, but it has 3" in outcome.said
    assert json.loads(run("describe", sacct, "--cores", 3, "--format", "json").out)["load"] > 0


def test_waits_are_not_shown_of_a_log_without_history(run, log):
    assert "longest" not in run("describe", log).out
    outcome = run("describe", log, "--by", "user")
    assert outcome.code == 1
    assert "does not tell when its jobs really began" in outcome.err

"""Forecasts that are noted on disk and learned from."""

import json
from dataclasses import replace

import pytest

from queuesmith.base.errors import OutputError
from queuesmith.cli import main
from queuesmith.live.commands import SlurmError
from queuesmith.live.forecast import forecast
from queuesmith.live.marks import as_learned, told
from queuesmith.live.state import look
from queuesmith.live.steered import Steered
from queuesmith.policy import as_policy

#: As they were noted when there was one level for all.
OLD = '{"forecasts": 1, "cluster": "atlas", "levels": {"": 0.9}}\n'


def later(state, seconds, *, running=()):
    """The same cluster some time later, when some jobs have just started."""
    jobs = tuple(
        replace(job, state="RUNNING", elapsed=0, node_list="n1") if job.id in running else job
        for job in state.jobs
    )
    return replace(state, now=state.now + seconds, jobs=jobs)


def lines(folder):
    text = (folder / "atlas.forecasts").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_forecasts_are_noted_and_what_came_is_learned(slurm, tmp_path):
    state = look()
    expected = forecast(state)
    found, sentence = told(expected, state, None, tmp_path)
    assert [each.median for each in found] == [each.median for each in expected]
    assert "forecasts elsewhere" in sentence  # nothing is known yet
    header, *noted = lines(tmp_path)
    assert header["cluster"] == "atlas" and [each["job"] for each in noted] == [2, 3, 4]
    then = later(state, 600, running=(2,))
    told(forecast(then), then, None, tmp_path)
    of_two, of_three, *_ = lines(tmp_path)[1:]
    assert of_two["started"] and of_two["until"] == then.now
    assert not of_three["started"] and of_three["until"] == then.now


def test_marks_rest_on_past_jobs_of_the_same_policy(slurm, tmp_path):
    state = look()
    told(forecast(state), state, None, tmp_path)
    then = later(state, 50_000, running=(2, 3))
    expected = forecast(then)
    found, sentence = told(expected, then, None, tmp_path)
    assert sentence == "marks rest on what came of forecasts of 2 past jobs"
    assert found[0].late > expected[0].late and found[0].rests_on == 2
    steered = Steered(as_policy("sjf+easy"))
    assert {each.rests_on for each in told(expected, then, None, tmp_path, steered)[0]} == {0}


def test_who_only_looks_sees_the_same_marks_and_notes_nothing(slurm, tmp_path):
    state = look()
    told(forecast(state), state, None, tmp_path)
    before, then = lines(tmp_path), later(state, 50_000, running=(2, 3))
    expected = forecast(then)
    found = as_learned(expected, then, None, tmp_path)
    assert lines(tmp_path) == before
    assert found == told(expected, then, None, tmp_path)[0]
    assert as_learned(expected, then, None, tmp_path / "none")[0].rests_on == 0
    assert not (tmp_path / "none").exists()


def test_who_is_foretold_again_at_once_is_not_noted_again(slurm, tmp_path):
    state = look()
    for seconds in (0, 5, 40):
        told(forecast(state), later(state, seconds), None, tmp_path)
    assert len(lines(tmp_path)) == 1 + 6


def test_a_file_that_is_something_else_is_refused(slurm, tmp_path):
    state = look()
    expected = forecast(state)
    for text in ("", "no json\n", '{"forecasts": 2, "cluster": "other", "levels": {}}\n', OLD):
        (tmp_path / "atlas.forecasts").write_text(text)
        with pytest.raises(SlurmError, match=r"does not hold forecasts of cluster 'atlas'"):
            told(expected, state, None, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"forecasts cannot be noted in .*--as-replayed"):
        told(expected, state, None, tmp_path / "file")


def test_the_command_says_on_what_marks_rest(slurm, tmp_path, capsys):
    assert main(["slurm", "forecast", "-q"]) == 0
    assert "forecasts elsewhere" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "state" / "atlas.forecasts").exists()
    assert main(["slurm", "forecast", "-q", "--as-replayed", "--marks", str(tmp_path / "m")]) == 0
    assert not (tmp_path / "m").exists()
    assert main(["slurm", "forecast", "-q", "--format", "csv", "--marks", str(tmp_path / "m")]) == 0
    assert "learned_from_jobs" in capsys.readouterr().out
    assert (tmp_path / "m" / "atlas.forecasts").exists()

"""One planning step: what it holds, how it is kept, what it refuses."""

import json

import numpy as np
import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.planning import Snapshot
from tests.planning.twins import random_snapshot

STEP = {
    "now": 100,
    "cores": 8,
    "staircase": [(100, 2), (160, 8)],
    "submit": [90, 95],
    "walltime": [60, 30],
    "width": [8, 2],
}


def test_a_snapshot_saves_to_json_and_loads_back(tmp_path):
    step = random_snapshot(6)
    step.save(tmp_path / "step.json")
    again = Snapshot.load(tmp_path / "step.json")
    assert again.to_dict() == step.to_dict()
    assert len(again) == 6


def test_weights_are_one_unless_given():
    assert Snapshot.make(**STEP).weight.tolist() == [1, 1]
    assert Snapshot.make(**STEP, weight=[2, 0.5]).weight.tolist() == [2, 0.5]


def test_a_job_submitted_later_is_released_then():
    step = Snapshot.make(**{**STEP, "submit": [90, 130]})
    assert step.release.tolist() == [100, 130]


def test_it_says_what_it_is():
    assert repr(Snapshot.make(**STEP)) == "<Snapshot at 100 s: 2 jobs, 2 of 8 cores free>"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"width": [9, 2]}, "job 1 asks for 9 cores, but the machine has 8"),
        ({"staircase": [(100, 2)]}, "the staircase never has more than 2"),
        ({"staircase": [(100, 4), (160, 2), (200, 8)]}, "the staircase falls from 4 to 2"),
        ({"staircase": [(100, 4), (100, 8)]}, "time goes forward"),
        ({"staircase": [(90, 4), (160, 8)]}, "begins at 90, but now is 100"),
        ({"staircase": [(100, -1), (160, 8)]}, "from 0 to 8"),
        ({"staircase": [(100, 2), (160, 9)]}, "from 0 to 8"),
        ({"staircase": []}, "at least one"),
        ({"submit": [], "walltime": [], "width": []}, "no waiting jobs"),
        ({"walltime": [0, 30]}, "walltime below a second"),
        ({"cores": 0}, "between 1 and"),
        ({"id": [4, 4]}, "one id"),
        ({"weight": [0, 0]}, "not all 0"),
        ({"weight": [1, np.nan]}, "numbers from 0 up"),
    ],
)
def test_a_snapshot_that_cannot_be_gets_one_sentence(change, sentence):
    with pytest.raises(QueuesmithError, match=sentence):
        Snapshot.make(**{**STEP, **change})


def test_a_staircase_needs_a_number_for_each_instant():
    step = Snapshot.make(**STEP)
    with pytest.raises(QueuesmithError, match="one for each"):
        Snapshot(100, step.jobs, step.time, step.free[:1], 8)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"now": 1.5}',
        json.dumps({"now": 0, "cores": 1, "staircase": [], "jobs": 3}),
        '{"now": Infinity}',
        '{"now": NaN}',
        '{"now": 0, "cores": -Infinity}',
        '{"now": 0, "cores": 1e400}',
        '{"now": 123456789012345678901234567890}',
        '{"now": ' + "9" * 5000 + "}",
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_snapshot_gets_one_sentence(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(QueuesmithError, match=r"snapshot file .*bad.json"):
        Snapshot.load(tmp_path / "bad.json")


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e300", "9" * 400])
@pytest.mark.parametrize("key", ["submit", "walltime", "cores", "id", "weight"])
def test_numbers_that_are_none_get_one_sentence(tmp_path, key, number):
    content = Snapshot.make(**STEP).to_dict()
    content["jobs"][0][key] = "HERE"
    (tmp_path / "bad.json").write_text(json.dumps(content).replace('"HERE"', number))
    if (key, number) == ("weight", "1e300"):  # large, but a number
        assert Snapshot.load(tmp_path / "bad.json").weight[0] == 1e300
        return
    with pytest.raises(QueuesmithError):
        Snapshot.load(tmp_path / "bad.json")


def test_times_beyond_all_seconds_get_one_sentence():
    with pytest.raises(QueuesmithError, match="a plan reaches to second"):
        Snapshot.make(**{**STEP, "staircase": [(100, 2), (2**60, 8)]})

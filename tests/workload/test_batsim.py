"""Workloads of Batsim."""

import json

import pytest

from queuesmith import read
from queuesmith.base.errors import WorkloadError

JOBS = [
    {"id": 2, "subtime": 10.6, "walltime": 100, "res": 4, "profile": "ten", "user": "ann"},
    {"id": 1, "subtime": 0, "res": 1, "profile": "twice", "user": "bob"},
    {"id": 3, "subtime": 20, "walltime": 50, "res": 2, "profile": "flops"},
]
PROFILES = {
    "ten": {"type": "delay", "delay": 9.2},
    "twice": {"type": "composed", "repeat": 2, "seq": ["ten", "ten"]},
    "flops": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
}


def written(tmp_path, content):
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(content))
    return path


def test_jobs_of_delays_are_read_and_others_counted(tmp_path):
    path = written(tmp_path, {"nb_res": 8, "jobs": JOBS, "profiles": PROFILES})
    log = read(path)
    assert log.id.tolist() == [1, 2]
    assert log.submit.tolist() == [0, 10]
    assert log.runtime.tolist() == [37, 10]
    assert log.walltime.tolist() == [37, 100]
    assert log.cores.tolist() == [1, 4]
    assert [log.label("user", user) for user in log.user] == ["bob", "ann"]
    assert log.machine_cores == 8
    assert "1 job left out: has a profile whose time hangs on a platform" in map(str, log.changes)
    with pytest.raises(WorkloadError, match="hangs on a platform"):
        read(path, strict=True)


def test_names_of_jobs_may_be_words(tmp_path):
    jobs = [{**JOBS[0], "id": "w0!7"}]
    assert read(written(tmp_path, {"jobs": jobs, "profiles": PROFILES})).id.tolist() == [1]


def test_a_job_without_end_or_user_has_none(tmp_path):
    endless = {"id": 4, "subtime": 0, "walltime": "inf", "res": 1, "profile": "ten"}
    log = read(written(tmp_path, {"jobs": [JOBS[0], endless], "profiles": PROFILES}))
    assert log.walltime.tolist() == [10, 100]
    assert log.user.tolist() == [-1, 0] and log.label("user", 0) == "ann"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([], "is no workload of Batsim"),
        ({"jobs": [], "profiles": {}}, "has no jobs"),
        ({"jobs": [{"id": 1}]}, "must have 'id', 'subtime' and 'res'"),
        ({"jobs": [{**JOBS[0], "res": 0}], "profiles": PROFILES}, "has res 0"),
        ({"jobs": [{**JOBS[0], "subtime": "now"}], "profiles": PROFILES}, "has subtime 'now'"),
        ({"jobs": [{**JOBS[0], "profile": "no"}], "profiles": PROFILES}, "the profile 'no'"),
        ({"jobs": [JOBS[2]], "profiles": PROFILES}, "no job of"),
    ],
)
def test_what_is_no_workload_is_refused(tmp_path, content, sentence):
    with pytest.raises(WorkloadError, match=sentence):
        read(written(tmp_path, content))


def test_what_is_no_json_is_refused(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(WorkloadError, match="is no JSON"):
        read(tmp_path / "bad.json")

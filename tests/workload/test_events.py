"""What was submitted to a Slurm simulator."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import QueuesmithError, WorkloadError
from queuesmith.workload.events import parse_events
from queuesmith.workload.files import read
from queuesmith.workload.sbatch import array_size, sbatch_options

EVENTS = """\
# a comment
-dt 0 -e submit_batch_job | -J job_11 -sim-walltime 15 --uid=ann -t 00:07:00 -n 12 \
--ntasks-per-node=6 -A bio -p day -q high --constraint="CPU-N&IB" pseudo.job -n 99
-dt  10.50 -e submit_batch_job | -sim-walltime -1 --uid bob -J job_12 -N 2 -n4 -c 2 -t 5 \
--mem=62G --exclusive=user --gres=gpu:v100:2 pseudo.job
-dt 12 -e submit_batch_job | -sim-walltime 0 --uid=bob -J job_13 -N1-3 --exclusive \
--mem-per-cpu 500M --dependency=afterok:11 --colour=red -o out.txt -t 1:00 pseudo.job
-dt 13 -e submit_batch_job | -sim-walltime 900 --uid=bob -J job_14 -t 1:00 pseudo.job
-dt 20 -e cancel_job | -jobid 4
"""


def parse(text=EVENTS, **options):
    return parse_events(text.encode(), "made.events", **options)


def texts(jobs, column):
    return ["" if c < 0 else jobs.label(column, int(c)) for c in jobs.extra[column]]


def test_jobs_are_read_with_what_they_ask_for():
    jobs = parse()
    assert jobs.name == "made"
    assert jobs.id.tolist() == [11, 12, 13, 14]
    assert jobs.submit.tolist() == [0, 10, 12, 13]
    assert jobs.cores.tolist() == [12, 8, 1, 1]
    assert jobs.walltime.tolist() == [420, 300, 60, 60]
    assert [jobs.label("user", int(u)) for u in jobs.user] == ["ann", "bob", "bob", "bob"]
    assert jobs.extra["tasks_per_node"].tolist() == [6, -1, -1, -1]
    assert jobs.extra["requested_nodes"].tolist() == [-1, 2, 1, -1]
    assert jobs.extra["most_nodes"].tolist() == [-1, 2, 3, -1]
    assert jobs.extra["cores_per_task"].tolist() == [-1, 2, -1, -1]
    assert jobs.extra["memory_per_node"].tolist() == [-1, 63_488, -1, -1]
    assert jobs.extra["memory_per_core"].tolist() == [-1, -1, 500, -1]
    assert jobs.extra["gpus_per_node"].tolist() == [-1, 2, -1, -1]
    assert jobs.extra["exclusive"].tolist() == [0, 2, 1, 0]
    assert texts(jobs, "gpu_type") == ["", "v100", "", ""]
    assert texts(jobs, "constraint") == ["CPU-N&IB", "", "", ""]
    assert texts(jobs, "dependency") == ["", "", "afterok:11", ""]
    assert (texts(jobs, "partition")[0], texts(jobs, "qos")[0]) == ("day", "high")
    assert texts(jobs, "account") == ["bio", "", "", ""]
    assert jobs.real_start is None


def test_a_job_runs_until_slurm_ends_it():
    assert parse().runtime.tolist() == [15, 300, 1, 60]


def test_everything_mended_or_passed_over_is_counted():
    notes = [str(change) for change in parse().changes]
    assert notes == [
        "1 job mended: fractions of a second rounded",
        "1 job mended: ran for less than a second; taken to run for one",
        "2 jobs mended: runs until its time limit, where Slurm ends it",
        "1 option passed over: --colour means nothing here",
        "1 event passed over: cancel_job means nothing here",
    ]


def test_arrays_become_their_tasks():
    jobs = parse("-dt 1 -e submit_batch_job | -sim-walltime 5 -t 1 --array=0-9:2%3 -n 2 x\n")
    assert len(jobs) == 5
    assert set(jobs.extra["array"].tolist()) == {1}
    assert set(jobs.extra["array_limit"].tolist()) == {3}


def test_the_format_is_told_by_name_or_content(tmp_path):
    for name in ("a.events", "a.events.gz", "submitted.txt"):
        data = EVENTS.split("\n", 1)[1].encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        assert len(read(tmp_path / name)) == 4
    assert read(tmp_path / "a.events.gz").name == "a"


def test_options_end_at_the_script():
    options, rest = sbatch_options(["-n", "4", "--exclusive", "-p=day", "run.sh", "-n", "9"])
    assert options == {"ntasks": "4", "exclusive": "", "partition": "day"}
    assert rest == ["run.sh", "-n", "9"]


@pytest.mark.parametrize(("text", "size"), [("0-9", 10), ("1,3,5", 3), ("0-9:4", 3), ("7", 1)])
def test_arrays_are_counted(text, size):
    assert array_size(text) == size


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hello\n", "line 1 of 'made.events' is 'hello'"),
        ("-e submit_batch_job | -n 1 x\n", "an event is written as"),
        ("-dt 1 -e submit_batch_job | -n many x\n", "a value that sbatch does not take"),
        ("-dt x -e submit_batch_job | -n 1 x\n", "a value that sbatch does not take"),
        ("-dt 1 -e submit_batch_job | -a 1-x x\n", "a value that sbatch does not take"),
        ("-dt 1 -e submit_batch_job | -a 0-99999999 x\n", "more than 10,000,000 jobs"),
        ("-dt 1 -e cancel_job | -jobid 4\n", "submits no job"),
    ],
)
def test_a_bad_file_is_explained(text, sentence):
    with pytest.raises(WorkloadError) as caught:
        parse(text)
    assert sentence in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="-dtnNcpe =|01.x\"'", max_size=40))
def test_a_strange_line_is_read_or_refused(text):
    try:
        parse(f"-dt 1 -e submit_batch_job | -sim-walltime 5 -t 1 {text}")
    except QueuesmithError:
        return


@pytest.mark.data
def test_a_real_week_is_read(data):
    jobs = read(data / "slurm-runs" / "ub-week" / "workload_week.events.gz")
    assert len(jobs) == 19_579
    assert not any("means nothing" in change.reason for change in jobs.changes)
    assert int((jobs.extra["gpus_per_node"] > 0).sum()) == 73

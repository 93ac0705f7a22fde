import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import OutputError, QueuesmithError, WorkloadError
from queuesmith.workload import Workload
from queuesmith.workload.files import read, write
from queuesmith.workload.swf import FIELDS, parse_swf, read_swf
from queuesmith.workload.swf_writing import write_swf

HEADER = """\
; Version: 2.2
; Computer: Atlas, Zürich
; UnixStartTime: 1027839845
; MaxNodes: 20 (batch; 24 in all)
; MaxProcs: 40
; Queue: 1 night
; Queue: 3 day and more
; Partition: 0 all
; Note: two jobs never ran
"""
JOBS = """\
1 0 5 100 4 99.5 2048 4 200 4096 1 7 2 3 1 0 -1 -1
2 10 -1 50 2 -1 -1 -1 -1 -1 0 8 2 -1 3 0 1 30
3 20 0 300 -1 -1 -1 8 200 -1 1 7 2 -1 -1 -1 -1 -1
4 30 7 -1 8 -1 -1 8 200 -1 5 7 2 -1 -1 -1 -1 -1
"""
LOG = HEADER + JOBS


def log(tmp_path, text=LOG, name="atlas.swf"):
    path = tmp_path / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def raw(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    lines = [line for line in data.splitlines() if line.strip() and not line.startswith(b";")]
    return np.loadtxt(lines, comments=None, ndmin=2)


def line(**fields):
    values = {"id": 1, "submit": 0, "runtime": 10, "requested_cores": 1, **fields}
    return " ".join(str(values.get(name, -1)) for name in FIELDS) + "\n"


# -- reading -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["atlas.swf", "atlas.swf.gz", "atlas.txt.gz"])
def test_jobs_are_read_plain_or_gzipped(tmp_path, name):
    jobs = read_swf(log(tmp_path, name=name))
    assert jobs.name == "atlas"
    assert jobs.id.tolist() == [1, 2, 3]
    assert jobs.submit.tolist() == [0, 10, 20]
    assert jobs.runtime.tolist() == [100, 50, 300]
    assert jobs.walltime.tolist() == [200, 50, 300]
    assert jobs.cores.tolist() == [4, 2, 8]
    assert jobs.user.tolist() == [7, 8, 7]


def test_what_is_dropped_or_mended_is_counted(tmp_path):
    changes = {
        (c.reason.split(";")[0], c.count, c.dropped) for c in read_swf(log(tmp_path)).changes
    }
    assert changes == {
        ("never ran (no runtime)", 1, True),
        ("no walltime", 1, False),
        ("ran beyond the walltime", 1, False),
    }


def test_strict_refuses_what_would_be_left_out(tmp_path):
    with pytest.raises(WorkloadError, match=r"job 4 .* never ran"):
        read_swf(log(tmp_path), strict=True)


def test_the_header_tells_machine_epoch_and_names(tmp_path):
    jobs = read_swf(log(tmp_path))
    assert jobs.machine_cores == 40
    assert jobs.epoch == 1027839845
    assert jobs.labels["queue"] == ("0", "night", "2", "day and more")
    assert jobs.labels["partition"] == ("all",)
    assert jobs.header == tuple(HEADER.splitlines())


def test_nodes_stand_in_where_the_header_has_no_processors(tmp_path):
    text = LOG.replace("; MaxProcs: 40\n", "")
    assert read_swf(log(tmp_path, text)).machine_cores == 20


def test_a_header_that_says_unknown_says_nothing(tmp_path):
    text = "; MaxProcs: -1\n; UnixStartTime: 0\n;\n" + JOBS
    jobs = read_swf(log(tmp_path, text))
    assert jobs.machine_cores is None
    assert jobs.epoch is None


def test_a_latin_1_header_is_read(tmp_path):
    jobs = read_swf(log(tmp_path, b"; Computer: Z\xfcrich\n" + JOBS.encode()))
    assert jobs.header == ("; Computer: Zürich",)


def test_every_field_is_kept(tmp_path):
    extra = read_swf(log(tmp_path)).extra
    assert set(extra) == (set(FIELDS) - {"id", "submit", "runtime", "user"}) | {"real_start"}
    assert extra["cpu_time"].tolist() == [99.5, -1, -1]
    assert extra["think_time"].tolist() == [-1, 30, -1]


def test_the_real_start_is_known_where_the_wait_is(tmp_path):
    assert read_swf(log(tmp_path)).extra["real_start"].tolist() == [5, -1, 20]


def test_without_any_wait_there_is_no_real_start(tmp_path):
    assert "real_start" not in read_swf(log(tmp_path, line())).extra


def test_fractions_of_a_second_are_rounded_and_counted(tmp_path):
    text = line(submit="0.6", runtime="9.7") + line(id=2, submit=5, requested_time="20.2")
    jobs = read_swf(log(tmp_path, text + line(id=3, submit=6)))
    assert jobs.submit.tolist() == [1, 5, 6]
    assert jobs.runtime.tolist() == [10, 10, 10]
    mended = [c.count for c in jobs.changes if "rounded" in c.reason]
    assert mended == [2]


def test_of_a_job_that_was_swapped_out_the_line_of_the_whole_counts(tmp_path):
    whole = line(id=1, runtime=30, status=1)
    parts = line(id=1, runtime=10, status=2) + line(id=1, submit=-1, runtime=20, status=3)
    jobs = read_swf(log(tmp_path, whole + parts + line(id=2, status=4)))
    assert (jobs.id.tolist(), jobs.runtime.tolist()) == ([1, 2], [30, 10])
    told = "2 lines passed over: a part of a job that another line tells as a whole"
    assert told in map(str, jobs.changes)


def test_a_line_that_is_the_same_as_an_earlier_one_is_passed_over(tmp_path):
    again = line(id=1, runtime=30) + line(id=2, submit=5)
    jobs = read_swf(log(tmp_path, again + line(id=3, submit=9) + again + line(id=2, submit=11)))
    assert (jobs.id.tolist(), jobs.submit.tolist()) == ([1, 2, 3, 2], [0, 5, 9, 11])
    assert "2 lines passed over: the same as an earlier line" in map(str, jobs.changes)


def test_jobs_without_a_number_are_told_apart_by_nothing_and_all_count(tmp_path):
    assert len(read_swf(log(tmp_path, 3 * line(id=-1)))) == 3


def test_windows_line_ends_and_blank_lines_are_read(tmp_path):
    text = LOG.replace("\n", "\r\n\r\n")
    assert len(read_swf(log(tmp_path, text))) == 3


def test_absurd_times_are_left_out_not_wrapped_around(tmp_path):
    text = line(runtime=2**64 - 1) + line(id=2, submit="1e300") + line(id=3)
    jobs = read_swf(log(tmp_path, text))
    assert jobs.id.tolist() == [3]
    assert jobs.dropped == 2


# -- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "1 2 3\n", r"line 10 of '.*atlas.swf' has 3 fields, but .* has 18"),
        (JOBS + line().strip() + " 5\n", "line 5 .* has 19 fields"),
        (JOBS + "\n" + line(runtime="abc"), "line 6 .* has 'abc' as runtime"),
        (line(user="nan"), "line 1 .* has nan as user"),
        (line(submit="inf"), "line 1 .* has inf as submit"),
        (line(requested_cores="1.5"), "line 1 .* has 1.5 as requested_cores"),
        (line(id="1e30"), "line 1 .* as id"),
        (HEADER, "has no line of a job"),
        (b"\x85 \xa0\n", "has no line of a job"),
        ("hello world\n", "line 1 .* has 2 fields"),
        (line(runtime=-1), "nothing is left"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, message):
    with pytest.raises(WorkloadError, match=message):
        read_swf(log(tmp_path, text))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_give_a_clear_error(data):
    with pytest.raises(QueuesmithError):
        parse_swf(b"1 " + data, "fuzz.swf")


FUZZ_TEXT = st.sampled_from(
    ["-1", "1e400", "nan", "0x10", "", ";", "\n", "\r", "\x85", "\xa0", "1_0", "９", "9" * 30, "-"]
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(LOG)), st.integers(0, 12), FUZZ_TEXT | st.text(max_size=5))
def test_a_mutated_log_is_read_or_refused(position, cut, inserted):
    data = (LOG[:position] + inserted + LOG[position + cut :]).encode()
    try:
        jobs = parse_swf(data, "fuzz.swf")
    except QueuesmithError:
        return
    assert 0 < len(jobs) <= 5


# -- writing -------------------------------------------------------------------------------


def as_read(values, overrun):
    """Return the values of a log as they are written back: jobs that ran too long may be cut."""
    if overrun == "cut":
        long = (values[:, 8] > 0) & (values[:, 3] > values[:, 8])
        values[long, 3] = values[long, 8]
    return values


@pytest.mark.parametrize("ending", ["swf", "csv", "parquet"])
def test_a_runtime_that_was_cut_is_written_so_in_every_format(tmp_path, ending):
    """``convert --overrun cut`` cut a CSV, but an SWF got the runtime as it was recorded."""
    jobs = read_swf(log(tmp_path), overrun="cut")
    assert any("runtime cut" in change.reason for change in jobs.changes)
    write(jobs, tmp_path / f"cut.{ending}")
    again = read(tmp_path / f"cut.{ending}")
    assert again.runtime.tolist() == jobs.runtime.tolist()
    assert not any("ran beyond" in change.reason for change in again.changes)


@pytest.mark.parametrize("name", ["copy.swf", "copy.swf.gz"])
@pytest.mark.parametrize("overrun", ["raise", "cut"])
def test_writing_back_gives_the_same_values_and_header(tmp_path, name, overrun):
    source, copy = log(tmp_path), tmp_path / name
    jobs = read_swf(source, overrun=overrun)
    write_swf(jobs, copy)
    assert (raw(copy) == as_read(raw(source)[:3], overrun)).all()
    again = read_swf(copy, overrun=overrun)
    assert again.header == jobs.header
    assert again.runtime.tolist() == jobs.runtime.tolist()


def test_the_same_workload_gives_the_same_bytes(tmp_path):
    jobs = read_swf(log(tmp_path))
    write_swf(jobs, tmp_path / "a.swf.gz")
    write_swf(jobs, tmp_path / "b.swf.gz")
    assert (tmp_path / "a.swf.gz").read_bytes() == (tmp_path / "b.swf.gz").read_bytes()


def test_a_workload_from_elsewhere_is_written_with_a_header_of_its_own(tmp_path):
    jobs = Workload([5, 9], [10, 20], [30, 40], [1, 2], machine_cores=16, epoch=1_000_000)
    jobs = jobs.replaced(extra={"real_start": np.array([7, -1])}, user=[3, 4])
    write_swf(jobs, tmp_path / "own.swf")
    again = read_swf(tmp_path / "own.swf")
    assert (again.machine_cores, again.epoch) == (16, 1_000_000)
    assert again.extra["wait"].tolist() == [2, -1]
    assert again.extra["real_start"].tolist() == [7, -1]
    for column in ("id", "submit", "runtime", "walltime", "cores", "user"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()
    assert (raw(tmp_path / "own.swf")[:, [4, 5, 6, 9, 10, 12]] == -1).all()


def test_what_was_changed_after_reading_is_written_changed(tmp_path):
    jobs = read_swf(log(tmp_path))
    changed = jobs.replaced(cores=jobs.cores * 2, walltime=jobs.walltime + 1000, machine_cores=80)
    write_swf(changed.shift(100), tmp_path / "changed.swf")
    again = read_swf(tmp_path / "changed.swf")
    assert again.cores.tolist() == [8, 4, 16]
    assert again.walltime.tolist() == changed.walltime.tolist()
    assert (again.machine_cores, again.epoch) == (80, 1027839845 - 100)
    assert again.extra["real_start"].tolist() == [105, -1, 120]
    assert "; Note: two jobs never ran" in again.header


def test_a_wait_is_not_written_for_arrivals_that_were_moved(tmp_path):
    write_swf(read_swf(log(tmp_path)).with_load_factor(2), tmp_path / "dense.swf")
    assert (raw(tmp_path / "dense.swf")[:, 2] == -1).all()


def test_submissions_before_second_0_are_moved_up(tmp_path):
    jobs = Workload([-50, 10], [1, 1], [1, 1], [1, 1], epoch=1000)
    write_swf(jobs, tmp_path / "early.swf")
    again = read_swf(tmp_path / "early.swf")
    assert again.submit.tolist() == [0, 60]
    assert again.epoch == 950


def test_odd_columns_and_headers_do_not_break_the_file(tmp_path):
    extra = {
        "status": np.array(["done"]),
        "cpu_time": np.array([np.nan]),
        "state": np.array([1]),
        "partition": np.array([0]),
    }
    labels = {"partition": ("ba\rtch",), "state": ("CANCELLED", "COMPLETED")}
    jobs = Workload([0], [1], [1], [1], extra=extra, labels=labels, header=("free\ntext",))
    write_swf(jobs, tmp_path / "odd.swf")
    assert read_swf(tmp_path / "odd.swf").header == ("; free text",)
    del extra["status"]
    write_swf(jobs.replaced(extra=extra, header=()), tmp_path / "odd.swf")
    again = read_swf(tmp_path / "odd.swf")
    assert again.extra["status"].tolist() == [1]
    assert again.labels["partition"] == ("ba tch",)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        write_swf(read_swf(log(tmp_path)), tmp_path / "none" / "a.swf")


JOB_LISTS = st.lists(
    st.tuples(
        st.integers(-(10**6), 10**9),
        st.integers(1, 10**6),
        st.integers(0, 10**6),
        st.integers(1, 10**6),
        st.integers(-1, 50),
    ),
    min_size=1,
    max_size=20,
)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(JOB_LISTS)
def test_any_workload_survives_the_round_trip(tmp_path, rows):
    submit, runtime, slack, cores, user = map(np.array, zip(*rows, strict=True))
    jobs = Workload(submit, runtime, runtime + slack, cores, user=user)
    write_swf(jobs, tmp_path / "any.swf")
    again = read_swf(tmp_path / "any.swf")
    assert (again.submit - again.submit[0]).tolist() == (jobs.submit - jobs.submit[0]).tolist()
    for column in ("id", "runtime", "walltime", "cores", "user", "group"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()


# -- real traces ---------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("overrun", ["raise", "cut"])
@pytest.mark.parametrize(
    "name",
    [
        "CTC-SP2-1996-3.1-cln",
        "KTH-SP2-1996-2.1-cln",
        "LANL-CM5-1994-4.1-cln",
        "NASA-iPSC-1993-3.1-cln",
        "SDSC-SP2-1998-4.2-cln",
        "lublin_256",
    ],
)
def test_a_real_trace_is_written_back_value_by_value(data, tmp_path, name, overrun):
    source = data / "traces" / f"{name}.swf.gz"
    jobs = read_swf(source, overrun=overrun)
    write_swf(jobs, tmp_path / "copy.swf")
    before, after = raw(source), raw(tmp_path / "copy.swf")
    cores = np.where(before[:, 7] > 0, before[:, 7], before[:, 4])
    before = before[(before[:, 3] > 0) & (cores > 0)]
    before = before[np.lexsort((before[:, 0], before[:, 1]))]
    assert len(before) == len(jobs)
    assert (as_read(before, overrun) == after).all()
    assert read_swf(tmp_path / "copy.swf").header == jobs.header


@pytest.mark.data
def test_a_real_trace_names_its_machine(data):
    jobs = read_swf(data / "traces" / "HPC2N-2002-2.2-cln.swf.gz")
    assert (len(jobs), jobs.machine_cores, jobs.epoch) == (202_871, 240, 1027839845)
    assert jobs.labels["partition"] == ("0", "DEFAULT", "ALL")


def test_reading_needs_no_pandas():
    import subprocess
    import sys

    code = "import sys, queuesmith.workload.files; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_stream_of_bytes_may_be_read_without_a_file():
    assert len(parse_swf(io.BytesIO(LOG.encode()).read(), "memory.swf")) == 3


def test_jobs_cancelled_while_they_waited_are_kept_beside_the_others_where_asked(tmp_path):
    path = log(tmp_path)
    assert read(path).cancelled is None
    kept = read(path, cancelled=True)
    assert kept.id.tolist() == [1, 2, 3]
    assert kept.cancelled.id.tolist() == [4]
    assert kept.cancelled.extra["cancelled_after"].tolist() == [7]
    assert not any(change.dropped for change in kept.changes)

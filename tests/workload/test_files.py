import contextlib
import gzip
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import OutputError, QueuesmithError, UsageError, WorkloadError
from queuesmith.base.files import atomic_write, format_suffix, log_name, read_bytes
from queuesmith.workload import Workload
from queuesmith.workload import files as files_module
from queuesmith.workload.files import read, write

SWF = "; MaxProcs: 8\n1 0 5 10 2 -1 -1 2 20 -1 1 3 1 -1 -1 -1 -1 -1\n"
SACCT = "JobID|Submit|Elapsed|NCPUS\n1|1000|00:10|2\n"
CSV = "submit,runtime,cores\n0,10,2\n"


def put(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- telling formats apart -----------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content", [SWF, SWF.partition("\n")[2], SACCT, CSV])
@pytest.mark.parametrize("name", ["log", "log.txt", "log.txt.gz"])
def test_the_content_tells_the_format(tmp_path, name, content, packed):
    data = gzip.compress(content.encode(), mtime=0) if packed else content.encode()
    jobs = read(put(tmp_path, name, data))
    assert (jobs.name, jobs.runtime.tolist(), jobs.cores.tolist()) == ("log", [10], [2])


@pytest.mark.parametrize(
    ("name", "content"), [("a.swf", SWF), ("a.SACCT", SACCT), ("a.csv", CSV), ("a.sacct.gz", SACCT)]
)
def test_the_name_tells_the_format(tmp_path, name, content):
    assert len(read(put(tmp_path, name, content))) == 1


@pytest.mark.parametrize("ending", ["swf", "swf.gz", "csv", "csv.gz", "tsv", "parquet", "pq"])
def test_what_is_written_is_read_again(tmp_path, ending):
    jobs = Workload([0, 5], [3, 4], [6, 7], [1, 2], user=[4, 5], group=[1, 2])
    path = tmp_path / f"jobs.v2.{ending}"
    write(jobs, path)
    again = read(path)
    assert again.name == "jobs.v2"
    for column in ("id", "submit", "runtime", "walltime", "cores", "user"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()


def test_a_parquet_file_is_known_by_its_first_bytes(tmp_path):
    write(Workload([0], [3], [6], [1]), tmp_path / "jobs.dat", format="parquet")
    assert len(read(tmp_path / "jobs.dat")) == 1


def test_a_named_format_counts_more_than_the_name(tmp_path):
    assert len(read(put(tmp_path, "a.swf", CSV), format="csv")) == 1


def test_named_columns_mean_sacct(tmp_path):
    path = put(tmp_path, "export.txt", SACCT.partition("\n")[2])
    jobs = read(path, columns="JobID,Submit,Elapsed,NCPUS", timezone="Europe/Berlin")
    assert jobs.epoch == 1000
    with pytest.raises(UsageError, match="read as swf"):
        read(put(tmp_path, "a.swf", SWF), columns="xdmod")


def test_unknown_formats_are_a_wrong_call(tmp_path):
    with pytest.raises(UsageError, match=r"'xml'.* auto, swf, sacct, events, csv, parquet"):
        read(put(tmp_path, "a.swf", SWF), format="xml")
    with pytest.raises(UsageError, match="no format to be written called 'sacct'"):
        write(Workload([0], [1], [1], [1]), tmp_path / "a", format="sacct")
    with pytest.raises(UsageError, match="does not tell a format"):
        write(Workload([0], [1], [1], [1]), tmp_path / "a.doc")


def test_every_reader_is_a_format_of_its_own():
    assert set(files_module.WRITERS) < set(files_module.READERS)


# -- bad files -----------------------------------------------------------------------------


def test_a_missing_file_and_a_folder_are_explained(tmp_path):
    with pytest.raises(WorkloadError, match=r"no file '.*none.swf'"):
        read(tmp_path / "none.swf")
    with pytest.raises(WorkloadError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(WorkloadError, match="cannot be read"):
        read("a\0b.swf")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.swf", b"", "is empty"),
        ("a.swf", b" \n \n", "is empty"),
        ("a.swf.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.swf.gz", gzip.compress(SWF.encode(), mtime=0)[:-12], "breaks off after"),
        (
            "a.swf.gz",
            gzip.compress(SWF.encode(), mtime=0)[:12] + b"x" * 50,
            "damaged gzip|breaks off",
        ),
        ("a.swf.gz", gzip.compress(SWF.encode(), mtime=0) + b"rubbish", "damaged gzip"),
        ("a.swf", b"\x7fELF\0\0\0", "binary file"),
        ("a.swf", b"BZh91AY", "bunzip2"),
        ("a.sacct", b"\xfd7zXZ\0", "unxz"),
        ("a.csv", b"\0\0", "binary file"),
        ("a.parquet", CSV.encode(), "not a Parquet file"),
        ("a.txt", b"hello\n", "neither the name nor the first line"),
        ("a.swf", CSV.encode(), "line 1 .* has 1 field,"),
        ("a.sacct", CSV.encode(), "no header line"),
        ("a.csv", SWF.encode(), "no column 'submit'|column"),
    ],
)
def test_a_bad_file_is_explained(tmp_path, name, content, message):
    with pytest.raises(WorkloadError, match=message) as caught:
        read(put(tmp_path, name, content))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read_is_explained(tmp_path):
    path = put(tmp_path, "a.swf", SWF)
    path.chmod(0)
    with pytest.raises(WorkloadError, match="permissions"):
        read(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=120), st.sampled_from(["a", "a.swf", "a.sacct", "a.csv", "a.parquet"]))
def test_random_files_give_a_clear_error(tmp_path_factory, data, name):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    with pytest.raises(QueuesmithError):
        read(path)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 90), st.integers(0, 255))
def test_a_gzip_file_with_a_wrong_byte_gives_a_clear_error_or_jobs(tmp_path_factory, at, value):
    data = bytearray(gzip.compress(SWF.encode(), mtime=0))
    data[min(at, len(data) - 1)] = value
    path = tmp_path_factory.getbasetemp() / "mutated.swf.gz"
    path.write_bytes(bytes(data))
    with contextlib.suppress(QueuesmithError):
        assert len(read(path)) == 1


# -- writing -------------------------------------------------------------------------------


def test_a_file_appears_only_once_it_is_complete(tmp_path):
    path = put(tmp_path, "a.csv", "old")
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        file.write(b"half")
        assert path.read_text() == "old"
        raise RuntimeError
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["a.csv"]


def test_a_link_is_written_through(tmp_path):
    path = put(tmp_path, "real.csv", "old")
    (tmp_path / "link.csv").symlink_to(path)
    with atomic_write(tmp_path / "link.csv") as file:
        file.write(b"new")
    assert path.read_text() == "new"
    assert (tmp_path / "link.csv").is_symlink()


def test_a_device_is_written_directly():
    with atomic_write("/dev/null") as file:
        file.write(b"gone")
    with open("/dev/null", "rb") as device:  # noqa: PTH123
        assert device.read() == b""


def test_a_place_that_cannot_be_written_is_explained(tmp_path):
    for path, message in {
        tmp_path: "is a folder",
        tmp_path / "none" / "a.csv": "no folder",
        put(tmp_path, "file", "x") / "a.csv": "no folder",
        tmp_path / ("x" * 300 + ".csv"): "cannot be written",
    }.items():
        with pytest.raises(OutputError, match=message), atomic_write(path) as file:
            file.write(b"x")
    with pytest.raises(OutputError, match="cannot be written"), atomic_write("a\0b"):
        pass


def test_a_full_disk_is_explained(tmp_path):
    with pytest.raises(OutputError, match="No space left"), atomic_write(tmp_path / "a.csv"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


# -- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name", "suffix"),
    [
        ("HPC2N-2002-2.2-cln.swf.gz", "HPC2N-2002-2.2-cln", ".swf"),
        ("/a/b/phillips.sacct", "phillips", ".sacct"),
        ("x.tar", "x.tar", ".tar"),
        (".swf", ".swf", ""),
        ("A.CSV.GZ", "A", ".csv"),
    ],
)
def test_a_log_is_named_after_its_file(path, name, suffix):
    assert (log_name(path), format_suffix(path)) == (name, suffix)


def test_bytes_are_unpacked_whatever_the_name(tmp_path):
    assert read_bytes(put(tmp_path, "a.swf", gzip.compress(b"x", mtime=0))) == b"x"

import contextlib
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import OutputError, QueuesmithError, WorkloadError
from queuesmith.workload import Workload
from queuesmith.workload.table_columns import coded
from queuesmith.workload.tables import (
    from_frame,
    parse_csv,
    parse_parquet,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)

LOG = """\
id,submit,runtime,walltime,cores,user,group,start,queue,memory
11,0,10,20,4,eve,1,5,day,1.5
12,3,20,,2,bob,2,,night,
13,7,30,25,1,,1,7,,2
14,9,0,25,1,eve,1,,,2
"""
WRITERS = {"csv": write_csv, "csv.gz": write_csv, "tsv": write_csv, "parquet": write_parquet}
READERS = {"csv": read_csv, "csv.gz": read_csv, "tsv": read_csv, "parquet": read_parquet}


def parse(text=LOG, **options):
    return parse_csv(text.encode(), "atlas.csv", **options)


def parquet(tmp_path, **columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "atlas.parquet"
    pq.write_table(pa.table(columns), path)
    return path


# -- CSV -----------------------------------------------------------------------------------


def test_names_of_groups_count_from_1_and_group_0_has_none(tmp_path):
    (tmp_path / "log.csv").write_text(
        "submit,runtime,walltime,cores,group\n0,9,9,1,bio\n1,9,9,1,art\n2,9,9,1,\n"
    )
    log = read_csv(tmp_path / "log.csv")
    assert log.group.tolist() == [2, 1, 0]
    write_csv(log, tmp_path / "again.csv")
    assert read_csv(tmp_path / "again.csv").group.tolist() == [2, 1, 0]


def test_jobs_are_read_from_named_columns():
    jobs = parse()
    assert jobs.name == "atlas"
    assert jobs.id.tolist() == [11, 12, 13]
    assert jobs.walltime.tolist() == [20, 20, 30]
    assert jobs.cores.tolist() == [4, 2, 1]
    assert jobs.group.tolist() == [1, 2, 1]
    assert jobs.extra["real_start"].tolist() == [5, -1, 7]
    assert [c.count for c in jobs.changes] == [1, 1, 1]


def test_texts_become_numbers_with_labels():
    jobs = parse()
    assert jobs.user.tolist() == [1, 0, -1]
    assert jobs.labels["user"] == ("bob", "eve")
    assert jobs.extra["queue"].tolist() == [0, 1, -1]
    np.testing.assert_equal(jobs.extra["memory"], [1.5, np.nan, 2])


def test_three_columns_are_enough():
    jobs = parse("submit,runtime,cores\n5,10,2\n1,10,3\n")
    assert jobs.submit.tolist() == [1, 5]
    assert jobs.id.tolist() == [2, 1]
    assert jobs.user.tolist() == [0, 0]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_semicolons_tabs_quotes_capitals_and_byte_order_marks_are_read(separator):
    text = '\ufeffSubmit,"Runtime",CORES,user\r\n1,2,3,"a ""b"""\r\n\r\n'.replace(",", separator)
    jobs = parse(text)
    assert jobs.labels["user"] == ('a "b"',)


def test_the_wait_tells_the_real_start_too():
    jobs = parse("submit,runtime,cores,wait\n5,10,2,3\n6,10,2,-1\n")
    assert jobs.extra["real_start"].tolist() == [8, -1]


def test_a_start_before_the_submission_is_unknown():
    assert "real_start" not in parse("submit,runtime,cores,start\n5,10,2,3\n").extra


def test_text_groups_are_groups_with_names():
    jobs = parse("submit,runtime,cores,group\n5,10,2,phys\n6,10,2,chem\n")
    assert jobs.group.tolist() == [2, 1]
    assert jobs.labels["group"] == ("none", "chem", "phys")


def test_fractions_of_a_second_are_rounded_and_counted():
    jobs = parse("submit,runtime,cores\n5.6,10,2\n6,10.2,2\n7,10,2\n")
    assert jobs.submit.tolist() == [6, 6, 7]
    assert [c.count for c in jobs.changes if "rounded" in c.reason] == [2]


def test_absurd_times_are_left_out():
    assert parse(f"submit,runtime,cores\n1e300,10,2\n{2**64},1,1\n7,10,2\n").dropped == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("submit,runtime\n1,2\n", "no column 'cores'.* It has: submit, runtime"),
        ("submit,runtime,cores\n1,2\n", "line 2 .* has 2 columns, but the header line has 3"),
        ("submit,runtime,cores\n1,2,3,4\n", "line 2 .* has 4 columns"),
        ("submit,runtime,cores\n1,2,3\n1,x,3\n", "job 2 .* has 'x' as runtime"),
        ("submit,runtime,cores\n1,2,1.5\n", "job 1 .* has 1.5 as cores"),
        ("submit,runtime,cores\n1,2,many\n", "job 1 .* has 'many' as cores"),
        ("submit,runtime,cores,id\n1,2,1,a\n", "job 1 .* has 'a' as id"),
        ("submit,runtime,cores,user\n1,2,1,1.5\n", "job 1 .* has 1.5 as user"),
        ("submit,submit,runtime,cores\n1,2,3,4\n", "'submit' twice"),
        ("submit,Submit,runtime,cores\n1,2,3,4\n", "'submit' twice"),
        ("submit,runtime,cores\n", "no jobs"),
        ("submit,runtime,cores\n1,2,3\0\n", "binary file"),
        ('submit,runtime,cores\n1,2,"3\n', "whole number|not CSV|as cores|columns"),
        (f"submit,runtime,cores\n1,2,{'3' * 200_000}\n", "not CSV"),
    ],
)
def test_a_bad_table_is_explained(text, message):
    with pytest.raises(WorkloadError, match=message):
        parse(text)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_give_a_clear_error_or_jobs(data):
    with contextlib.suppress(QueuesmithError):
        parse_csv(b"submit,runtime,cores\n" + data, "fuzz.csv")


PIECES = st.sampled_from([",", '"', "\n", "\r", "nan", "inf", "-", "1e400", "9" * 25, "True", "\t"])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(LOG)), st.integers(0, 10), PIECES | st.text(max_size=4))
def test_a_mutated_table_is_read_or_refused(position, cut, inserted):
    text = LOG[:position] + inserted + LOG[position + cut :]
    try:
        jobs = parse_csv(text.encode("utf-8", "replace"), "fuzz.csv")
    except QueuesmithError:
        return
    assert 0 < len(jobs) <= 5


# -- Parquet -------------------------------------------------------------------------------


def test_parquet_columns_of_many_kinds_are_read(tmp_path):
    import datetime as dt
    import decimal

    import pyarrow as pa

    path = parquet(
        tmp_path,
        submit=pa.array([dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 2)]),
        runtime=pa.array([dt.timedelta(seconds=5), dt.timedelta(seconds=6)]),
        walltime=pa.array([decimal.Decimal("9.0"), None]),
        cores=pa.array([1, 2], pa.uint8()),
        user=pa.array(["eve", None]).dictionary_encode(),
        night=pa.array([True, None]),
        tags=pa.array([["a"], ["b"]]),
        day=pa.array([dt.date(2024, 3, 1), None]),
    )
    jobs = read_parquet(path)
    assert jobs.submit.tolist() == [1709251200, 1709337600]
    assert jobs.runtime.tolist() == [5, 6]
    assert jobs.walltime.tolist() == [9, 6]
    assert jobs.user.tolist() == [0, -1]
    assert jobs.extra["night"].tolist() == [1, -1]
    assert jobs.extra["day"].tolist() == [1709251200, -1]
    assert jobs.labels["tags"] == ("['a']", "['b']")


def test_what_is_no_parquet_file_is_explained(tmp_path):
    with pytest.raises(WorkloadError, match="not a Parquet file"):
        parse_parquet(LOG.encode(), "a.parquet")
    with pytest.raises(WorkloadError, match="damaged or unusual"):
        parse_parquet(b"PAR1" + b"x" * 100, "a.parquet")
    with pytest.raises(WorkloadError, match="no column 'cores'"):
        read_parquet(parquet(tmp_path, submit=[1], runtime=[2]))


def test_without_pyarrow_the_way_out_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(WorkloadError, match=r"pip install 'queuesmith\[parquet\]'"):
        parse_parquet(b"PAR1", "a.parquet")
    with pytest.raises(OutputError, match=r"pip install 'queuesmith\[parquet\]'"):
        write_parquet(Workload([0], [1], [1], [1]), tmp_path / "a.parquet")


def test_foreign_metadata_does_no_harm(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for stored in (b"[]", b"{", b'{"labels": 5}', b'{"machine_cores": "many"}'):
        table = pa.table({"submit": [1], "runtime": [2], "cores": [3]})
        pq.write_table(
            table.replace_schema_metadata({b"queuesmith": stored}), tmp_path / "a.parquet"
        )
        assert read_parquet(tmp_path / "a.parquet").machine_cores is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mutated_parquet_file_is_read_or_refused(data):
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table({"submit": [1], "runtime": [2], "cores": [3]}), buffer)
    good = buffer.getvalue()
    end = data.draw(st.integers(4, len(good)))
    try:
        parse_parquet(good[:end], "fuzz.parquet")
    except QueuesmithError:
        assert end < len(good)


# -- writing -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", WRITERS)
def test_a_written_table_gives_the_same_jobs_back(tmp_path, ending):
    jobs, path = parse(), tmp_path / f"copy.{ending}"
    WRITERS[ending](jobs, path)
    again = READERS[ending](path)
    for column in ("id", "submit", "runtime", "walltime", "cores", "user", "group"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()
    assert again.extra.keys() == jobs.extra.keys()
    for column in jobs.extra:
        np.testing.assert_equal(again.extra[column], jobs.extra[column])
    assert again.labels == jobs.labels
    assert (again.name, again.changes) == ("copy", ())


def test_a_gzipped_csv_is_gzipped(tmp_path):
    write_csv(parse(), tmp_path / "a.csv.gz")
    text = gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode()
    assert text.startswith("id,submit,runtime,walltime,cores,user,group,")


def test_parquet_keeps_machine_epoch_header_and_numbers_behind_names(tmp_path):
    jobs = Workload([0, 1], [1, 1], [1, 1], [1, 1], user=[2, 7], machine_cores=8, epoch=99)
    jobs = jobs.replaced(labels={"user": ("a", "b", "c")}, header=("; Note: x",))
    write_parquet(jobs, tmp_path / "a.parquet")
    again = read_parquet(tmp_path / "a.parquet")
    assert again.user.tolist() == [2, 7]
    assert again.labels == jobs.labels
    assert (again.machine_cores, again.epoch, again.header) == (8, 99, ("; Note: x",))


def test_how_slurm_spells_an_id_stays_text(tmp_path):
    extra = {"jobid": np.array(["12_3", "12"])}
    jobs = Workload([0, 1], [1, 1], [1, 1], [1, 1], extra=extra)
    for ending, write in WRITERS.items():
        write(jobs, tmp_path / f"a.{ending}")
        again = READERS[ending](tmp_path / f"a.{ending}")
        assert again.extra["jobid"].tolist() == ["12_3", "12"]


def test_line_ends_in_names_do_not_break_the_rows(tmp_path):
    labels = {"user": ('a\r,"b"\nc\0',)}
    write_csv(Workload([0], [1], [1], [1], labels=labels), tmp_path / "a.csv")
    assert read_csv(tmp_path / "a.csv").labels["user"] == ('a ,"b" c',)


def test_a_missing_folder_is_named(tmp_path):
    for ending, write in WRITERS.items():
        with pytest.raises(OutputError, match="no folder"):
            write(parse(), tmp_path / "none" / f"a.{ending}")


def test_texts_are_numbered_in_alphabetical_order():
    codes, names = coded(["b ", "", "a", "b"])
    assert (codes.tolist(), names) == ([1, -1, 0, 1], ("a", "b"))


JOB_LISTS = st.lists(
    st.tuples(
        st.integers(-(10**6), 10**9),
        st.integers(1, 10**6),
        st.integers(0, 10**6),
        st.integers(1, 10**6),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=20,
)
NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5),
    min_size=5,
    max_size=5,
    unique=True,
)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(JOB_LISTS, NAMES, st.sampled_from(["csv", "parquet"]))
def test_any_workload_survives_the_round_trip(tmp_path, rows, names, ending):
    submit, runtime, slack, cores, user = map(np.array, zip(*rows, strict=True))
    labels = {"user": tuple(f"u{name}" for name in names)}
    jobs = Workload(submit, runtime, runtime + slack, cores, user=user, labels=labels)
    WRITERS[ending](jobs, tmp_path / f"any.{ending}")
    again = READERS[ending](tmp_path / f"any.{ending}")
    assert (again.submit - again.submit[0]).tolist() == (jobs.submit - jobs.submit[0]).tolist()
    for column in ("id", "runtime", "walltime", "cores", "group"):
        assert getattr(again, column).tolist() == getattr(jobs, column).tolist()
    assert [again.label("user", u) for u in again.user] == [
        jobs.label("user", u) for u in jobs.user
    ]


def test_a_frame_becomes_a_workload():
    frame = pd.DataFrame(
        {
            "submit": pd.to_datetime(["2024-03-01", "2024-03-02"]),
            "runtime": pd.to_timedelta(["1h", "90s"]),
            "Cores": [4, 8],
            "user": ["ann", "bob"],
            "memory": [1.5, 2.5],
        }
    )
    log = from_frame(frame, name="mine", cores=16)
    assert log.submit.tolist() == [1709251200, 1709337600]
    assert log.runtime.tolist() == [3600, 90]
    assert log.cores.tolist() == [4, 8]
    assert log.label("user", int(log.user[1])) == "bob"
    assert (log.name, log.machine_cores) == ("mine", 16)
    assert log.extra["memory"].tolist() == [1.5, 2.5]
    assert from_frame(log.to_frame()).submit.tolist() == log.submit.tolist()


def test_a_frame_without_what_every_job_needs_is_refused():
    with pytest.raises(WorkloadError, match="has no column 'cores'"):
        from_frame(pd.DataFrame({"submit": [0], "runtime": [1]}))

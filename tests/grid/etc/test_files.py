import gzip
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import (
    OutputError,
    QueuesmithError,
    ScheduleError,
    UsageError,
    WorkloadError,
)
from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc import (
    from_work,
    machine_of,
    mapped,
    mapping_facts,
    read_etc,
    read_mapping,
    read_solution,
    read_work,
    write_etc,
    write_mapping,
)
from queuesmith.grid.etc.generate import generate_etc

BENCHMARK = "3 2 0\n1.5\n2\n3\n4\n5\n6.25\n"
TIMES = [[1.5, 2], [3, 4], [5, 6.25]]


@pytest.fixture
def file(tmp_path):
    """Writes a file and returns its path."""

    def write(content, name="small.0"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def error_of(call, *values, **options):
    with pytest.raises(WorkloadError) as error:
        call(*values, **options)
    return str(error.value)


# -- the benchmark's format ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        BENCHMARK,
        BENCHMARK.replace("\n", "\r\n"),
        "3 2\n1.5 2\n3 4\n5 6.25",
        gzip.compress(BENCHMARK.encode(), mtime=0),
        b"\xef\xbb\xbf" + BENCHMARK.encode(),
        "\n" + BENCHMARK + "\n\n",
    ],
)
def test_the_format_of_the_benchmark_is_read(file, content):
    matrix = read_etc(file(content))
    assert matrix.times.tolist() == TIMES
    assert matrix.name == "small.0"


def test_a_file_without_header_needs_both_numbers(file):
    path = file(BENCHMARK.split("\n", 1)[1])
    assert read_etc(path, jobs=3, machines=2).times.tolist() == TIMES
    for options in ({}, {"jobs": 3}, {"machines": 2}):
        sentence = error_of(read_etc, path, **options)
        assert "does not begin with a line 'jobs machines k'" in sentence


def test_whole_numbers_in_the_first_line_are_no_header_where_the_numbers_say_so(file):
    assert read_etc(file("3 4\n5 6"), jobs=2, machines=2).times.tolist() == [[3, 4], [5, 6]]


def test_ready_times_may_be_given(file):
    assert read_etc(file(BENCHMARK), ready=[7, 8]).ready.tolist() == [7, 8]


BAD = {
    "3 2 0\n1\n2\n3\n": "breaks off after 3 times, but 3 jobs on 2 machines need 6",
    "3 2 0\n1\n2\n3\n4\n5\n6\n7": "has 7 times, but 3 jobs on 2 machines need 6",
    "3 2 0\n1\n2\nx3\n4\n5\n6": "has 'x3' as its time number 3, which is no number",
    "3 2 0\n1\n2\n1_0\n4\n5\n6": "has '1_0' as its time number 3",
    "3 2 0\n1\n2\n1e999\n4\n5\n6": "has '1e999' as its time number 3",
    "3 2 0\n1\n2\n0\n4\n5\n6": "takes 0 on machine 0, but a time must be above 0",
    "3 2 0\n1\n2\n-3\n4\n5\n6": "takes -3.0 on machine 0",
    "3 2 0\n1\n2\nnan\n4\n5\n6": "takes nan on machine 0",
    "3 2 0\n1\n2\ninf\ninf\n5\n6": "job 1 of instance 'small.0' can run on no machine",
    "3 0 0\n": "has 0 machines, but there must be at least one",
    "0 2 0\n": "has 0 jobs, but there must be at least one",
    "": "is empty",
    " \n\n": "is empty",
    "a b\x00c": "is a binary file",
    b"\x1f\x8b\x08\x00nothing of the kind": "is a damaged gzip file",
    gzip.compress(BENCHMARK.encode(), mtime=0)[:-9]: "is a gzip file that breaks off",
    b"BZh91AY": "only gzip is unpacked here",
    "7" * 5000 + " 2 0\n1\n2": "has a word of 5,000 characters where its number of jobs is due",
    "hello": "does not begin with a line 'jobs machines k'",
}


@pytest.mark.parametrize("content", BAD, ids=lambda content: repr(content[:24]))
def test_a_bad_file_is_refused_in_one_sentence(file, content):
    sentence = error_of(read_etc, file(content))
    assert BAD[content] in sentence
    assert "\n" not in sentence


def test_zeros_are_read_where_it_is_said_what_they_count_as(file):
    path = file(BENCHMARK.replace("1.5", "0.00"))
    assert read_etc(path, zero_as=0.005).times.tolist() == [[0.005, 2], *TIMES[1:]]
    with pytest.raises(UsageError, match="zero_as is 0"):
        read_etc(path, zero_as=0)
    assert "takes -3.0" in error_of(read_etc, file("1 2\n-3 0"), zero_as=1.0)


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "there is no file" in error_of(read_etc, tmp_path / "none")
    assert "is a folder" in error_of(read_etc, tmp_path)


def test_numbers_that_contradict_the_header_are_refused(file):
    assert "has 3 jobs, but 4 are asked for" in error_of(read_etc, file(BENCHMARK), jobs=4)


@pytest.mark.parametrize(("jobs", "machines"), [(0, 2), (-1, -6), (4, 2)])
def test_numbers_that_do_not_fit_are_refused(file, jobs, machines):
    path = file("1\n2\n3\n4\n5\n6")
    assert "times, but" in error_of(read_etc, path, jobs=jobs, machines=machines)


# -- tables ----------------------------------------------------------------------------------------

TABLES = {
    "plain": "1.5,2\n3,4\n5,6.25\n",
    "semicolons": "1.5;2\n3;4\n5;6.25\n",
    "tabs": "1.5\t2\n3\t4\n5\t6.25\n",
    "machine names": "a,b\n1.5,2\n3,4\n5,6.25\n",
    "job names": "x,1.5,2\ny,3,4\nz,5,6.25\n",
    "both": "job,a,b\nx,1.5,2\ny,3,4\nz,5,6.25\n",
    "empty corner": ",a,b\nx,1.5,2\ny,3,4\nz,5,6.25\n",
    "numbers as names": "job,7,8\n4,1.5,2\n5,3,4\n6,5,6.25\n",
    "blanks": "1.5 2\n3  4\n 5 6.25\n",
    "names by blanks": "job a b\nx 1.5 2\ny 3 4\nz 5 6.25\n",
    "the benchmark's format": BENCHMARK,
    "spaces": "job, a, b\nx, 1.5, 2\ny, 3, 4\nz, 5, 6.25\n\n",
}


#: Blanks separate only where the name says that it is a table.
BY_BLANKS = ("blanks", "names by blanks")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in TABLES
        for name in ("t.csv", "t.txt")
        if name == "t.csv" or kind not in BY_BLANKS
    ],
)
def test_tables_are_read(file, kind, name):
    matrix = read_etc(file(TABLES[kind], name))
    assert matrix.times.tolist() == TIMES
    assert matrix.name == "t"
    names = {
        "machine names": "ab",
        "both": "ab",
        "names by blanks": "ab",
        "empty corner": "ab",
        "spaces": "ab",
    }
    assert "".join(matrix.machine_names) == names.get(kind, "78" if "numbers" in kind else "01")
    rows = {
        "job names": "xyz",
        "both": "xyz",
        "names by blanks": "xyz",
        "empty corner": "xyz",
        "spaces": "xyz",
    }
    assert "".join(matrix.job_names) == rows.get(kind, "456" if "numbers" in kind else "012")


@pytest.mark.parametrize(
    "head", ["job_id", "Job ID", "JobID", "jobs", "task_id", "taskNo", "ID", "index"]
)
def test_numbers_below_a_header_of_jobs_are_their_names_not_times(file, head):
    matrix = read_etc(file(f"{head},a,b\n1,30,40\n2,50,60\n", "t.csv"))
    assert matrix.times.tolist() == [[30, 40], [50, 60]]
    assert (matrix.job_names, matrix.machine_names) == (("1", "2"), ("a", "b"))


def test_a_first_column_that_counts_the_rows_is_taken_neither_for_times_nor_for_names(file):
    said = error_of(read_etc, file("number,a,b\n0,30,40\n1,50,60\n", "t.csv"))
    assert "counts its rows below 'number'" in said
    assert "Call that column 'job'" in said
    assert read_etc(file("a,b\n1,40\n2,60\n1,3\n", "t.csv")).machines == 2
    assert read_etc(file("1,40\n2,60\n", "t.csv")).machines == 2


def test_nothing_and_inf_say_that_a_machine_cannot_run_a_job(file):
    matrix = read_etc(file("1,,3\ninf,5,Infinity\n", "t.csv"))
    assert matrix.times.tolist() == [[1, math.inf, 3], [math.inf, 5, math.inf]]


def test_a_table_of_one_column_is_one_machine(file):
    assert read_etc(file("5\n6\n", "t.csv")).times.tolist() == [[5], [6]]
    assert read_etc(file("fast\n5\n6\n", "t.csv")).machine_names == ("fast",)
    assert read_etc(file("my fast one\n5\n6\n", "t.csv")).machine_names == ("my fast one",)


BAD_TABLES = {
    "1,2\n3\n": "row 2 of '",
    "1,2\n3,4,5\n": "has 3 cells, but the first has 2",
    "1,2\n3,four\n": "has 'four' in row 2 of its times, column 2",
    "1x,2\n3,4\n": "has '1x' in row 1 of its times, column 1",
    "1,2\n3,0\n": "takes 0 on machine 1, but a time must be above 0",
    "1,2\n,\n": "job 1 of instance 't' can run on no machine",
    "a,b\n": "has no row below its header",
    "a,a\n1,2\n": "two machines called 'a'",
    "job,a\nx,1\nx,2\n": "two jobs called 'x'",
    'a,"b\n1,2\n': "is no table",
}


@pytest.mark.parametrize("content", BAD_TABLES)
def test_a_bad_table_is_refused_in_one_sentence(file, content):
    assert BAD_TABLES[content] in error_of(read_etc, file(content, "t.csv"))


def test_a_table_of_another_size_than_asked_for_is_refused(file):
    path = file(TABLES["plain"], "t.csv")
    assert read_etc(path, jobs=3, machines=2).jobs == 3
    assert "3 are asked for" in error_of(read_etc, path, machines=3)


@pytest.mark.parametrize("name", ["t.0", "t.0.gz", "t.csv", "t.csv.gz", "t.tsv"])
def test_what_is_written_reads_back_the_same(tmp_path, name):
    matrix = generate_etc("u_i_hihi", 20, 5, incompatible=0.2)
    write_etc(matrix, tmp_path / name)
    again = read_etc(tmp_path / name)
    assert (again.times == matrix.times).all()
    assert again.machine_names == matrix.machine_names


@given(data=st.binary(max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_in_a_file_it_is_read_or_refused(tmp_path, data):
    for name in ("t.csv", "t.0"):
        path = tmp_path / name
        path.write_bytes(data)
        try:
            read_etc(path)
        except QueuesmithError as error:
            assert "\n" not in str(error)


# -- work and capacities ---------------------------------------------------------------------------


def test_work_over_capacity_is_time():
    matrix = from_work([100, 300], [10, 20], ready=[1, 2], name="mi")
    assert matrix.times.tolist() == [[10, 5], [30, 15]]
    assert matrix.ready.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("work", "mips", "sentence"),
    [
        ([1, 0], [1], "job 1 of instance 'etc' has work 0"),
        ([1], [-2], "machine 0 of instance 'etc' has mips -2"),
        ([math.nan], [1], "has work nan"),
        ([math.inf], [1], "has work inf"),
        ([1], [], "one value for each machine, at least one"),
        ([], [1], "one value for each job, at least one"),
        ([[1]], [1], "has the shape"),
    ],
)
def test_work_and_capacities_must_be_above_zero(work, mips, sentence):
    assert sentence in error_of(from_work, work, mips)


def test_work_and_capacities_are_read_from_two_files(file):
    jobs = file("job,work\nx,100\ny,300\n", "jobs.csv")
    for content, names, ready in (
        ("10\n20\n", ("0", "1"), [0, 0]),
        ("mips\n10\n20\n", ("0", "1"), [0, 0]),
        ("a;10\nb;20\n", ("a", "b"), [0, 0]),
        ("machine,mips,ready\na,10,5\nb,20,6\n", ("a", "b"), [5, 6]),
    ):
        matrix = read_work(jobs, file(content, "machines.csv"))
        assert matrix.times.tolist() == [[10, 5], [30, 15]]
        assert matrix.job_names == ("x", "y")
        assert (matrix.machine_names, matrix.ready.tolist()) == (names, ready)
        assert matrix.name == "jobs"


def test_bad_lists_are_refused(file):
    jobs = file("x,100\n", "jobs.csv")
    assert "has 4 columns" in error_of(read_work, jobs, file("a,1,2,3\n", "m.csv"))
    assert "'ten' in row 2" in error_of(read_work, jobs, file("a,1\nb,ten\n", "m.csv"))
    assert "row 2 of" in error_of(read_work, jobs, file("a,1\nb\n", "m.csv"))


# -- mappings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["1\n0\n1\n", "1 0 1 ", "1\r\n0\r\n1"])
def test_a_solution_is_read(file, content):
    assert read_solution(file(content, "a.sol")).tolist() == [1, 0, 1]


@pytest.mark.parametrize("content", ["1\n-1", "1\n1.5", "x", "1,2", "7" * 5000])
def test_a_solution_has_whole_numbers_only(file, content):
    assert "where the number of a machine is due" in error_of(read_solution, file(content))


def test_a_mapping_is_written_and_read_back(tmp_path):
    matrix = EtcMatrix(
        [[4, 9], [1, 9], [9, 2]], job_names=("x", "y", "z"), machine_names=("a", "b")
    )
    mapping = mapped(matrix, np.array([0, 0, 1]), "hand")
    path = tmp_path / "mapping.csv"
    write_mapping(mapping, path)
    assert path.read_text() == ("job,machine,start,finish\nx,a,1.0,5.0\ny,a,0.0,1.0\nz,b,0.0,2.0\n")
    again = read_mapping(path, matrix)
    assert machine_of(again).tolist() == [0, 0, 1]
    assert again.policy == "mapping"


def test_a_mapping_of_another_instance_is_refused(file):
    matrix = EtcMatrix([[4, 9], [1, 9]])
    assert "needs 'job' and 'machine'" in error_of(read_mapping, file("a,b\n", "m.csv"), matrix)
    path = file("job,machine\n0,1\n1,fast\n", "m.csv")
    assert "gives job '1' the machine 'fast'" in error_of(read_mapping, path, matrix)
    path = file("job,machine\n0,1\n", "m.csv")
    assert "gives job '1' the machine ''" in error_of(read_mapping, path, matrix)
    path = file("job,machine\n0,1\n1,0\n0,0\n", "m.csv")
    assert "has two rows for job '0'" in error_of(read_mapping, path, matrix)
    path = file("job,machine\n0,1\n1,0\n2,0\n", "m.csv")
    assert "has a row for job '2'" in error_of(read_mapping, path, matrix)
    with pytest.raises(ScheduleError, match="has 3 machines"):
        read_mapping(file("0\n0\n0\n", "m.sol"), matrix)


def test_a_mapping_is_not_written_where_there_is_no_folder(tmp_path):
    mapping = mapped(EtcMatrix([[1]]), np.array([0]), "hand")
    with pytest.raises(OutputError, match="there is no folder"):
        write_mapping(mapping, tmp_path / "none" / "m.csv")


@pytest.mark.data
def test_the_published_solutions_have_the_makespans_in_their_names(data):
    solutions = sorted((data / "etc").glob("*/*.sol"))
    assert len(solutions) > 30
    for path in solutions:
        instance, value = re.fullmatch(r"(.*?)(?:_CPR|_MS)?_([\d,]+)", path.stem).groups()
        matrix = read_etc(path.parent / instance, zero_as=1e-9)
        published = float(value.replace(",", "."))
        assert abs(mapping_facts(read_mapping(path, matrix))["makespan"] - published) < 0.1

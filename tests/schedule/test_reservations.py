"""Requests for reservations: read, checked, answered, written."""

import csv

import pytest

from queuesmith.base.errors import QueuesmithError, WorkloadError
from queuesmith.schedule.reservations import (
    Request,
    RequestAnswer,
    check_requests,
    read_requests,
    summarize_answers,
    write_answers,
)

ACCEPTED = RequestAnswer(Request(1, 0, 5, 8, 2), True, None, 0.0015)
DECLINED = RequestAnswer(Request(2, 0, 5, 8, 4), False, 10, 0.0005)


@pytest.fixture
def file(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "requests.csv"
        path.write_text(text, encoding=encoding)
        return path

    return write


def test_requests_are_read_in_any_order_of_columns(file):
    path = file("cores,id,note,submit,begin,end\n4,7,hello,1,2,3\n", encoding="utf-8-sig")
    assert read_requests(path) == (Request(7, 1, 2, 3, 4),)


def test_a_file_without_rows_has_no_requests(file):
    assert read_requests(file("id,submit,begin,end,cores\n")) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("id,submit,end\n", "has no column 'begin'. It needs: id, submit, begin, end, cores"),
        ("id,submit,begin,end\n", "has no column 'cores'"),
        ("id,submit,begin,end,cores\n1,2,x,4,5\n", r"requests.csv', line 2: begin is 'x', but it"),
        ("id,submit,begin,end,cores\n1,2,3,4,1\n1,2\n", "line 3: begin is None, but it must be"),
        ("id,submit,begin,end,cores\n1,2,3,4.5,5\n", "end is '4.5', but it must be a whole number"),
        ("id,submit,begin,end,cores\n1,2,3,3,5\n", "submit <= begin < end, from second 0 on"),
    ],
)
def test_a_bad_file_is_answered_with_the_line(file, text, message):
    with pytest.raises(WorkloadError, match=message):
        read_requests(file(text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(QueuesmithError, match=r"none\.csv"):
        read_requests(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1, -1, 5, 8, 2), "asked for at -1, from 5 to 8, but it must be submit <= begin < end"),
        ((1, 6, 5, 8, 2), "asked for at 6, from 5 to 8"),
        ((1, 0, 8, 8, 2), "from 8 to 8"),
        ((1, 0, 8, 2**63, 2), "but a time is at most 1099511627776 seconds"),
        ((1, 0, 5, 8, 0), "reservation 1 asks for 0 cores, but it must be at least 1"),
    ],
)
def test_a_request_that_cannot_be_is_refused(values, message):
    with pytest.raises(WorkloadError, match=message):
        Request(*values)


def test_requests_stand_in_the_order_in_which_they_are_made():
    late, early, second = Request(1, 9, 9, 10, 1), Request(3, 0, 9, 10, 1), Request(2, 0, 9, 10, 1)
    assert check_requests([late, early, second], 4) == (second, early, late)


def test_a_request_wider_than_the_machine_is_refused():
    with pytest.raises(WorkloadError, match=r"asks for 2 cores, but the machine has 1\. Ask"):
        check_requests([ACCEPTED.request], 1)


def test_answers_are_written(tmp_path):
    write_answers([ACCEPTED, DECLINED], tmp_path / "answers.csv")
    with (tmp_path / "answers.csv").open() as file:
        first, second = csv.DictReader(file)
    assert first == {
        "id": "1",
        "submit": "0",
        "begin": "5",
        "end": "8",
        "cores": "2",
        "accepted": "1",
        "alternative": "",
        "milliseconds": "1.500",
    }
    assert (second["accepted"], second["alternative"]) == ("0", "10")


def test_answers_are_summarised():
    assert summarize_answers([ACCEPTED, DECLINED]) == pytest.approx(
        {
            "requests": 2,
            "accepted": 1,
            "declined": 1,
            "mean_answer_milliseconds": 1.0,
            "max_answer_milliseconds": 1.5,
        }
    )
    assert summarize_answers([])["mean_answer_milliseconds"] == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(tmp_path, end):
    """A lone CR gave a traceback."""
    path = tmp_path / "requests.csv"
    path.write_bytes(end.join(["id,submit,begin,end,cores", "1,0,5,8,2", ""]).encode())
    assert read_requests(path) == (Request(1, 0, 5, 8, 2),)


def test_what_is_no_csv_gets_one_sentence(file):
    huge = '"' + "x" * 200_000
    with pytest.raises(WorkloadError, match="is not CSV"):
        read_requests(file(f"id,submit,begin,end,cores,{huge}\n"))

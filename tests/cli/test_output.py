"""How results reach the terminal."""

import itertools
import json
from types import SimpleNamespace

import pytest

from queuesmith import Workload
from queuesmith.cli import output
from queuesmith.cli.output import Format, print_json, print_rows, progress, readable, working
from queuesmith.workload.workload import Change

ROWS = [{"name": "one", "value": 1234567}, {"name": "two, or more", "value": None}]


def test_rows_as_json_are_a_list_of_objects(capsys):
    print_rows(ROWS, Format.json)
    assert json.loads(capsys.readouterr().out) == ROWS


def test_rows_as_csv_have_a_header_and_quotes_where_needed(capsys):
    print_rows(ROWS, Format.csv)
    assert capsys.readouterr().out == 'name,value\none,1234567\n"two, or more",\n'


def test_rows_as_a_table_have_numbers_to_the_right(capsys):
    print_rows(ROWS, Format.table)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    one, two = (line for line in lines if "one" in line or "two" in line)
    assert one.endswith("1,234,567")
    assert two.endswith("        -")
    assert len(one) == len(two)


def test_a_column_with_one_number_is_a_column_of_numbers(capsys):
    print_rows([{"value": "text"}, {"value": 1234567}], Format.table)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.rstrip().endswith("     text") for line in lines)


@pytest.mark.parametrize("format", Format)
def test_no_rows_are_no_error(capsys, format):
    print_rows([], format)
    assert not capsys.readouterr().err


def test_markup_in_a_table_is_taken_literally(capsys):
    print_rows([{"name": "awrt[1] [red]x[/red]"}], Format.table)
    assert "awrt[1] [red]x[/red]" in capsys.readouterr().out


def test_numbers_that_json_does_not_know_become_null(capsys):
    print_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": (-float("inf"),)}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": {"d": [None]}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (1234567, "1,234,567"),
        (12345.6, "12,346"),
        (1234.56, "1,235"),
        (0.123456, "0.1235"),
        (-98765.4, "-98,765"),
        (0.0, "0"),
    ],
)
def test_numbers_are_written_as_people_read_them(value, text):
    assert readable(value) == text


def test_only_changes_not_told_before_are_told(capsys):
    changes = (Change("too old", 1, dropped=True), Change("too wide", 2000, dropped=True))
    jobs = Workload([0], [1], [1], [1], changes=changes)
    output.tell_changes(jobs, since=1)
    assert capsys.readouterr() == ("", "note: 2,000 jobs left out: too wide\n")
    output.tell_changes(jobs, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_there_is_no_progress(capsys, monkeypatch):
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=itertools.count(0, 10).__next__))
    with progress("replaying") as report:
        report(0.5)
    with working("reading"):
        pass
    assert capsys.readouterr() == ("", "")


def a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(output, "on_terminal", lambda: True)


def test_on_a_terminal_a_bar_appears_after_a_second(capsys, monkeypatch):
    a_terminal(monkeypatch)
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=itertools.count(0, 10).__next__))
    with progress("replaying fcfs") as report:
        report(0.5)
        report(1.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "replaying fcfs" in err
    assert "100" in err


def test_short_work_shows_no_bar(capsys, monkeypatch):
    a_terminal(monkeypatch)
    with progress("replaying") as report:
        report(1.0)
    assert capsys.readouterr() == ("", "")


def test_work_of_unknown_length_shows_that_it_goes_on(capsys, monkeypatch):
    a_terminal(monkeypatch)
    with working("reading a.swf"):
        pass
    assert "reading a.swf" in capsys.readouterr().err
    with working("reading a.swf", quiet=True):
        pass
    assert capsys.readouterr() == ("", "")

"""JSON within limits: one sentence for whatever is beyond them."""

import gzip

import pytest

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.base.json import check_schema, parse_json, read_json

SCHEMA = {"order": (str, True), "window": (int, False), "keep": ((dict, type(None)), False)}


def test_plain_json_is_read_as_it_is():
    assert parse_json('{"a": [1, 2.5, null, "x", true]}', "it") == {"a": [1, 2.5, None, "x", True]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 100_000, "nests values more than 32 deep"),
        ("[" * 40 + "]" * 40, "nests values more than 32 deep"),
        ('{"a":' * 40 + "1" + "}" * 40, "nests values more than 32 deep"),
        ("1" * 5000, "a number of 5,000 digits"),
        ("NaN", "the number NaN, which is not finite"),
        ("[-Infinity]", "the number -Infinity, which is not finite"),
        ("1e999", "the number 1e999, which is not finite"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ('{"a": ', "it is not JSON"),
        ("\x00", "it is not JSON"),
    ],
)
def test_what_is_beyond_the_limits_gets_one_sentence(text, sentence):
    with pytest.raises(PolicyError, match=sentence):
        parse_json(text, "it", error=PolicyError)


def test_too_large_a_file_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "large.json"
    path.write_text("[" + "1," * 1000 + "1]")
    with pytest.raises(UsageError, match="more than 1,000 bytes"):
        read_json(path, most_bytes=1000)


def test_files_may_be_packed_or_begin_with_a_mark(tmp_path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"[1]"))
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(tmp_path / "a.json.gz") == read_json(tmp_path / "b.json") == [1]


@pytest.mark.parametrize(("name", "data"), [("absent", None), ("latin", b'"\xff"'), ("x\0", None)])
def test_files_that_cannot_be_read_get_one_sentence(tmp_path, name, data):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=r"cannot be read|is not JSON"):
        read_json(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([], "must be a JSON object, but it is a list"),
        ({"window": 1}, "has no 'order': it may have 'order', 'window', 'keep'"),
        ({"order": "x", "colour": 1}, "has an unknown 'colour'"),
        ({"order": 3}, "'order' of it must be a text, but it is a whole number"),
        ({"order": "x", "window": True}, "must be a whole number, but it is true or false"),
        ({"order": "x", "keep": 1.5}, "must be an object or null, but it is a number"),
    ],
)
def test_a_schema_tells_what_is_wrong(content, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_schema(content, SCHEMA, "it")
    check_schema({"order": "x", "keep": None}, SCHEMA, "it")

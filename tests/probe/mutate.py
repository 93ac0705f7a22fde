"""Files as they arrive after an accident, or from somebody who means harm."""

from __future__ import annotations

import random
import re

TOKENS = (
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"inf",
    b"-1",
    b"0",
    b"1e999",
    b"-1e999",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"0.1",
    b"1e-320",
    b"9" * 5000,
    b"[" * 3000,
    b"{" * 50,
    b'{"a":' * 200,
    b"]",
    b"}",
    b"(" * 500,
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\x1b[8m",
    b'"',
    b"'",
    b",",
    b";",
    b"|",
    b"=",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"</script><script>alert(1)</script>",
    b"../../../etc/passwd",
    b"x" * 10_000,
    b"\xd9\xa3",  # a digit, but none of ours
    b"1_000",
    b"0x10",
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return a file with one to four changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(CHANGES)(data, chance)
    return data


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(TOKENS) + data[place:]


def _cut(data: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(data) + 1)
    return data[:first] + data[first + chance.choice((1, 1, 2, 5, 20, 200)) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(data) + 1)
    part = data[first : first + chance.choice((1, 5, 50))]
    return data[:first] + part * chance.choice((2, 3, 50)) + data[first:]


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _replace(pattern: re.Pattern[bytes]) -> object:
    def change(data: bytes, chance: random.Random) -> bytes:
        found = list(pattern.finditer(data[:20_000]))
        if not found:
            return data
        match = chance.choice(found)
        return data[: match.start()] + chance.choice(TOKENS) + data[match.end() :]

    return change


def _swap_words(data: bytes, chance: random.Random) -> bytes:
    found = list(_WORD.finditer(data[:20_000]))
    if len(found) < 2:
        return data
    one, other = sorted(chance.sample(found, 2), key=lambda match: match.start())
    middle = data[one.end() : other.start()]
    return data[: one.start()] + other[0] + middle + one[0] + data[other.end() :]


def _move_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
        del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def _line_ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r", b"\r\n", b"\n\r", b" ", b"\n\n")))


CHANGES = (
    _flip,
    _flip,
    _insert,
    _insert,
    _cut,
    _repeat,
    _truncate,
    _replace(_NUMBER),
    _replace(_NUMBER),
    _replace(_WORD),
    _swap_words,
    _move_lines,
    _line_ends,
)

"""Who waits for the compiler is told, and one can let it all be compiled before."""

import re

import pytest

from queuesmith.base.notices import tell
from queuesmith.cli import compiling, main


def test_on_a_terminal_one_is_told_what_is_compiled(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "on_terminal", lambda: True)
    compiling.tell_of_compiling("engine: run fixed", 11.6)
    assert capsys.readouterr().err == "compiling engine: run fixed (about 12 s, once)\n"


def test_where_nobody_watches_nothing_is_said(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "on_terminal", lambda: False)
    compiling.tell_of_compiling("engine: run fixed", 11.6)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("words", "told"), [([], True), (["--quiet"], False), (["-q"], False)])
def test_a_quiet_command_tells_nothing_of_compiling(monkeypatch, capsys, words, told):
    def compile_all(workers):
        tell("engine: run fixed", 11)
        yield "engine: run fixed", 0.5

    monkeypatch.setattr(compiling, "on_terminal", lambda: True)
    monkeypatch.setattr("queuesmith.compiled.warm_up.warm_up", compile_all)
    assert main(["warm-up", *words]) == 0
    said = capsys.readouterr().err
    assert ("compiling engine: run fixed" in said) is told
    assert bool(re.search(r"1 of \d+ +0.5 s  engine: run fixed", said)) is told


def test_nobody_cannot_compile(capsys):
    assert main(["warm-up", "--workers", "0"]) == 2
    assert "number of workers" in capsys.readouterr().err

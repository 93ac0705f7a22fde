"""Ctrl-C while a library is imported is Ctrl-C, whatever the library makes of it."""

import sys

import pytest

from queuesmith.base.errors import (
    OutputError,
    QueuesmithError,
    UsageError,
    interrupted,
    raise_if_interrupted,
)
from queuesmith.base.extras import extra_library
from queuesmith.cli import main
from queuesmith.knobs import sweep_files
from queuesmith.policy.order import load_order
from queuesmith.solving.libraries import solver_library
from queuesmith.workload import tables

#: What a library does when Ctrl-C comes while it is imported.
INTERRUPTED = {
    "nothing": "raise KeyboardInterrupt",
    "cause": """
try:
    raise KeyboardInterrupt
except KeyboardInterrupt as stop:
    raise ImportError("initialization failed") from stop  # as pybind11 does
""",
    "context": """
try:
    raise KeyboardInterrupt
except BaseException:
    raise ImportError("initialization failed")
""",
    "deep": """
try:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as stop:
        raise ImportError("initialization failed") from stop
except ImportError:
    raise ImportError("cannot import the rest") from ValueError("no reason")
""",
}
LIBRARIES = {
    "scipy": lambda: solver_library("scipy.optimize"),
    "ortools": lambda: solver_library("ortools.sat.python.cp_model"),
    "pymoo": lambda: extra_library("pymoo", "tune", "the front"),
    "pyarrow": lambda: tables._pyarrow(OutputError),
    "pyarrow for sweeps": sweep_files._pyarrow,
}


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return what puts a library in the place of the real one."""

    def put(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, module)

    return put


@pytest.mark.parametrize("source", INTERRUPTED.values(), ids=INTERRUPTED)
@pytest.mark.parametrize("library", LIBRARIES)
def test_an_interrupted_import_is_an_interruption(fake, library, source):
    fake(library.split()[0], source)
    with pytest.raises(KeyboardInterrupt):
        LIBRARIES[library]()


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_import_that_fails_by_itself_says_how_to_get_the_library(fake, library):
    fake(library.split()[0], "raise ImportError('broken') from ValueError('wrong')")
    with pytest.raises(QueuesmithError, match=r"pip install '?queuesmith\["):
        LIBRARIES[library]()


def test_a_users_file_that_was_interrupted_is_not_called_wrong(tmp_path):
    path = tmp_path / "my.py"
    path.write_text(f"{INTERRUPTED['cause']}\ndef mine(job):\n    return 1\n")
    with pytest.raises(KeyboardInterrupt):
        load_order(f"{path}:mine")


@pytest.mark.parametrize("kind", ["cause", "nothing"])
def test_the_command_line_says_that_it_was_stopped(fake, tmp_path, capsys, monkeypatch, kind):
    fake("cma", INTERRUPTED[kind])
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "lublin", "--jobs", "60", "--cores", "8", "--out", "jobs.swf"]) == 0
    capsys.readouterr()
    words = ["tune", "jobs.swf", "--method", "priority", "--objective", "awrt", "--generations"]
    assert main([*words, "2", "--offspring", "2", "--backfills", "easy"]) == 130
    told = capsys.readouterr().err
    assert "error: stopped before it was done" in told
    assert "not installed" not in told


def test_an_interruption_that_nobody_asked_about_is_told_too(monkeypatch, capsys):
    from queuesmith.cli import app

    def stopped(*_, **__):
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr(app, "app", stopped)
    assert main(["policies"]) == 130
    assert "stopped before it was done" in capsys.readouterr().err

    def broken(*_, **__):
        raise ImportError("broken")

    monkeypatch.setattr(app, "app", broken)
    with pytest.raises(ImportError, match="broken"):
        main(["policies"])


def test_a_circle_of_causes_ends():
    one, other = ImportError("one"), ImportError("other")
    one.__cause__, other.__cause__ = other, one
    assert not interrupted(one)
    raise_if_interrupted(one)
    other.__context__ = KeyboardInterrupt()
    assert interrupted(one)
    assert not interrupted(UsageError("wrong"))


def test_a_message_that_quotes_too_much_keeps_its_way_out():
    message = str(UsageError(f"'{'x' * 10_000}' is wrong. Correct it."))
    assert len(message) < 2000
    assert message.endswith("is wrong. Correct it.")

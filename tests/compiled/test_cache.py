"""Compiled code is kept where it cannot be stale."""

import ast
import errno
import importlib
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from queuesmith.compiled import cache

CALLED = """
from queuesmith.compiled import kernel

@kernel
def called(x):
    return x + {added}
"""
CALLER = """
from numba import int64
from queuesmith.compiled import entry
from tiny.part.kernels.called import called

@entry(int64(int64))
def caller(x):
    return called(x)
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two files: an entry in one calls a kernel in the other."""
    package = tmp_path / "tiny"
    kernels = package / "part" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "called.py").write_text(CALLED.format(added=1))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(cache, "PACKAGE", package)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache, "BEGAN", math.inf)
    return package


def edit(package: Path, added: int) -> None:
    (package / "part" / "kernels" / "called.py").write_text(CALLED.format(added=added))


def loaded_anew() -> Any:
    """Return the entry of the tiny package as a new process would have it, and load it."""
    cache.folder_for.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    caller = importlib.import_module("tiny.part.kernels.caller").caller
    caller.load()
    return caller


def came_from_the_cache(function: Any) -> bool:
    return bool(function.stats.cache_hits)


def folder_of(package: Path, users_choice: str = "") -> Path:
    caller = package / "part" / "kernels" / "caller.py"
    folder = cache.folder_for.__wrapped__(package, caller, users_choice)
    assert folder is not None
    return folder


def grow_old(folder: Path) -> None:
    long_ago = time.time() - 2 * cache.AT_REST
    for path in (*folder.iterdir(), folder):
        os.utime(path, (long_ago, long_ago))


def test_a_new_process_loads_what_an_earlier_one_compiled(tiny: Path) -> None:
    assert not came_from_the_cache(loaded_anew())
    again = loaded_anew()
    assert came_from_the_cache(again)
    assert again(1) == 2


def test_an_edit_of_a_called_kernel_makes_its_caller_compile_anew(tiny: Path) -> None:
    assert loaded_anew()(1) == 2
    edit(tiny, 5)
    edited = loaded_anew()
    assert not came_from_the_cache(edited)
    assert edited(1) == 6


def test_an_edit_taken_back_finds_the_old_cache(tiny: Path) -> None:
    loaded_anew()
    edit(tiny, 5)
    loaded_anew()
    edit(tiny, 1)
    assert came_from_the_cache(loaded_anew())


def test_on_a_full_disk_it_is_compiled_and_not_kept(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert loaded_anew()(1) == 2
    monkeypatch.undo()
    assert not list(tiny.rglob("*.nbc"))


def test_settings_of_numba_are_as_they_were(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.config, "CACHE_LOCATOR_CLASSES", "InTreeCacheLocator", raising=False)
    assert loaded_anew().stats.cache_path.startswith(str(tiny / "__pycache__"))
    assert cache.config.CACHE_DIR == ""
    assert cache.config.CACHE_LOCATOR_CLASSES == "InTreeCacheLocator"


def test_an_edit_of_a_kernel_that_is_not_called_leaves_the_code_as_it_is(tiny: Path) -> None:
    loaded_anew()
    (tiny / "part" / "kernels" / "other.py").write_text(CALLED.format(added=7))
    (tiny / "part" / "driver.py").write_text("")
    assert came_from_the_cache(loaded_anew())


@pytest.mark.parametrize(
    "line",
    [
        "from tiny.part.kernels.more import x",
        "from tiny.part.kernels import more",
        "import tiny.part.kernels.more",
        "from . import more",
        "from .more import x",
        "def late():\n    from tiny.part.kernels.more import x",
        "from tiny.part.kernels.more import (\n    x,\n    y,  # both\n)",
        "from tiny.part.kernels.more \\\n    import x",
        "if True: from .more import x",
        "y = 0; import tiny.part.kernels.more as z",
    ],
)
def test_a_kernel_source_is_found_however_it_is_imported(tiny: Path, line: str) -> None:
    kernels = tiny / "part" / "kernels"
    (kernels / "called.py").write_text(line)
    (kernels / "more.py").write_text("x = 1")
    before = folder_of(tiny)
    (kernels / "more.py").write_text("x = 2")
    assert folder_of(tiny) != before


def test_what_a_process_read_before_an_edit_is_not_kept_as_if_it_came_after(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = importlib.import_module("tiny.part.kernels.caller").caller
    monkeypatch.setattr(cache, "BEGAN", time.time() - 60)
    edit(tiny, 5)  # after the import, before anything is compiled
    assert caller(1) == 2
    assert not list(tiny.rglob("*.nbc"))


def test_the_grids_kernels_are_no_concern_of_the_engine() -> None:
    engine = cache.PACKAGE / "engine" / "kernels" / "order_replay.py"
    needed = {path.relative_to(cache.PACKAGE) for path in cache.dependencies(cache.PACKAGE, engine)}
    assert {Path("engine/kernels/plan.py"), Path("compiled/due.py")} <= needed
    assert not any(path.parts[0] in ("grid", "federation", "knobs") for path in needed)


def test_the_folder_is_beside_the_package(tiny: Path) -> None:
    assert folder_of(tiny).parent.parent == tiny / "__pycache__"


def test_the_users_folder_comes_first(tiny: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    assert folder_of(tiny, str(chosen)).parent.parent == chosen


def test_a_relative_folder_of_the_user_is_meant_from_here(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of(tiny, "chosen").parent.parent == tmp_path / "chosen"


def test_what_cannot_be_written_to_is_passed_over(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert folder_of(tiny, str(blocked / "chosen")).parent.parent == tiny / "__pycache__"

    own = folder_of(tiny)
    with monkeypatch.context() as patch:
        patch.setattr(cache.os, "access", lambda path, mode: Path(path) != own)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
        assert folder_of(tiny).parent.parent == tmp_path / "home"


def test_where_nothing_can_be_written_functions_are_compiled_each_time(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache.os, "access", lambda path, mode: False)
    assert loaded_anew()(1) == 2
    again = loaded_anew()
    assert not came_from_the_cache(again)
    assert again(1) == 2


def test_a_new_folder_removes_those_of_older_sources(tiny: Path) -> None:
    loaded_anew()
    old = folder_of(tiny)
    grow_old(old)
    edit(tiny, 5)
    new = folder_of(tiny)
    assert new != old
    assert not old.exists()


def test_a_folder_just_written_to_may_be_in_use_and_stays(tiny: Path) -> None:
    old = folder_of(tiny)
    edit(tiny, 5)
    folder_of(tiny)
    assert old.exists()


def test_folders_of_others_stay(tiny: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    copy = tmp_path / "elsewhere" / "tiny"
    copy.mkdir(parents=True)
    (copy / "part" / "kernels").mkdir(parents=True)
    (copy / "part" / "kernels" / "caller.py").write_text("")
    others = [folder_of(copy, str(chosen)), chosen / "tiny", chosen / "tiny-0123456789abcdef"]
    for other in others:
        other.mkdir(exist_ok=True)
        grow_old(other)
    folder_of(tiny, str(chosen))
    assert all(other.exists() for other in others)


def test_a_folder_that_somebody_else_removes_meanwhile_does_no_harm(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = folder_of(tiny)
    listed: Callable[..., Any] = Path.glob

    def removed_meanwhile(path: Path, pattern: str) -> list[Path]:
        found = list(listed(path, pattern))
        if old in found:
            old.rmdir()
        return found

    edit(tiny, 5)
    monkeypatch.setattr(Path, "glob", removed_meanwhile)
    assert folder_of(tiny).exists()
    assert not old.exists()


def test_a_process_whose_folder_was_removed_makes_it_again(tiny: Path) -> None:
    loaded_anew()
    old = folder_of(tiny)
    grow_old(old)
    cache._remove_old(iter([old]), old.with_name("newer"))
    assert not old.exists()
    del sys.modules["tiny.part.kernels.caller"]
    again = importlib.import_module("tiny.part.kernels.caller").caller
    assert again(1) == 2
    assert old.exists()


def test_of_many_files_the_newest_stay(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(5)]
    for age, file in enumerate(files):
        file.write_text("")
        os.utime(file, (1000 - age, 1000 - age))
    gone = tmp_path / "gone"  # by another process
    cache.remove_oldest([*files[::-1], gone], 2)
    assert sorted(tmp_path.iterdir()) == files[:2]


def test_compiled_code_uses_of_other_files_only_what_the_stamp_covers() -> None:
    covered = set(cache.kernel_sources(cache.PACKAGE))
    for source in cache.PACKAGE.rglob("*.py"):
        tree = ast.parse(source.read_text())
        used = {
            name.id
            for function in tree.body
            if isinstance(function, ast.FunctionDef) and _is_compiled(function)
            for name in ast.walk(function)
            if isinstance(name, ast.Name)
        }
        for module, name in _imported(tree):
            if name in used:
                assert _file(module) in covered, f"{source}: {name} of {module}"


def _is_compiled(function: ast.FunctionDef) -> bool:
    decorators = {ast.unparse(node).partition("(")[0] for node in function.decorator_list}
    return not decorators.isdisjoint({"kernel", "entry"})


def _imported(tree: ast.Module) -> list[tuple[str, str]]:
    return [
        (node.module, alias.asname or alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("queuesmith.")
        for alias in node.names
    ]


def _file(module: str) -> Path:
    path = cache.PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")

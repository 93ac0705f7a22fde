"""What is compiled when, how often, and what is told of it."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import float64, int32, int64, types
from numba.core.compiler_lock import global_compiler_lock

from queuesmith.base.notices import listening
from queuesmith.compiled import cache, decorators, durations, entry, kernel, load
from queuesmith.compiled.inside_numba import TAKEN_IN


def double(x: int) -> int:
    return 2 * x


def first_of(numbers: Any) -> Any:
    return numbers[0]


@kernel
def next_to(x: int) -> int:
    return x + 1


@kernel
def two_on(x: int) -> int:
    return next_to(next_to(x))  # type: ignore[no-any-return]


def test_an_entry_is_compiled_when_it_is_first_called_and_for_its_signature_alone() -> None:
    compiled = entry(int64(int64))(double)
    assert compiled.signatures == []
    assert compiled(4) == 8
    assert compiled.signatures == [(int64,)]
    with pytest.raises(TypeError, match="No matching definition"):
        compiled("four")


def test_an_entry_without_a_signature_is_compiled_for_what_it_is_given() -> None:
    compiled = entry()(double)
    assert compiled(4) == 8
    assert compiled(4.5) == 9.0


def test_loading_compiles_before_the_first_call_and_only_once() -> None:
    compiled = entry(int64(int64), kept=False)(double)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: load(compiled), range(4)))
    assert compiled.signatures == [(int64,)]
    assert sum(compiled.stats.cache_misses.values()) <= 1


def test_an_entry_that_is_loaded_while_another_thread_calls_it_converts_its_arguments() -> None:
    """That thread has begun its call, and asks for the type of an argument, when it is loaded."""
    of_frozen = entry(int64(types.Array(int64, 1, "C", readonly=True)), kept=False)(first_of)
    asked = of_frozen.typeof_pyval

    def loaded_meanwhile(value: Any) -> Any:
        load(of_frozen)
        return asked(value)

    of_frozen.typeof_pyval = loaded_meanwhile
    assert of_frozen(np.arange(3, 6)) == 3


def test_an_entry_is_kept_on_disk_unless_that_is_switched_off() -> None:
    kept, not_kept = entry(int64(int64))(double), entry(int64(int64), kept=False)(double)
    load(kept, not_kept)
    assert kept.stats.cache_path is not None
    assert not_kept.stats.cache_path is None


def test_options_are_handed_on() -> None:
    compiled = entry(error_model="numpy")(double)
    assert compiled.targetoptions["error_model"] == "numpy"
    assert compiled.targetoptions["nogil"]


def test_a_kernel_can_be_called_by_entries_by_plain_numba_and_from_python() -> None:
    def through(x: int) -> int:
        return two_on(x)  # type: ignore[no-any-return]

    assert entry(int64(int64), kept=False)(through)(1) == 3
    assert numba.njit(through)(1) == 3
    assert two_on(1) == 3


def test_a_kernel_is_compiled_once_for_a_constant_a_count_and_a_short_number() -> None:
    counted = kernel(double)

    def through(x: int, few: Any) -> int:
        total = 0
        for _ in range(3):
            total = counted(total) + counted(7) + counted(few[0])
        return total + x

    through_all = entry(int64(int64, int32[:]), kept=False)(through)
    assert through_all(1, np.array([-3], np.int32)) == 57
    assert counted.signatures == [(int64,)]


def test_numba_itself_is_as_it_was_once_an_entry_is_compiled_or_cannot_be() -> None:
    before = types.BaseFunction.get_call_type
    load(entry(int64(int64), kept=False)(double))
    assert types.BaseFunction.get_call_type is before
    with pytest.raises(numba.errors.TypingError):
        load(entry(int64(int64), kept=False)(lambda x: x + "one"))
    assert types.BaseFunction.get_call_type is before


def test_the_same_sum_under_other_options_is_compiled_for_these() -> None:
    def share(x: int) -> float:
        return 1 / x

    assert entry(kept=False, error_model="numpy")(share)(0) == float("inf")
    with pytest.raises(ZeroDivisionError):
        entry(kept=False, error_model="python")(share)(0)


def test_an_entry_can_be_called_by_another() -> None:
    inner = entry(int64(int64), kept=False)(double)

    def outer(x: int) -> int:
        return inner(inner(x))  # type: ignore[no-any-return]

    assert entry(int64(int64), kept=False)(outer)(3) == 12


def test_an_entry_is_the_same_after_another_has_taken_it_in() -> None:
    """There it needs one argument of two; it is too long to be inlined."""

    def long(x: float, unused: int) -> float:
        for _ in range(3):
            x = np.exp(np.sin(x)) + np.cos(x * x) - np.tan(x) * np.log(2.0 + np.abs(x))
            x = np.sin(np.exp(np.cos(x))) + np.tan(x * x) - np.cos(x) * np.log(3.0 + np.abs(x))
            x = np.cos(np.sin(np.tan(x))) + np.exp(np.sin(x)) - np.log(4.0 + np.abs(x))
        return x

    kind = float64(float64, int64)
    inner = entry(kind, kept=False)(long)
    load(inner)
    alone = inner.overloads[kind.args]
    names = alone.fndesc.llvm_func_name, alone.fndesc.llvm_cfunc_wrapper_name
    before = [alone.library.get_pointer_to_function(name) for name in names]

    def outer(x: float) -> float:
        return inner(x, 1) + inner(x + 1.0, 2)  # type: ignore[no-any-return]

    taking_in = entry(float64(float64), kept=False)(outer)
    load(taking_in)
    (whole,) = taking_in.overloads.values()
    assert any(each.name.startswith(TAKEN_IN) for each in whole.library._final_module.functions)
    assert [alone.library.get_pointer_to_function(name) for name in names] == before


def test_a_function_that_is_passed_to_another_teaches_numba_no_new_types(tmp_path: Path) -> None:
    """Another thread that asks for a type just then would be refused."""
    code = """
from numba import float64, types
from numba.core.typing.typeof import typeof_impl
from queuesmith.compiled import entry, load
def inner(x): return x + 1.0
def outer(f, x): return f(x)
kind = float64(float64)
inner = entry(kind)(inner)
outer = entry(float64(types.FunctionType(kind), float64))(outer)
load(inner, outer)
before = len(typeof_impl.registry)
assert outer(inner, 1.0) == 2.0
assert len(typeof_impl.registry) == before
print(bool(inner.stats.cache_hits and outer.stats.cache_hits))
"""
    (tmp_path / "passing.py").write_text(code)
    os.utime(tmp_path / "passing.py", (0, 0))  # or it might have changed since it was read
    command, folder = [sys.executable, tmp_path / "passing.py"], {"NUMBA_CACHE_DIR": str(tmp_path)}
    for kept in ("False", "True"):  # what is compiled has taught Numba more
        ended = subprocess.run(
            command, env=os.environ | folder, check=True, capture_output=True, text=True
        )
        assert ended.stdout.strip() == kept


def test_without_a_compiler_all_stays_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    assert entry(int64(int64))(double) is double
    assert kernel(double) is double
    load(double)


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An entry that usually takes twelve seconds, in an empty cache."""
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(durations.USUAL, f"{__name__}.double", 12)
    cache.folder_for.cache_clear()
    yield lambda: entry(int64(int64))(double)
    cache.folder_for.cache_clear()


def test_who_listens_is_told_what_is_compiled_and_how_long_it_takes(slow: Any) -> None:
    told: list[tuple[str, float]] = []
    with listening(lambda what, seconds: told.append((what, seconds))):
        slow()(1)
        slow()(1)  # comes from the disk
    assert told == [(durations.label(f"{__name__}.double"), 12)]


def test_next_time_it_takes_as_long_as_last_time(slow: Any) -> None:
    name = f"{__name__}.double"
    durations.remember(name, 34.56)
    assert durations.expected(name) == 34.6
    slow()(1)
    assert durations.expected(name) < 34


def test_nobody_is_told_of_what_takes_a_moment() -> None:
    told: list[str] = []
    with listening(lambda what, _: told.append(what)):
        entry(int64(int64), kept=False)(double)(1)
    assert told == []


def test_all_that_is_said_to_take_long_exists() -> None:
    from queuesmith.compiled.warm_up import all_entries

    assert set(durations.USUAL) <= set(all_entries())


def test_every_entry_of_a_kernel_file_is_listed_and_knows_its_types() -> None:
    from queuesmith.compiled.warm_up import all_entries

    ways_in = ("entry(", "initial", "crossover", "mutation", "selection", "at_once")
    marked = sum(
        line.startswith(tuple(f"@{name}" for name in ways_in))
        for source in cache.kernel_sources(cache.PACKAGE)
        for line in source.read_text().splitlines()
    )
    entries = all_entries()
    assert len(entries) == marked
    assert all(each.signature is not None for each in entries.values())
    assert entries.items() <= decorators.ENTRIES.items()


def test_types_of_arguments_are_not_asked_for_while_another_thread_compiles() -> None:
    asking = threading.Thread(target=entry(kept=False)(double).typeof_pyval, args=(1,))
    with global_compiler_lock:
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
    asking.join()

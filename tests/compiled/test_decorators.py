"""What is compiled when, and how often."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from numba import int64

from queuesmith.compiled import decorators, entry, kernel, on_demand


def double(x: int) -> int:
    return 2 * x


def test_an_entry_with_a_signature_is_compiled_at_once_and_for_nothing_else() -> None:
    compiled = entry(int64(int64))(double)
    assert compiled.signatures == [(int64,)]
    assert compiled(4) == 8
    with pytest.raises(TypeError, match="No matching definition"):
        compiled("four")


def test_an_entry_without_a_signature_is_compiled_when_it_is_called() -> None:
    compiled = entry()(double)
    assert compiled.signatures == []
    assert compiled(4) == 8


def test_an_entry_is_kept_on_disk_unless_that_is_switched_off() -> None:
    assert entry()(double).stats.cache_path is not None
    assert entry(kept=False)(double).stats.cache_path is None


def test_options_are_handed_on() -> None:
    compiled = entry(error_model="numpy")(double)
    assert compiled.targetoptions["error_model"] == "numpy"
    assert compiled.targetoptions["nogil"]


def test_what_is_compiled_on_demand_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def counting(function: object) -> object:
        compiled.append(function)
        return function

    monkeypatch.setattr(decorators, "entry", lambda signature, **options: counting)
    asked = on_demand(int64(int64))(double)
    assert asked.__name__ == "double"
    assert compiled == []
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(asked, range(4))) == [0, 2, 4, 6]
    assert compiled == [double]


def test_without_a_compiler_all_stays_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    assert entry(int64(int64))(double) is double
    assert kernel(double) is double
    assert on_demand(int64(int64))(double).load() is double

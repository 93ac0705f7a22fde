"""Compile a loop anew for each function of a user, with the function inlined into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

from queuesmith.compiled import entry, kernel, load, written
from queuesmith.compiled.cache import remove_oldest

#: So many files of one loop are kept on disk; two belong to each function.
MOST_FILES = 400


def compiled_loop(
    loop: Callable[..., Any],
    kind: Any,
    own: Mapping[str, Callable[..., Any]],
    helpers: Mapping[str, Any],
    source: str,
    word: str | None,
    error_model: str = "numpy",
) -> Callable[..., Any]:
    """Compile a loop that calls what a source text defines.

    Parameters
    ----------
    loop
        The loop; what it calls are global names of its module.
    kind
        The type of the compiled loop, so that kernels can call any of them.
    own
        The user's functions, by the names under which the source text calls them.
    helpers
        What else the loop and the source text use, where it is not the same for every function.
    source
        Definitions of the functions between the loop and the user's.
    word
        A word that no other function has, or None where nothing can be kept.
    error_model
        What comes of dividing by zero: a number, as in numpy, or an error, as in ``"python"``.
    """
    inlined = kernel(error_model=error_model)
    called = {name: inlined(_renamed(each, word)) for name, each in own.items()}
    names = written(source, {**helpers, **called}, loop.__module__)
    for name in names.keys() - helpers.keys() - called.keys():
        if isinstance(names[name], FunctionType):
            names[name] = inlined(_renamed(names[name], word))
    whole = _renamed(loop, word, names)
    compiled = entry(kind, kept=word is not None, error_model=error_model)(whole)
    load(compiled)
    if word is not None and compiled is not whole and compiled.stats.cache_misses:
        folder = compiled.stats.cache_path  # None where the sources have changed meanwhile
        if folder is not None:
            remove_oldest(Path(folder).glob(f"*{loop.__name__}_*"), MOST_FILES)
    return compiled  # type: ignore[no-any-return]


def _renamed(
    function: Callable[..., Any], word: str | None, names: Mapping[str, Any] = MappingProxyType({})
) -> FunctionType:
    """Return a copy of a function under a name that no other code has, with other global names.

    Machine code of many processes comes together in one that loads it, and equal names would be
    taken for the same function.
    """
    assert isinstance(function, FunctionType)
    known = {**function.__globals__, **names, "__name__": __name__}
    code, default = function.__code__, function.__defaults__
    copy = FunctionType(code, known, function.__name__, default, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = f"{function.__qualname__}_{word}"
    return copy

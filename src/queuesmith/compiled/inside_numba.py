"""Kernels, entries and how they are compiled: most of what is used of Numba beyond its documents.

``tests/compiled/test_inside_numba.py`` says in one sentence what of it a new Numba has changed.

**Why.** Numba compiles every function to the end, to machine code with a way in for Python,
before it compiles those that call it, and optimises its code again in each of them. Of a kernel
only the code inside its callers is ever used. So a kernel stays a *draft* here: what Numba's front
end writes of it. The entry that calls it, directly or not, takes in all drafts and is optimised
once, as a whole. That halved the time to compile everything. And what a built-in function makes of
some types is looked up once, not wherever it is called: another eighth. How code is written
(``lowering``) and which passes it goes through (``passes``) spared another fifth; those two and
``shortcuts`` use Numba's inner parts, too.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numba.experimental.function_type  # from the start: see Entry.typeof_pyval
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from queuesmith.compiled.passes import KernelCompiler
from queuesmith.compiled.shortcuts import fewer_collections, quietly, refreshing_once, signatures

config: Any = numba.config  # its stubs do not know the settings

#: What the names of functions begin with that an entry has taken in.
TAKEN_IN = "taken_in."
#: What only a function that Python or C calls needs.
NO_WAYS_IN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_one_at_a_time = threading.Lock()


def counting(allocates: bool) -> dict[str, Any]:
    """Return the option for functions that make arrays, or for those that do not.

    Without new arrays no references need be counted, which for bundles of arrays costs a factor of
    ten.
    """
    return {"_nrt": allocates}


class Draft(JITCodeLibrary):
    """The code of a kernel before it is optimised; an entry takes it in."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}

    def finalize(self) -> None:
        """End here: neither optimise the code nor make machine code of it."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Draft:
        """Take the place of the code generator for ``set_env``, which needs machine code."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Remember the environment for the entry."""
        self.environments[name] = environment

    def _get_module_for_linking(self) -> Any:
        """Return the code with all it calls, for a function that Numba itself compiles."""
        if self._shared_module is None:
            module = self._final_module.clone()
            _take_in(module, _called(self))
            for function in _defined(module):
                if function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module


class Whole(JITCodeLibrary):
    """The code of an entry and of all drafts that it calls, optimised once."""

    def finalize(self) -> None:
        """Take in all drafts, make machine code of the whole."""
        own = {function.name for function in _defined(self._final_module)}
        called = _called(self)
        _take_in(self._final_module, called)
        for library in called:
            self._reload_init.update(library._reload_init)
        for function in _defined(self._final_module):
            if function.name not in own:  # nobody else calls it, so what is not needed may go
                function.linkage = "internal"
                # An entry that is taken in is also there by itself, and LLVM finds functions by
                # their names, internal ones too. This one may have lost arguments by then.
                function.name = TAKEN_IN + function.name
        self._linking_libraries.clear()
        super().finalize()
        engine = self._codegen._engine
        for draft in _drafts(called):
            for name, environment in draft.environments.items():
                if engine.get_global_value_address(name):
                    self._codegen.set_env(name, environment)


def _called(library: Any) -> list[Any]:
    """Return the libraries that one needs, those of its drafts included."""
    found = dict.fromkeys(library._linking_libraries)
    waiting = _drafts(list(found))
    while waiting:
        new = [each for each in waiting.pop()._linking_libraries if each not in found]
        found.update(dict.fromkeys(new))
        waiting += _drafts(list(dict.fromkeys(new)))
    return list(found)


def _drafts(libraries: list[Any]) -> list[Draft]:
    return [library for library in libraries if isinstance(library, Draft)]


def _take_in(module: Any, libraries: list[Any]) -> None:
    # Drafts first and as they are: of other libraries only what is called by then is taken.
    drafts = _drafts(libraries)
    for draft in drafts:
        module.link_in(draft._final_module, preserve=True)
    for library in libraries:
        if library not in drafts:
            module.link_in(library._get_module_for_linking(), preserve=True)


def _defined(module: Any) -> list[Any]:
    return [function for function in module.functions if not function.is_declaration]


class _DraftCompiler(KernelCompiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _new(Draft, self.state, func)
        return super().compile_extra(func)


class _WholeCompiler(KernelCompiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _new(Whole, self.state, func)
        return super().compile_extra(func)


def _new(kind: Any, state: Any, function: Any) -> Any:
    library = kind(state.targetctx.codegen(), function.__qualname__)
    library.enable_object_caching()
    return library


class Kernel(CPUDispatcher):
    """A function for compiled code to call."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.options = {"nopython": True} | options
        super().__init__(
            function, targetoptions=self.options | NO_WAYS_IN, pipeline_class=_DraftCompiler
        )

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python, as tests do: it is compiled once more, with a way in."""
        return self._for_python(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile it for the types of a call, whole numbers being whole numbers.

        Numba would compile what is called with ``count = 0`` once for that 0 and once for any
        number, and once more for a number that comes from an array of shorter ones.
        """
        args = [_plain(each) for each in args]
        kws = {name: _plain(each) for name, each in dict(kws).items()}
        return super().get_call_template(args, kws)

    @functools.cached_property
    def _for_python(self) -> Any:
        options = dict(self.options)
        return CPUDispatcher(self.py_func, targetoptions=options, pipeline_class=_WholeCompiler)


def _plain(kind: Any) -> Any:
    kind = types.unliteral(kind)
    short = isinstance(kind, types.Integer) and kind.signed and kind.bitwidth < 64
    return types.int64 if short else kind


class Entry(CPUDispatcher):
    """A function for Python to call, compiled or loaded from disk when that is first needed.

    Parameters
    ----------
    function
        The function.
    signature
        The types that it is compiled for, and no others; None for those of its arguments.
    folder
        Where its machine code is kept; called when it is compiled. None to keep none.
    compiled
        Is told how many seconds it took, whenever it was not found on disk.
    begun
        Is called before that.
    options
        Numba's.
    """

    def __init__(
        self,
        function: Any,
        signature: Any,
        folder: Callable[[], Path | None],
        begun: Callable[[], None],
        compiled: Callable[[float], None],
        options: dict[str, Any],
    ) -> None:
        options = {"nopython": True, "nogil": True} | options
        super().__init__(function, targetoptions=options, pipeline_class=self._announcing)
        self.signature, self.folder, self.begun, self.compiled = signature, folder, begun, compiled
        self.placed = False

    def load(self) -> None:
        """Do nothing: either this has been done, or only a call tells the types."""

    def compile(self, sig: Any) -> Any:
        """Compile it for some types, or load that from disk."""
        if not self.placed:
            self.placed = True
            folder = self.folder()
            if folder is not None:
                _keep(self, folder)
        with global_compiler_lock, refreshing_once():
            return super().compile(sig)

    def typeof_pyval(self, val: Any) -> Any:
        """Return the type of an argument that was not met before.

        Under the lock, since Numba's table of types grows while another thread compiles its first
        function, and must not be read then. It also grows when a function is first passed to
        another, without any lock; so what is imported then is imported here from the start.
        """
        with global_compiler_lock:
            return super().typeof_pyval(val)

    def _announcing(self, *arguments: Any) -> Any:
        return _AnnouncingCompiler(self, *arguments)


class NotLoaded(Entry):
    """An entry with a signature, before it is compiled or loaded from disk; then it is an entry.

    Numba makes up its mind at the beginning of a call whether arguments must fit exactly, as they
    must while it may compile. A thread that then waits for another to load the entry would be
    refused what others are not. So nothing is called that is not loaded.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.loading = threading.Lock()

    def load(self) -> None:
        """Compile it for its signature, or load it from disk."""
        with self.loading:
            if isinstance(self, NotLoaded):
                self.compile(self.signature)
                self.disable_compile()
                self.__class__ = Entry  # type: ignore[assignment]

    def __call__(self, *arguments: Any) -> Any:
        """Load it, and call it."""
        self.load()
        return self(*arguments)  # as an entry


class _AnnouncingCompiler(_WholeCompiler):
    def __init__(self, entry: Entry, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.entry = entry

    def compile_extra(self, func: Any) -> Any:
        self.entry.begun()
        began = time.perf_counter()
        with fewer_collections(), quietly(), signatures.remembered():
            compiled = super().compile_extra(func)
        self.entry.compiled(time.perf_counter() - began)
        return compiled


def _keep(dispatcher: Any, folder: Path) -> None:
    """Let machine code be kept in a folder.

    Numba reads its settings here and never again for this function, so nobody else sees them.
    """
    with _one_at_a_time:
        before = config.CACHE_DIR, getattr(config, "CACHE_LOCATOR_CLASSES", "")
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), ""
        try:
            dispatcher.enable_caching()
        finally:
            config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
    _keep_what_is_needed(dispatcher._cache)


def _keep_what_is_needed(cache: Any) -> None:
    """Let a cache write what a process needs to call the code, and import no more to load it."""
    save, reduce = cache.save_overload, cache._impl.reduce

    def save_if_possible(*machine_code: Any) -> None:
        # A full disk costs the next process its time, not this one its work.
        with contextlib.suppress(OSError):
            save(*machine_code)

    def reduced(compiled: Any) -> Any:
        # To load an environment its module is imported, and most have no constant in them.
        *others, environments = reduce(compiled)
        return *others, tuple(each for each in environments if each.consts)

    def load_alone(signature: Any, context: Any) -> Any:
        # Numba would first import all that it is able to compile: 0.3 s.
        rtsys.initialize(context)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, context)

    cache.save_overload, cache._impl.reduce = save_if_possible, reduced
    cache.load_overload = load_alone

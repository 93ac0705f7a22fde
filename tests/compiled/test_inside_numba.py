"""A canary: which of Numba's inner parts a new version has changed, in one sentence each.

Where one of these fails, look at ``queuesmith/compiled`` (``inside_numba.py``, ``lowering.py``,
``passes.py``, ``shortcuts.py``) and raise the ceiling of numba in
``pyproject.toml`` only when it is mended.
"""

import inspect
from typing import Any

import numba
import pytest
from llvmlite.binding import ValueRef
from numba import int64
from numba.core import (
    analysis,
    base,
    caching,
    codegen,
    compiler,
    compiler_lock,
    dispatcher,
    errors,
    event,
    lowering,
    registry,
    targetconfig,
    typed_passes,
    types,
    untyped_passes,
)
from numba.core.datamodel import default_manager
from numba.core.runtime import nrt

from queuesmith.compiled import inside_numba, passes


def has(owner: Any, *names: str) -> list[str]:
    """Return the names that are missing."""
    return [name for name in names if not hasattr(owner, name)]


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def usual_passes() -> list[Any]:
    """Return what Numba does to a function of numbers, in its order."""
    context = registry.cpu_target
    made = compiler.Compiler(
        context.typing_context, context.target_context, None, (), None, compiler.Flags(), {}
    )
    return [each for each, _ in made.define_pipelines()[0].passes]


PARTS = {
    "the option _nrt, which switches reference counts off, is gone": lambda: (
        not numba.njit(_nrt=False)(lambda x: x).targetoptions["_nrt"]
        and int64 is numba.njit(int64(int64), _nrt=False)(lambda x: x).signatures[0][0]
    ),
    "the options that leave out ways in are gone or have another name": lambda: (
        not has(compiler.Flags(), *inside_numba.NO_WAYS_IN)
    ),
    "a library of code is no longer made, linked and finished by the same methods": lambda: (
        not has(
            codegen.JITCodeLibrary,
            "finalize",
            "get_pointer_to_function",
            "enable_object_caching",
            "_get_module_for_linking",
            "_raise_if_finalized",
            "_ensure_finalized",
            "codegen",
        )
        and parameters(codegen.CPUCodeLibrary.__init__) == ["self", "codegen", "name"]
    ),
    "a library of code no longer has the same fields": lambda: (
        not has(
            codegen.JITCodeLibrary(registry.cpu_target.target_context.codegen(), "canary"),
            "_final_module",
            "_linking_libraries",
            "_shared_module",
            "_reload_init",
            "_finalized",
        )
    ),
    "a function of LLVM can no longer be given another name": lambda: (
        ValueRef.name.fset is not None
    ),
    "environments are no longer set by the code generator": lambda: (
        parameters(codegen.JITCPUCodegen.set_env) == ["self", "env_name", "env"]
    ),
    "a compiler no longer begins with compile_extra(func)": lambda: (
        parameters(compiler.CompilerBase.compile_extra) == ["self", "func"]
    ),
    "what a built-in function makes of types is no longer asked of get_call_type": lambda: (
        parameters(types.BaseFunction.get_call_type) == ["self", "context", "args", "kws"]
        and not has(targetconfig.ConfigStack, "top_or_none")
    ),
    "a call of a compiled function is no longer typed by get_call_template": lambda: (
        parameters(dispatcher.Dispatcher.get_call_template) == ["self", "args", "kws"]
    ),
    "a dispatcher is made of other arguments": lambda: (
        parameters(registry.CPUDispatcher.__init__)
        == ["self", "py_func", "locals", "targetoptions", "pipeline_class"]
    ),
    "a dispatcher no longer asks _compile_for_args where no code fits": lambda: (
        not has(dispatcher.Dispatcher, "_compile_for_args", "disable_compile", "compile")
    ),
    "a dispatcher no longer asks typeof_pyval for the type of an argument": lambda: (
        parameters(dispatcher.Dispatcher.typeof_pyval) == ["self", "val"]
    ),
    "a call is no longer timed by install_timer, or messages are coloured otherwise": lambda: (
        parameters(event.install_timer) == ["kind", "callback"]
        and "install_timer" not in vars(dispatcher)
        and errors.termcolor() is errors.termcolor()
    ),
    "new functions are no longer looked for by a context's refresh, under one lock": lambda: (
        parameters(base.BaseContext.refresh) == ["self"]
        and not has(compiler_lock.global_compiler_lock, "__enter__", "__exit__")
    ),
    "an array is described by other fields": lambda: (
        default_manager[int64[::1]]._fields
        == ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
    ),
    "code is no longer written by the same methods": lambda: (
        not has(lowering.Lower, "_find_singly_assigned_variable", "_alloca_var", "getvar")
        and parameters(lowering.Lower.storevar) == ["self", "value", "name", "argidx"]
        and parameters(lowering.Lower.delvar) == ["self", "name"]
        and parameters(lowering.Lower.alloca_lltype) == ["self", "name", "lltype", "datamodel"]
        and parameters(lowering.Lower.lower_expr) == ["self", "resty", "expr"]
        and parameters(lowering.Lower.lower_inst) == ["self", "inst"]
        and parameters(lowering.Lower.lower_getitem)
        == ["self", "resty", "expr", "value", "index", "signature"]
        and parameters(lowering.Lower.lower_setitem)
        == ["self", "target_var", "index_var", "value_var", "signature"]
    ),
    "uses and definitions are no longer found by analysis": lambda: (
        analysis.compute_use_defs({})._fields == ("usemap", "defmap")
    ),
    "the passes that plain functions skip are no longer among the usual": lambda: (
        set(usual_passes()) > passes.FOR_OTHERS
        and usual_passes().count(untyped_passes.DeadBranchPrune) == 3
        and usual_passes().count(typed_passes.NativeLowering) == 1
    ),
    "a function's cache is no longer _cache with save_overload, or has other settings": lambda: (
        not has(caching.FunctionCache, "save_overload")
        and not has(numba.config, "CACHE_DIR")
        and "_cache" in numba.njit(lambda x: x).__dict__
    ),
    "kept code is no longer loaded by _load_overload, or its environments are not last": lambda: (
        parameters(caching.FunctionCache._load_overload) == ["self", "sig", "target_context"]
        and not has(caching.FunctionCache, "load_overload", "_guard_against_spurious_io_errors")
        and not has(caching.CompileResultCacheImpl, "reduce")
        and parameters(compiler.CompileResult._rebuild)[-1] == "referenced_envs"
        and not has(nrt.rtsys, "initialize")
    ),
}


@pytest.mark.parametrize("changed", PARTS)
def test_numba_is_inside_as_we_know_it(changed: str) -> None:
    assert PARTS[changed](), f"in Numba {numba.__version__} {changed}."

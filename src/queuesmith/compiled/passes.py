"""Which of Numba's passes kernels go through: those that find something to do.

After each pass Numba takes stock of the function anew, so a pass that looks for what is not there
costs more than its look.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass

from queuesmith.compiled.lowering import KernelLower

#: Passes for what a plain function has not: ``with``, closures, raised errors, unrolled tuples; and
#: those for functions that Numba copies into others, and for arrays that are computed as a whole.
FOR_OTHERS = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.NopythonRewrites,
}
#: What tells that a function is not plain: instructions of Python, and functions of Numba.
NOT_PLAIN = {"MAKE_FUNCTION", "RAISE_VARARGS", "BEFORE_WITH", "SETUP_WITH", "RERAISE"}
NOT_PLAIN_NAMES = {"literally", "literal_unroll"}


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.BaseNativeLowering):
    """The pass that writes a function's code for LLVM."""

    _name: Any = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """Return what writes it."""
        return KernelLower


class KernelCompiler(Compiler):
    """Numba's compiler with the passes of kernels, for code in which no references are counted."""

    def define_pipelines(self) -> Any:
        """Return the passes, in one list."""
        (passes,) = super().define_pipelines()
        if not self.state.flags.nrt:
            chosen = list(passes.passes)
            if is_plain(self.state.func_id.code):
                chosen = _for_plain(chosen)
            passes.passes = [
                (KernelLowering if each is typed_passes.NativeLowering else each, why)
                for each, why in chosen
            ]
            passes.finalize()
        return [passes]


def is_plain(code: CodeType) -> bool:
    """Tell whether a function is made of calls, loops and numbers alone."""
    names = NOT_PLAIN_NAMES.intersection(code.co_names)
    return not names and NOT_PLAIN.isdisjoint(each.opname for each in dis.get_instructions(code))


def _for_plain(passes: list[Any]) -> list[Any]:
    # Branches that are never taken are removed three times: once is enough where nothing was
    # copied in between.
    again = [i for i, (each, _) in enumerate(passes) if each is untyped_passes.DeadBranchPrune][1:]
    return [pair for i, pair in enumerate(passes) if i not in again and pair[0] not in FOR_OTHERS]

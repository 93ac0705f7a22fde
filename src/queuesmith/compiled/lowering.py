"""How kernels are written down for LLVM: as Numba does, in far fewer instructions.

Numba gives each variable that more than one block uses a place in memory, loads all of it at each
use, and fills it with zeros at its end, so that references are counted right. For a bundle of
arrays that is hundreds of numbers each time, which LLVM has to take apart again. Kernels that make
no arrays count no references; so here a variable that is assigned once, before all its uses, is a
plain value. And an element of an array is reached by its address alone, not by a copy of what
describes the array. What the code does is the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir as llvm
from numba.core import analysis, cgutils, ir, lowering, types

#: Where the address of the elements and the lengths are in what describes an array.
DATA, SHAPE = 4, 5
#: What arrays of kernels are made of.
SCALARS = (types.Integer, types.Float, types.Boolean)


class KernelLower(lowering.Lower):
    """Writes the code of a function in which no references are counted."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        if not self.func_ir.func_id.is_generator:
            self._singly_assigned_vars |= assigned_before_use(self.func_ir.blocks)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Remember a variable's value, or store it where it has a place in memory."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Do nothing at a variable's end: it holds no reference."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Give a variable its place; what a debugger would be told of it is left out."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Write an expression; elements at a constant place as those at any."""
        if expr.op == "static_getitem":
            if self._is_element(expr.value, expr.index_var):
                signature = self.fndesc.calltypes[expr]
                return self.lower_getitem(resty, expr, expr.value, expr.index_var, signature)
        elif expr.op == "getattr" and not isinstance(resty, types.BoundFunction):
            bundle = self.typeof(expr.value.name)
            if isinstance(bundle, types.BaseNamedTuple) and expr.attr in bundle.fields:
                place = bundle.fields.index(expr.attr)
                return self.builder.extract_value(self.loadvar(expr.value.name), place)
        elif expr.op == "call" and self._is_length(expr):
            length = self.builder.extract_value(self.loadvar(expr.args[0].name), [SHAPE, 0])
            return self.context.cast(self.builder, length, types.intp, resty)
        return super().lower_expr(resty, expr)

    def lower_inst(self, inst: Any) -> None:
        """Write a statement; elements at a constant place as those at any."""
        if isinstance(inst, ir.StaticSetItem) and self._is_element(inst.target, inst.index_var):
            signature = self.fndesc.calltypes[inst]
            self.lower_setitem(inst.target, inst.index_var, inst.value, signature)
        else:
            super().lower_inst(inst)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element by its address."""
        if not self._is_element(value, index):
            return super().lower_getitem(resty, expr, value, index, signature)
        kind = self.typeof(value.name).dtype
        found = self.context.unpack_value(self.builder, kind, self._address(value, index))
        return self.context.cast(self.builder, found, kind, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element by its address."""
        given = signature.args[2]
        if not self._is_element(target_var, index_var) or not isinstance(given, SCALARS):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind = self.typeof(target_var.name).dtype
        value = self.loadvar(value_var.name)
        for before, after in ((self.typeof(value_var.name), given), (given, kind)):
            value = self.context.cast(self.builder, value, before, after)
        self.context.pack_value(self.builder, kind, value, self._address(target_var, index_var))
        return None

    def _is_length(self, call: Any) -> bool:
        function = self.typeof(call.func.name)
        return (
            isinstance(function, types.Function)
            and function.typing_key is len
            and isinstance(self.typeof(call.args[0].name), types.Array)
        )

    def _is_element(self, value: Any, index: Any) -> bool:
        """Tell whether an array, row by row, and a whole number for each dimension are given."""
        if index is None:
            return False
        array, places = self.typeof(value.name), _kinds(self.typeof(index.name))
        return (
            isinstance(array, types.Array)
            and array.layout == "C"
            and array.aligned
            and isinstance(array.dtype, SCALARS)
            and len(places) == array.ndim
            and all(isinstance(kind, types.Integer) for kind in places)
            and not self.context.enable_boundscheck
        )

    def _address(self, value: Any, index: Any) -> Any:
        """Return where an element is; places below 0 are counted from the end, as Python does."""
        build, array, given = self.builder, self.loadvar(value.name), self.loadvar(index.name)
        kind = self.typeof(index.name)
        several = isinstance(kind, types.BaseTuple)
        flat = None
        for axis, each in enumerate(_kinds(kind)):
            length = build.extract_value(array, [SHAPE, axis])
            place = build.extract_value(given, axis) if several else given
            place = self._from_the_start(place, each, length)
            flat = place if flat is None else build.add(build.mul(flat, length), place)
        return build.gep(build.extract_value(array, DATA), [flat])

    def _from_the_start(self, place: Any, kind: Any, length: Any) -> Any:
        build = self.builder
        if not kind.signed:
            return self.context.cast(build, place, kind, types.uintp)
        place = self.context.cast(build, place, kind, types.intp)
        if isinstance(place, llvm.Constant) and place.constant >= 0:
            return place
        below = build.icmp_signed("<", place, place.type(0))
        return build.select(below, build.add(place, length), place)


def _kinds(index: Any) -> list[Any]:
    return list(index.types) if isinstance(index, types.BaseTuple) else [index]


def assigned_before_use(blocks: Any) -> set[str]:
    """Return the variables that one statement assigns, on every way to whatever uses them."""
    graph = analysis.compute_cfg_from_blocks(blocks)
    dominators = graph.dominators()
    assigned = [
        (statement.target.name, place)
        for place, block in blocks.items()
        for statement in block.find_insts(ir.Assign)
    ]
    times = Counter(name for name, _ in assigned)
    home = {name: place for name, place in assigned if times[name] == 1}
    for place, names in analysis.compute_use_defs(blocks).usemap.items():
        for name in names & home.keys():
            # Blocks are written in the order of their places: a value must be there before its use.
            if home[name] >= place or home[name] not in dominators[place]:
                del home[name]
    return set(home)

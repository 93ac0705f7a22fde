"""Python text as a tree, from any number of threads."""

from __future__ import annotations

import ast
import threading
from typing import Literal, overload

#: Python 3.11 counts the depth of all trees that are being made in one place: two at once may fail
#: with "AST constructor recursion depth mismatch".
_one_at_a_time = threading.Lock()


@overload
def parse(text: str | bytes) -> ast.Module: ...
@overload
def parse(text: str | bytes, mode: Literal["eval"]) -> ast.Expression: ...
def parse(text: str | bytes, mode: str = "exec") -> ast.AST:
    """Return the tree of a text, as ``ast.parse`` does, but safe where threads do so at once."""
    with _one_at_a_time:
        return ast.parse(text, mode=mode)

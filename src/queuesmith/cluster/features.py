"""Which nodes have what a job's ``--constraint`` asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ClusterError

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

Mask = NDArray[np.bool_]

_TOKEN = re.compile(r"\s*([&|,()\[\]]|\*[0-9]+|[^&|,()\[\]*\s]+)")


def nodes_with(machine: NodeCluster, constraint: str) -> Mask:
    """Return which nodes have the features that a constraint asks for.

    ``a&b`` asks for both, ``a|b`` for one of them, from left to right; brackets group. Of
    ``a*2&b*4`` and ``[a|b]``, which ask for different features of different nodes or for the
    same of all, every node is returned that can be one of them.

    >>> from queuesmith.cluster import NodeCluster, NodeKind
    >>> kinds = (NodeKind("n[1-2]", 8, features=("ib",)), NodeKind("g1", 8, features=("ib", "gpu")))
    >>> nodes_with(NodeCluster(kinds), "ib&gpu").tolist()
    [False, False, True]
    """
    tokens = _TOKEN.findall(constraint)
    if "".join(tokens) != re.sub(r"\s", "", constraint):
        raise _wrong(constraint)
    if any(token.startswith("*") for token in tokens):
        tokens = ["|" if t == "&" else t for t in tokens if not t.startswith("*")]
    mask, rest = _expression(tokens, machine, constraint)
    if rest:
        raise _wrong(constraint)
    return mask


def _expression(tokens: list[str], machine: NodeCluster, text: str) -> tuple[Mask, list[str]]:
    mask, tokens = _term(tokens, machine, text)
    while tokens and tokens[0] in "&|,":
        operator, (other, tokens) = tokens[0], _term(tokens[1:], machine, text)
        mask = mask | other if operator == "|" else mask & other
    return mask, tokens


def _term(tokens: list[str], machine: NodeCluster, text: str) -> tuple[Mask, list[str]]:
    if not tokens or tokens[0] in "&|,)]":
        raise _wrong(text)
    if tokens[0] in "([":
        mask, rest = _expression(tokens[1:], machine, text)
        if not rest or rest[0] not in ")]":
            raise _wrong(text)
        return mask, rest[1:]
    name = tokens[0]
    negated = name.startswith("!")
    has = [name.removeprefix("!") in kind.features for kind in machine.kinds]
    mask = np.repeat(np.array(has, np.bool_), [len(kind.nodes) for kind in machine.kinds])
    return (~mask if negated else mask), tokens[1:]


def _wrong(text: str) -> ClusterError:
    return ClusterError(
        f"the constraint '{text}' cannot be read, but features are joined by & or |, with brackets "
        "around groups. Write it as ib&(skylake|rome)."
    )

"""Sets of nodes: bits in whole numbers, 64 nodes each."""

import numpy as np

from queuesmith.compiled import kernel

#: How many nodes a number holds, as a power of two.
SHIFT = 6
MASK = 63
#: The number with one bit alone, by its place: the last is below zero.
BIT = np.left_shift(np.int64(1), np.arange(64))
#: Half of the bits of a number.
HALF, LOW_HALF = 32, 0xFFFFFFFF
#: A number in which every run of five bits occurs once, and the place of the run at each shift.
DE_BRUIJN = 0x077CB531
PLACES = np.zeros(32, np.int64)
PLACES[[(DE_BRUIJN << place >> 27) & 31 for place in range(32)]] = np.arange(32)


@kernel
def lowest(bits):
    """Return the place of the lowest bit that is set, of which there is one at least."""
    low = bits & LOW_HALF
    half = low if low else (bits >> HALF) & LOW_HALF
    place = PLACES[((half & -half) * DE_BRUIJN >> 27) & 31]
    return place if low else place + HALF


@kernel
def has(nodes, node):
    """Tell whether a node belongs to a set."""
    return (nodes[node >> SHIFT] >> (node & MASK)) & 1 == 1


@kernel
def put(nodes, node):
    """Add a node to a set."""
    nodes[node >> SHIFT] |= BIT[node & MASK]


@kernel
def remove(nodes, node):
    """Take a node from a set."""
    nodes[node >> SHIFT] &= ~BIT[node & MASK]


@kernel
def keep_common(nodes, others):
    """Leave in a set what is in another, too; tell whether anything is left."""
    left = 0
    for i in range(len(nodes)):
        nodes[i] &= others[i]
        left |= nodes[i]
    return left != 0


@kernel
def remove_all(nodes, others):
    """Take from a set what is in another."""
    for i in range(len(nodes)):
        nodes[i] &= ~others[i]


@kernel
def add_all(nodes, others):
    """Add to a set what is in another."""
    for i in range(len(nodes)):
        nodes[i] |= others[i]


@kernel
def contains(nodes, others):
    """Tell whether a set has all nodes of another."""
    missing = 0
    for i in range(len(nodes)):
        missing |= others[i] & ~nodes[i]
    return missing == 0


@kernel
def at_least(nodes, count):
    """Tell whether a set has so many nodes or more."""
    for i in range(len(nodes)):
        bits = nodes[i]
        while bits and count > 0:
            bits &= bits - 1
            count -= 1
        if count <= 0:
            return True
    return count <= 0

"""Sets of nodes: bits in whole numbers, 32 nodes each."""

from queuesmith.compiled import kernel

#: How many nodes a number holds, as a power of two.
SHIFT = 5
MASK = 31


@kernel
def has(nodes, node):
    """Tell whether a node belongs to a set."""
    return (nodes[node >> SHIFT] >> (node & MASK)) & 1 == 1


@kernel
def put(nodes, node):
    """Add a node to a set."""
    nodes[node >> SHIFT] |= 1 << (node & MASK)


@kernel
def remove(nodes, node):
    """Take a node from a set."""
    nodes[node >> SHIFT] &= ~(1 << (node & MASK))


@kernel
def keep_common(nodes, others):
    """Leave in a set what is in another, too."""
    for i in range(len(nodes)):
        nodes[i] &= others[i]


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

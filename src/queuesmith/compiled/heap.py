"""A binary heap over arrays: the least key is at place 0.

What a heap is made of its owner knows. Two kernels of the owner's tell ``key_at(heap, place)`` and
``move(heap, goal, source)`` what stands at one place to another. Who enters is written into the
hole that ``rise`` or ``sink`` returns. They are compiled for each owner, as if written there.
"""

from queuesmith.compiled.decorators import kernel


@kernel
def rise(heap, hole, key, key_at, move):
    """Return where a key belongs that enters at a hole or above it; who stands there moves down."""
    while hole > 0:
        above = (hole - 1) >> 1
        if key_at(heap, above) <= key:
            break
        move(heap, hole, above)
        hole = above
    return hole


@kernel
def sink(heap, hole, size, key, key_at, move):
    """Return where a key belongs that enters at a hole or below it; who stands there moves up."""
    below = 2 * hole + 1
    while below < size:
        if below + 1 < size and key_at(heap, below + 1) < key_at(heap, below):
            below += 1
        if key_at(heap, below) >= key:
            break
        move(heap, hole, below)
        hole = below
        below = 2 * hole + 1
    return hole

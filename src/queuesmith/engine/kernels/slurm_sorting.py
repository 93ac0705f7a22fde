"""Sorting for kernels, which make no arrays of their own."""

from queuesmith.compiled import kernel


@kernel
def sort(items, spare, size, before, context):
    """Sort the first items so that none comes before the one on its left; equals keep their order.

    Parts that are in order already are passed over. Tells whether anything was out of order.
    """
    width, moved = 1, False
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            if middle < high and before(context, items[middle], items[middle - 1]):
                _merge(items, spare, low, middle, high, before, context)
                moved = True
        width *= 2
    return moved


@kernel
def _merge(items, spare, low, middle, high, before, context):
    left, right = low, middle
    for place in range(low, high):
        if left < middle and (right == high or not before(context, items[right], items[left])):
            spare[place] = items[left]
            left += 1
        else:
            spare[place] = items[right]
            right += 1
    for place in range(low, high):
        items[place] = spare[place]

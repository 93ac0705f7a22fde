"""Who runs, by the end one must expect: a sorted list, and the reservation that follows from it.

``running.due[:count]`` are the instants by which walltimes end, ``running.due_cores`` the cores.
"""

import numpy as np

from queuesmith.compiled.decorators import kernel


@kernel
def insert_due(running, count, due, cores):
    """Add one to the list, kept sorted; return how many there are now."""
    i = count
    while i > 0 and running.due[i - 1] > due:
        running.due[i] = running.due[i - 1]
        running.due_cores[i] = running.due_cores[i - 1]
        i -= 1
    running.due[i] = due
    running.due_cores[i] = cores
    return count + 1


@kernel
def remove_due(running, count, due, cores):
    """Take one from the list; return how many are left.

    Those alike in end and cores are one as good as another.
    """
    i = np.searchsorted(running.due[:count], due)
    while running.due_cores[i] != cores:
        i += 1
    last = count - 1
    while i < last:
        running.due[i] = running.due[i + 1]
        running.due_cores[i] = running.due_cores[i + 1]
        i += 1
    return last


@kernel
def reserve(running, count, free, cores):
    """Return when so many cores will be free, and how many more are free at that instant."""
    i = 0
    while free < cores:
        free += running.due_cores[i]
        i += 1
    shadow = running.due[i - 1]
    while i < count and running.due[i] == shadow:
        free += running.due_cores[i]
        i += 1
    return shadow, free - cores

"""What nothing beats."""

from numba import void

from queuesmith.compiled import entry
from queuesmith.compiled.arrays import INTS, REAL_TABLE


@entry(void(REAL_TABLE, INTS))
def find_front(costs, front):
    """Mark the rows that no other row equals or beats in every column; rows are sorted.

    A row that beats another stands before it, and whatever beats a row is itself on the front or
    beaten by one that is: so each row need only be compared with the front so far.
    ``front[:size]`` are the rows found, ``front[-1]`` is the size.
    """
    size = 0
    for i in range(len(costs)):
        beaten = False
        for k in range(size):
            beaten = True
            for c in range(costs.shape[1]):
                if costs[front[k], c] > costs[i, c]:
                    beaten = False
                    break
            if beaten:
                break
        if not beaten:
            front[size] = i
            size += 1
    front[-1] = size

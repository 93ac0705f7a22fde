"""The types of the arrays that compiled code takes, and how one is copied."""

from numba import boolean, float64, int32, int64, types, uint64

from queuesmith.compiled.decorators import kernel

#: Arrays that are written to: of whole numbers, of small ones, of reals, of 64 bits, of truths.
INTS, SMALL_INTS, REALS = int64[::1], int32[::1], float64[::1]
BITS, TRUTHS = uint64[::1], boolean[::1]
#: Tables, row by row.
INT_TABLE, SMALL_TABLE, REAL_TABLE = int64[:, ::1], int32[:, ::1], float64[:, ::1]
TRUTH_TABLE = boolean[:, ::1]
#: The same where they are only read.
FROZEN_INTS = types.Array(int64, 1, "C", readonly=True)
FROZEN_SMALL_INTS = types.Array(int32, 1, "C", readonly=True)
FROZEN_REALS = types.Array(float64, 1, "C", readonly=True)
FROZEN_INT_TABLE = types.Array(int64, 2, "C", readonly=True)
FROZEN_SMALL_TABLE = types.Array(int32, 2, "C", readonly=True)
FROZEN_REAL_TABLE = types.Array(float64, 2, "C", readonly=True)


@kernel
def copy(goal, source):
    """Copy an array, or a row of one, into another of its length."""
    for i in range(len(goal)):
        goal[i] = source[i]

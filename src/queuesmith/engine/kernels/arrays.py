"""The types of the arrays that kernels take, by what they hold."""

from numba import float64, int32, int64, types

#: Arrays that kernels read and write.
INTS, SMALL, REALS = int64[::1], int32[::1], float64[::1]
#: Arrays that they only read: of jobs, of factors and parameters, of ranks, of weights.
COLUMN = types.Array(int64, 1, "C", readonly=True)
SMALL_COLUMN = types.Array(int32, 1, "C", readonly=True)
FACTOR = types.Array(float64, 1, "C", readonly=True)
RANKS = types.Array(int64, 2, "C", readonly=True)
TABLE = types.Array(float64, 2, "C", readonly=True)

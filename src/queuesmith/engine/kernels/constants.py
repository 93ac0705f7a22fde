"""The numbers that all kernels of the engine agree on."""

import numpy as np

NONE, LIST, EASY, CONSERVATIVE, PLAN = range(5)

# Places in the array of counters.
FREE, TAIL, ENDING, DUE, ARRIVED, STARTED, STEPS, BLOCKS, NEXT_START = range(9)
CANCEL, BAD_JOB, BAD_TIME, WAITING, ENDED, OLDEST_ENDED, DECISIONS, ACTIVE, BOOKED = range(9, 18)
RELEASED, WORK, MOST_WORK, DEPTH, NARROWEST, IN_BLOCKS, TOO_LONG = range(18, 25)
COUNTERS = 25

NEVER = np.iinfo(np.int64).max
NOBODY = -1
TOO_WIDE = np.iinfo(np.int32).max  # wider than any machine

"""Everybody's fair-share as it was over a history of jobs that have run."""

from numba import void

from queuesmith.compiled import entry
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_REAL_TABLE,
    FROZEN_REALS,
    INTS,
    REAL_TABLE,
    copy,
)
from queuesmith.engine.kernels.slurm_priority import add_fresh, note_use, share_out
from queuesmith.engine.kernels.slurm_state import CALC_PERIOD, DECAY, FAIR_TREE, SHARES_TYPE


@entry(
    void(
        *(SHARES_TYPE, FROZEN_INTS, FROZEN_REALS, FROZEN_INT_TABLE, FROZEN_REAL_TABLE),
        *(INTS, INTS, INTS, REAL_TABLE),
    )
)
def follow_usage(shares, knobs, weights, jobs, worth, start, end, spare, factors):
    """Fill in the factor of everybody at each calculation of priorities, from the first on.

    Jobs stand in the order of their starts; ``spare`` has room for all of them.
    """
    first, period = start[0], knobs[CALC_PERIOD]
    begun, held = 0, 0
    share_out(shares, knobs, weights)
    copy(factors[0], shares.factor)
    for row in range(1, len(factors)):
        now, last = first + row * period, first + (row - 1) * period
        while begun < len(start) and start[begun] < now:
            spare[held] = begun
            held += 1
            begun += 1
        for i in range(len(shares.usage)):
            shares.usage[i] *= weights[DECAY] ** period
        if not knobs[FAIR_TREE]:
            share_out(shares, knobs, weights)
        left = 0
        for i in range(held):
            job = spare[i]
            until = min(end[job], now)
            note_use(jobs, worth, shares.fresh, weights, last, job, start[job], until)
            if end[job] > now:
                spare[left] = job
                left += 1
        held = left
        add_fresh(shares)
        if knobs[FAIR_TREE]:
            share_out(shares, knobs, weights)
        copy(factors[row], shares.factor)

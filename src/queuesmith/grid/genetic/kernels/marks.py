"""Rows of bits that tell which jobs a machine has.

The order of all jobs on each machine, by their time there, is known beforehand. So nothing is
sorted: those that are there are marked in a row of bits, which is read from the shortest job up.
"""

import numpy as np

from queuesmith.compiled import kernel

# Bits in a word of marks, and which of them a power of two is: 2 is a primitive root modulo 37.
WORD_BITS = 32
BIT_OF = np.zeros(37, np.int64)
for _bit in range(WORD_BITS):
    BIT_OF[2**_bit % 37] = _bit


@kernel
def mark_jobs(problem, genes, work, everything):
    """Mark the jobs of the machines named in ``work.counts[1]``, or of all, by their ranks."""
    changed = work.counts[1]
    for job in range(len(genes)):
        machine = genes[job]
        if everything or changed[machine] != 0:
            rank = problem.rank[job, machine]
            work.marks[machine, rank // WORD_BITS] |= 1 << (rank % WORD_BITS)

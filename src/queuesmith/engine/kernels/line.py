"""Jobs that wait in a fixed order: the line, and several lines at once."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from queuesmith.compiled import kernel
from queuesmith.compiled.arrays import (
    FROZEN_INT_TABLE,
    FROZEN_INTS,
    FROZEN_SMALL_INTS,
    FROZEN_SMALL_TABLE,
    INT_TABLE,
    INTS,
    SMALL_INTS,
    SMALL_TABLE,
)
from queuesmith.engine.kernels.constants import NEVER, NOBODY, TOO_WIDE


class Line(NamedTuple):
    """Waiting jobs in a fixed order: a tree over all ranks, of the least cores and walltime below.

    Node 1 is the root, nodes 2i and 2i + 1 are below node i, the leaves are the ranks. It answers
    "who is the next in line that may start now?" in a few steps, however long the line is. A job
    that must leave cores free counts with these, as far as the machine has them.
    """

    cores: Any
    walltime: Any
    job: Any  # by rank
    keep: Any  # four numbers, see below


# Places in the array of what is kept free, in a line whose favoured ranks come first: how many
# these are, the cores that all others must leave free, the cores of the machine, and the seconds
# for which others are patient. Where their patience ends, every job has a rank among the favoured,
# and others have, as many ranks behind it, the one at which they wait while they are patient.
FAVOURED, KEPT, MACHINE, PATIENCE = range(4)


class Lines(NamedTuple):
    """Waiting jobs in several fixed orders at once: row k of each array is line k."""

    cores: Any
    walltime: Any
    job: Any
    rank: Any  # each job's place in each line
    keep: Any


LINE_TYPE = types.NamedTuple([SMALL_INTS, INTS, FROZEN_SMALL_INTS, FROZEN_INTS], Line)
LINES_TYPE = types.NamedTuple(
    [SMALL_TABLE, INT_TABLE, FROZEN_SMALL_TABLE, FROZEN_INT_TABLE, FROZEN_INT_TABLE], Lines
)


@kernel
def room_for_start(line, rank, cores):
    """Return how many cores must be free for a job with that rank to start."""
    if rank < line.keep[FAVOURED]:
        return cores
    return min(cores + line.keep[KEPT], line.keep[MACHINE])


@kernel
def join_line(jobs, line, rank, job):
    """Let a job wait at a rank."""
    node = len(line.job) + rank
    cores = room_for_start(line, rank, jobs.cores[job])
    walltime = jobs.walltime[job]
    while node > 0 and (cores < line.cores[node] or walltime < line.walltime[node]):
        line.cores[node] = min(cores, line.cores[node])
        line.walltime[node] = min(walltime, line.walltime[node])
        node >>= 1


@kernel
def leave_line(line, rank):
    """Let nobody wait at a rank any more."""
    node = len(line.job) + rank
    line.cores[node] = TOO_WIDE
    line.walltime[node] = NEVER
    node >>= 1
    while node > 0:
        cores = min(line.cores[2 * node], line.cores[2 * node + 1])
        walltime = min(line.walltime[2 * node], line.walltime[2 * node + 1])
        if cores == line.cores[node] and walltime == line.walltime[node]:
            break
        line.cores[node] = cores
        line.walltime[node] = walltime
        node >>= 1


@kernel
def leave_wherever(line, rank):
    """Let nobody wait at a rank any more, nor where its job waits when its patience is over."""
    leave_line(line, rank)
    if line.keep[PATIENCE] != NEVER and rank >= line.keep[FAVOURED]:
        leave_line(line, rank - line.keep[FAVOURED])


@kernel
def pass_if_impatient(jobs, line, rank, job, now):
    """Let a job that waits at a rank wait among the favoured if its patience is over; tells
    whether it does.
    """
    favoured = line.keep[FAVOURED]
    if rank < favoured or now - jobs.submit[job] <= line.keep[PATIENCE]:
        return False
    if line.cores[len(line.job) + rank] == TOO_WIDE:
        return False
    leave_line(line, rank)
    join_line(jobs, line, rank - favoured, job)
    return True


@kernel
def let_impatient_pass(jobs, line, rank, oldest, now):
    """Let all whose patience is over wait among the favoured. Of jobs before the oldest that is
    known already. Returns the oldest by now, and whether anybody has moved.
    """
    moved, patience = False, line.keep[PATIENCE]
    while oldest < len(jobs.submit) and now - jobs.submit[oldest] > patience:
        moved |= pass_if_impatient(jobs, line, rank[oldest], oldest, now)
        oldest += 1
    return oldest, moved


@kernel
def next_in_line(line, rank, most, longest, extra):
    """Return the first rank from ``rank`` on whose job needs at most so many cores, and is short
    enough or needs no more than the extra cores; NOBODY where there is none.
    """
    leaves = len(line.job)
    if rank >= leaves:
        return NOBODY
    node = leaves + rank
    while node > 0:
        cores = line.cores[node]
        if cores <= most and (line.walltime[node] <= longest or cores <= extra):
            if node >= leaves:
                return node - leaves
            node *= 2
        else:
            # On to the next subtree to the right: up as long as this is a right child.
            while node & 1:
                node >>= 1
            if node > 0:
                node += 1
    return NOBODY


@kernel
def line_of(lines, k):
    """Return one of several lines."""
    return Line(lines.cores[k], lines.walltime[k], lines.job[k], lines.keep[k])


@kernel
def some_line_keeps(lines):
    """Tell whether cores are kept free in any of the lines."""
    for k in range(len(lines.keep)):  # noqa: SIM110 (compiled)
        if lines.keep[k, KEPT] > 0:
            return True
    return False


def nothing_kept(lines: int) -> Any:
    """Return what is kept free in lines that keep nothing free: a row a line."""
    keep = np.tile(np.array([0, 0, TOO_WIDE - 1, NEVER], np.int64), (lines, 1))
    keep.setflags(write=False)
    return keep


def jobs_by_rank(ranks: Any) -> Any:
    """Return who stands at each place of lines, given each job's place in each."""
    count, jobs = ranks.shape
    places = 1 + int(ranks.max(initial=-1))
    job = np.zeros((count, 1 << max(places - 1, 0).bit_length()), np.int32)
    numbers = np.arange(jobs, dtype=np.int32)[np.newaxis]
    np.put_along_axis(job, ranks, numbers, axis=1)
    if places > jobs:  # where patience ends, a job's place among the favoured is so far before
        np.put_along_axis(job, ranks % jobs, numbers, axis=1)
    job.setflags(write=False)
    return job


def new_lines(ranks: Any, keep: Any, job: Any = None) -> Lines:
    """Return lines in which nobody waits; each row of ranks has every job's place in one.

    ``job`` is who stands at each place, where that is known already.
    """
    job = jobs_by_rank(ranks) if job is None else job
    count, leaves = job.shape
    return Lines(
        cores=np.full((count, 2 * leaves), TOO_WIDE, np.int32),
        walltime=np.full((count, 2 * leaves), NEVER, np.int64),
        job=job,
        rank=ranks,
        keep=keep,
    )

"""How much was held, and how many waited, over time: by node, by user, by partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from queuesmith.workload.workload import Ints


class Levels(NamedTuple):
    """From each instant on, up to the next of the same line, what is held and how many wait.

    Attributes
    ----------
    line
        Which node, user or partition; the lines stand one after the other.
    time, lasts
        When it begins, and for how many seconds it stays so; 0 at the end of a line.
    held, waiting
        The amount that running jobs hold, and the number of jobs that wait.
    """

    line: Ints
    time: Ints
    lasts: Ints
    held: Ints
    waiting: Ints


def levels(line: Ints, submit: Ints, start: Ints, end: Ints, amount: Ints) -> Levels:
    """Return what is held and waits over time, line by line.

    Parameters
    ----------
    line
        The line of each job, or of each part of one.
    submit, start, end
        When it arrives, begins and ends. At one instant ends come first.
    amount
        How much it holds while it runs.
    """
    nothing, one = np.zeros_like(amount), np.ones_like(amount)
    time = np.concatenate([end, submit, start])
    lines = np.tile(line, 3)
    held = np.concatenate([-amount, nothing, amount])
    waiting = np.concatenate([nothing, one, -one])
    order = np.lexsort((time, lines))
    lines, time = lines[order], time[order]
    # All that happens at one instant is one change; of no jobs there is none.
    last = np.append((np.diff(lines) != 0) | (np.diff(time) != 0), True)[: len(lines)]
    count = np.count_nonzero(last)
    same_line = np.append(np.diff(lines[last]) == 0, False)[:count]
    lasts = np.where(same_line, np.append(np.diff(time[last]), 0)[:count], 0)
    return Levels(
        line=lines[last],
        time=time[last],
        lasts=lasts,
        held=np.cumsum(held[order])[last],
        waiting=np.cumsum(waiting[order])[last],
    )


def peaks(found: Levels, count: int) -> Ints:
    """Return the most that each of ``count`` lines ever held."""
    most = np.zeros(count, np.int64)
    np.maximum.at(most, found.line, found.held)
    return most

"""The compiled replay: plain numbers in, start times out.

The order of events at one instant is::

    (completions, arrivals, one scheduling pass)

Jobs are known by their position: jobs stand in the order of submission, then id, which is also the
order of jobs with equal scores.

Imports point one way through the files::

    constants                     what all agree on
    usage, line, queue, running, plan
                                  the parts of a replay
    replay                        the whole, and its events
    passes                        one pass, for each kind of backfill
    ordered                       the loop under one order, and its ways in
    pool, rules                   what policies that choose are made of
    ruled, tuning                 their loops, and their ways in

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

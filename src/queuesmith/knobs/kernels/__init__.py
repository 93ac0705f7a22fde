"""The compiled replay of bags of tasks under the priority of equation 1, and the sweep over knobs.

A job is a bag of tasks of equal width and duration. A rigid job is a bag of one wide task, so one
loop replays both: with rigid jobs alone it is the list scheduler of the engine (or EASY, or none).

The order of events at one instant is::

    (completions, arrivals, one scheduling pass)

Imports point one way: ``replay``, ``events``, ``passes``, ``runs``.
``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

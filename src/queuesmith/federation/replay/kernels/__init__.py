"""The compiled replay of a federation: plain numbers in, starts, ends and nodes out.

**A replay** is made of ``site``, ``line``, ``running`` and ``allocation``; the ways in are in
``heuristic`` and ``planned``. The order of events at one instant is::

    (completions, arrivals, one scheduling pass, new rates)

Events happen at whole seconds; what a job has still to do is kept as a fraction. Equations are
those of Blanco et al., MIP Model Scheduling for Multi-Clusters.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

"""The compiled parts of federations: plain numbers in, starts, ends and nodes out.

**A replay** is made of ``site``, ``line``, ``running`` and ``allocation``; the ways in are in
``heuristic`` and ``planned``. The order of events at one instant is::

    (completions, arrivals, one scheduling pass, new rates)

Events happen at whole seconds; what a job has still to do is kept as a fraction. Equations are
those of Blanco et al., MIP Model Scheduling for Multi-Clusters.

**A plan** follows from an order and a mode for each job (``plans``), over which one can anneal
(``annealing``). Or one searches by prices: give every job a price. A mode then earns its job's
price over its duration, each second it runs. What the waiting jobs can earn at most on some free
nodes is a small knapsack (``earning``), tabulated over all ``states``: how many nodes of each group
are free. A plan is built job by job, by starts, so that after the last start nodes only become
free, and the rest takes at least until the free nodes, at their best rates, have earned the prices
of all jobs that wait (``steps``). That bound guides a ``beam`` to good plans, and cuts a ``tree``
of all plans down to a proof.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

"""The compiled parts of optimal planning: plain numbers in, start times and bounds out.

Times are whole seconds from the instant of planning. ``NUMBA_DISABLE_JIT=1`` runs the same code as
plain Python.

Three things are here:

- *placing*: jobs in some order, each as early as it fits on the staircase of free cores;
- *annealing* over such orders;
- *bounds*: every core-second has a price, constant between two instants of a grid. Given prices,
  each job takes the cheapest start for itself alone; the sum of these costs, less the price of all
  there is, is never above the cost of any schedule (``pricing``). The minimum of a job is at an
  instant of the grid, or where it ends at one, so that nothing is rounded: the bound holds to the
  second on any grid. Prices rise where jobs want more than there is (``ascent``). ``branching``
  narrows the ``windows`` in which jobs may start, and the least bound of all open branches is
  proven.
"""

"""The compiled parts of grids: plain numbers in, the machine of each job out.

**Heuristics** fill a mapping by a rule: ``filling``, and with ``shortlists`` of machines.

**Genetic schedulers** have a chromosome in the direct encoding of Carretero, Xhafa and Abraham
(section 3.1): the machine of each job. What it is worth (``value``) is kept up to date from move to
move, or read from rows of bits (``marks``). Imports point one way through the files::

    problem                       the instance, individuals, and room to work in
    marks, value                  what an individual is worth
    operators                     what kinds of operators there are
    starting                      first populations
    crossover, permutation        of the direct and of the permutation encoding
    mutation, rebalancing         small changes, blind or not
    improving                     local search
    selection                     who becomes a parent
    survival                      who lives on
    generations                   the whole, and its way in

**Searches** are guided by ``prices`` of machines. For short makespans, jobs of two machines are
divided anew (``dividing``) in a long ``walk``; for makespan and flowtime together, ``both``, single
jobs move. These share their ``ground``. On many machines jobs move along the cheap ``columns``.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

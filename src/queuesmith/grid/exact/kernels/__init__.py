"""The compiled searches of mappings: plain numbers in, the machine of each job out.

Searches are guided by ``prices`` of machines. For short makespans, jobs of two machines are
divided anew (``dividing``) in a long ``walk``; for makespan and flowtime together, ``both``, single
jobs move. Both know ``priced`` times. On many machines jobs move along the cheap ``columns``.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

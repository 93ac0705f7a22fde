"""The compiled rules: plain numbers in, the machine of each job out.

A mapping is filled job by job (``filling``), or with ``shortlists`` of machines.
"""

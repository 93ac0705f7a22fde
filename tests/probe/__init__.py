"""What a hostile or unlucky world does to the product: damaged files, kills, full disks, bad names.

A short round with fixed seeds is part of the tests; ``make probe`` is the long one. Both count what
they tried. A traceback, a changed answer or a lost result is a fault, never a success.
"""

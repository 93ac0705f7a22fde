"""The slow, obvious twin of the engine.

It ships with the product as ``queuesmith.testing``, because ``check_policy`` takes users'
own orders through it; the tests import it from here.
"""

from queuesmith.testing import simulate_slowly

__all__ = ["simulate_slowly"]

"""Random numbers for compiled code: Marsaglia's xorshift64, whose state is an array of one."""

from numba import float64, uint64

from queuesmith.compiled.decorators import kernel


@kernel
def mixed(bits):
    """Return 64 bits that depend on all of the given ones."""
    bits ^= bits << uint64(13)
    bits ^= bits >> uint64(7)
    return bits ^ bits << uint64(17)


@kernel
def next_random(seed):
    """Return the next 64 random bits."""
    seed[0] = mixed(seed[0])
    return seed[0]


@kernel
def uniform(seed):
    """Return a random number from 0 up to 1."""
    return float64(next_random(seed) >> uint64(11)) * 1.1102230246251565e-16


@kernel
def below(seed, count):
    """Return a random whole number from 0 up to, not including, the count."""
    return int(uniform(seed) * count)

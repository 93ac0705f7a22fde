"""The states of the free nodes: how many nodes of each group are free."""

from typing import Any, NamedTuple

from numba import types, void

from queuesmith.compiled import entry, kernel
from queuesmith.compiled.arrays import INTS, TRUTH_TABLE
from queuesmith.federation.exact.kernels.plans import MODES_TYPE


class States(NamedTuple):
    """The states of the free nodes: mixed radix numbers, one digit a group."""

    fits: Any  # modes x states
    offset: Any  # what each mode takes off a state


STATES_TYPE = types.NamedTuple([TRUTH_TABLE, INTS], States)


@entry(void(MODES_TYPE, STATES_TYPE))
def fill_states(modes, states):
    """Tabulate which modes fit which states, and what they take off them."""
    for mode in range(len(modes.duration)):
        base, offset = 1, 0
        for group in range(len(modes.nodes)):
            offset += modes.counts[mode, group] * base
            base *= modes.nodes[group] + 1
        states.offset[mode] = offset
        for state in range(base):
            rest, fits = state, True
            for group in range(len(modes.nodes)):
                size = modes.nodes[group] + 1
                fits = fits and rest % size >= modes.counts[mode, group]
                rest //= size
            states.fits[mode, state] = fits


@kernel
def add_job(modes, states, rate, job, before, after):
    """Let one more job earn: at most one of its modes; ``before`` and ``after`` may be the same."""
    for state in range(len(before) - 1, -1, -1):
        most = before[state]
        for mode in range(modes.first[job], modes.first[job + 1]):
            if states.fits[mode, state]:
                most = max(most, rate[mode] + before[state - states.offset[mode]])
        after[state] = most

"""What searches and proofs call is compiled before their clock starts."""

from __future__ import annotations

from queuesmith.compiled import load
from queuesmith.federation.exact.kernels.annealing import anneal
from queuesmith.federation.exact.kernels.beam import run_beam
from queuesmith.federation.exact.kernels.earning import earn_most
from queuesmith.federation.exact.kernels.plans import plan
from queuesmith.federation.exact.kernels.states import fill_states
from queuesmith.federation.exact.kernels.tree import fill_table, search_tree
from queuesmith.federation.exact.provers import AT_ONCE_JOBS
from queuesmith.federation.exact.tree import MOST_JOBS
from queuesmith.federation.replay.kernels.heuristic import run_heuristic


def load_kernels(jobs: int) -> None:
    """Load what a search for so many jobs calls, or compile it the first time."""
    load(run_heuristic, plan, fill_states, earn_most, anneal)
    if jobs <= MOST_JOBS:
        load(fill_table, search_tree)
    if jobs > AT_ONCE_JOBS:
        load(run_beam)

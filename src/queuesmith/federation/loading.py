"""What searches and proofs call is compiled before their clock starts."""

from __future__ import annotations

from queuesmith.compiled import load
from queuesmith.federation.exact.kernels.annealing import anneal
from queuesmith.federation.exact.kernels.beam import run_beam
from queuesmith.federation.exact.kernels.earning import earn_most
from queuesmith.federation.exact.kernels.plans import plan
from queuesmith.federation.exact.kernels.states import fill_states
from queuesmith.federation.exact.kernels.tree import fill_table, search_tree
from queuesmith.federation.replay.kernels.heuristic import run_heuristic


def load_kernels() -> None:
    """Load what is compiled, or compile it the first time."""
    load(run_heuristic, plan, fill_states, earn_most, run_beam, anneal, fill_table, search_tree)

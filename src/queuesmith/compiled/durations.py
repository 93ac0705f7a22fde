"""How long things take to compile: as long as last time here, or as they usually do."""

from __future__ import annotations

import contextlib
from pathlib import Path

from queuesmith.compiled import cache
from queuesmith.compiled.inside_numba import config

#: Seconds from which on people wonder what goes on.
LONG = 2.0
#: Roughly, in a new process: what entries took one after the other on 64-bit ARM, and 2 s more,
#: which the first of a process takes. The first compilation on a machine replaces them. A test
#: checks that there are such entries.
USUAL = {
    "queuesmith.engine.kernels.node_order_replay.run_fixed_on_nodes": 12,
    "queuesmith.engine.kernels.node_order_replay.run_queue_on_nodes": 11,
    "queuesmith.engine.kernels.node_rule_based_replay.run_rule_based_on_nodes": 12,
    "queuesmith.engine.kernels.node_self_tuning_replay.run_self_tuning_on_nodes": 9,
    "queuesmith.engine.kernels.order_replay.run_fixed": 4,
    "queuesmith.engine.kernels.order_replay.run_fixed_plan": 6,
    "queuesmith.engine.kernels.order_replay.run_fixed_conservative": 6,
    "queuesmith.engine.kernels.order_replay.run_changing": 5,
    "queuesmith.engine.kernels.order_replay.run_changing_plan": 9,
    "queuesmith.engine.kernels.order_replay.run_changing_conservative": 12,
    "queuesmith.engine.kernels.predicted_replay.run_predicted": 4,
    "queuesmith.engine.kernels.rising_replay.run_rising": 7,
    "queuesmith.engine.kernels.rule_based_replay.run_rule_based": 16,
    "queuesmith.engine.kernels.rule_based_replay.run_rule_based_planning_scored": 10,
    "queuesmith.engine.kernels.self_tuning_replay.run_self_tuning": 8,
    "queuesmith.engine.kernels.self_tuning_replay.answer_request": 5,
    "queuesmith.engine.kernels.slurm_replay.run_slurm": 18,
    "queuesmith.engine.kernels.slurm_replay.run_slurm_preempting": 15,
    "queuesmith.federation.replay.kernels.heuristic.run_heuristic": 8,
    "queuesmith.federation.replay.kernels.planned.run_plan": 4,
    "queuesmith.federation.exact.kernels.beam.run_beam": 5,
    "queuesmith.federation.exact.kernels.tree.search_tree": 3,
    "queuesmith.grid.genetic.kernels.generations.run_generations": 6,
    "queuesmith.grid.heuristics.kernels.shortlists.fill_max_min": 6,
    "queuesmith.grid.heuristics.kernels.shortlists.fill_sufferage": 3,
    "queuesmith.grid.heuristics.kernels.shortlists.fill_x_sufferage": 3,
    "queuesmith.grid.exact.kernels.walk.walk": 4,
    "queuesmith.grid.exact.kernels.both.anneal_both": 3,
    "queuesmith.grid.genetic.kernels.improving.improve_anneal": 4,
    "queuesmith.knobs.kernels.runs.run_once": 3,
    "queuesmith.knobs.kernels.runs.run_settings": 3,
    "queuesmith.knobs.kernels.runs.run_lines": 5,
    "queuesmith.planning.kernels.branching.branch": 6,
}


def label(name: str) -> str:
    """Return what people may call an entry: its part of the product and its name."""
    words = name.split(".")
    return f"{words[1] if len(words) > 2 else words[0]}: {words[-1].replace('_', ' ')}"


def expected(name: str) -> float:
    """Return how many seconds an entry takes to compile; 0 where nobody knows."""
    with contextlib.suppress(OSError, ValueError):
        return float(_file(name).read_text())
    return float(USUAL.get(name, 0.0))


def remember(name: str, seconds: float) -> None:
    """Keep how long it took, for the next time; a disk that is full keeps nothing."""
    if name in USUAL or seconds >= LONG:
        with contextlib.suppress(OSError):
            file = _file(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{seconds:.1f}\n")


def _file(name: str) -> Path:
    return next(cache.places(cache.PACKAGE, config.CACHE_DIR)) / "seconds" / name

"""Compile every kernel once, before many test processes would each do so at the same time."""

import importlib
import os
from concurrent.futures import ProcessPoolExecutor

#: Modules whose import compiles, or functions that do; those that take longest first.
KERNELS = (
    "queuesmith.engine.kernels.rule_based_replay:run_ruled.load",
    "queuesmith.engine.kernels.self_tuning_replay:run_tuning.load",
    "queuesmith.federation.replay.kernels.heuristic",
    "queuesmith.federation.exact.oas",
    "queuesmith.grid.genetic.evolution",
    "queuesmith.grid.exact.solve",
    "queuesmith.grid.exact.kernels.prices",
    "queuesmith.grid.heuristics.kernels.shortlists",
    "queuesmith.knobs.kernels.runs",
    "queuesmith.planning.solve:load_kernels",
    "queuesmith.engine.kernels.self_tuning_replay:answer_request.load",
    "queuesmith.federation.replay.kernels.planned",
    "queuesmith.knobs.kernels.front",
    "queuesmith.learning.kernels.insertion",
)


def compile_one(name: str) -> None:
    """Import a module, and call the function where one is named."""
    module, _, function = name.partition(":")
    found = importlib.import_module(module)
    for part in filter(None, function.split(".")):
        found = getattr(found, part)
    if function:
        found()


if __name__ == "__main__":
    importlib.import_module("queuesmith.engine")  # what all others need
    with ProcessPoolExecutor(max_workers=os.cpu_count(), max_tasks_per_child=1) as pool:
        for _ in pool.map(compile_one, KERNELS):
            pass

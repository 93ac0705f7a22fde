"""Everything compiled at once, by all cores, before anybody waits for it."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context

from queuesmith.compiled import cache, durations
from queuesmith.compiled.decorators import ENTRIES
from queuesmith.compiled.inside_numba import Entry

#: Entries of one part of the product share kernels, so one process compiles them; but the longest
#: parts are divided, or one core would be left alone with them at the end.
ALONE = (
    "queuesmith.engine.kernels.node_",
    "queuesmith.engine.kernels.rule_based_replay",
    "queuesmith.engine.kernels.slurm_",
    "queuesmith.federation.replay.kernels.heuristic",
)


def all_entries() -> dict[str, Entry]:
    """Return all entries of the product by name, compiled or not."""
    for source in cache.kernel_sources(cache.PACKAGE):
        name = cache.module_name(cache.PACKAGE, source)
        importlib.import_module(name.removesuffix(".__init__"))
    return {name: ENTRIES[name] for name in sorted(ENTRIES) if name.startswith("queuesmith.")}


def warm_up(workers: int | None = None) -> Iterator[tuple[str, float]]:
    """Compile all that is not kept on disk yet; yield each entry's label and its seconds.

    Parameters
    ----------
    workers
        How many processes may compile at once, by default one for each core.
    """
    batches = [list(names) for _, names in groupby(sorted(all_entries(), key=_batch), _batch)]
    batches.sort(key=lambda names: -sum(durations.expected(name) for name in names))
    workers = workers or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        for done in as_completed([pool.submit(_compiled, names) for names in batches]):
            yield from done.result()


def _batch(name: str) -> str:
    alone = next((part for part in ALONE if name.startswith(part)), None)
    return alone or name.partition(".kernels")[0]


def _compiled(names: list[str]) -> list[tuple[str, float]]:
    entries, took = all_entries(), []
    for name in names:
        began = time.perf_counter()
        entries[name].load()
        took.append((durations.label(name), time.perf_counter() - began))
    return took

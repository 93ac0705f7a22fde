"""From a plain Python backfill to a compiled loop that finds who overtakes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from queuesmith.compiled import fingerprint
from queuesmith.engine.compiler_errors import explain
from queuesmith.engine.kernels.own_backfill import OVERTAKER_TYPE
from queuesmith.engine.kernels.queue import (
    ACCOUNT,
    GPUS,
    GROUP,
    ID,
    LOG_CORES,
    LOG_WALLTIME,
    MEMORY,
    NODES,
    PARTITION,
    PARTITION_FACTOR,
    QOS,
    QOS_FACTOR,
    SUBMIT,
    USER,
    asked_for,
    comes_before,
)
from queuesmith.engine.scoring import seeing_own, seen_names
from queuesmith.engine.written_loops import compiled_loop
from queuesmith.policy.own_backfill import Backfill
from queuesmith.policy.view import Head, Job, Machine

#: What the loop calls: each backfill has its own.
call: Any = None
unpack: Any = None
seen: Any = None


def compile_overtaker(backfill: Backfill, own: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Compile the loop that finds who overtakes; the backfill is inlined into it.

    ``own`` are columns of the log's own, as for ``compile_scorer``.
    """
    try:
        return _compiled(backfill.function, own)
    except Exception as error:  # the compiler raises errors of many kinds, not all of them its own
        raise explain("backfill", backfill.name, backfill.function, error) from error


@functools.lru_cache(maxsize=64)
def _compiled(function: Callable[..., Any], own: tuple[str, ...]) -> Callable[..., Any]:
    source = _taking_a_tuple(Backfill(function)) + seeing_own(own)
    word = fingerprint(function, source, Job._fields, Head._fields, Machine._fields)
    called, helpers = {"backfill": function}, seen_names(own)
    return compiled_loop(find_overtaker, OVERTAKER_TYPE, called, helpers, source, word)


def find_overtaker(  # type: ignore[no-untyped-def]
    queue, waiting, now, cores, free, first, reserved, spare, parameters
):
    """Return the place of the first in the queue that fits and may overtake, or -1.

    It is compiled for each backfill, with what the backfill needs for the global names here.
    """
    machine, values = Machine(cores, free, waiting), unpack(parameters)
    whole, real = queue.whole, queue.real
    head = Head(whole[SUBMIT, first], queue.walltime[first], queue.cores[first], reserved, spare)
    found = -1
    for i in range(waiting):
        if queue.cores[i] > free:
            continue
        if found >= 0 and not comes_before(
            queue.score[i], queue.job[i], queue.score[found], queue.job[found]
        ):
            continue
        job = Job(
            whole[ID, i],
            whole[SUBMIT, i],
            queue.walltime[i],
            queue.cores[i],
            real[LOG_WALLTIME, i],
            real[LOG_CORES, i],
            whole[USER, i],
            whole[GROUP, i],
            real[PARTITION_FACTOR, i],
            real[QOS_FACTOR, i],
            0.0,
            0.0,
            0.0,
            asked_for(queue, NODES, i),
            asked_for(queue, MEMORY, i),
            asked_for(queue, GPUS, i),
            asked_for(queue, PARTITION, i),
            asked_for(queue, QOS, i),
            asked_for(queue, ACCOUNT, i),
        )
        if call(seen(job, queue, i), head, now, machine, values):
            found = i
    return found


def _taking_a_tuple(backfill: Backfill) -> str:
    """Write the backfill as a function of a tuple of parameters, and what makes it of an array."""
    names = list(backfill.parameters)
    arguments = [*backfill.handed[: backfill.views], *(f"values[{i}]" for i in range(len(names)))]
    values = "".join(f"parameters[{i}], " for i in range(len(names)))
    return (
        "def call(job, head, now, machine, values): "
        f"return 0.0 + backfill({', '.join(arguments)}) != 0.0\n"
        f"def unpack(parameters): return ({values}0.0)\n"
    )

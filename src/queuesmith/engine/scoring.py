"""From a plain Python order to numbers: fixed scores for all jobs, or a compiled scoring loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PolicyError
from queuesmith.compiled import fingerprint
from queuesmith.engine.compiler_errors import explain
from queuesmith.engine.kernels.queue import (
    ACCOUNT,
    GPUS,
    GROUP,
    ID,
    LOG_CORES,
    LOG_WALLTIME,
    MEMORY,
    NODES,
    NOTHING_ASKED,
    PARTITION,
    PARTITION_FACTOR,
    QOS,
    QOS_FACTOR,
    SUBMIT,
    USER,
    asked_for,
    first_without_number,
    queue_of,
)
from queuesmith.engine.kernels.replay import SCORER_TYPE, Jobs
from queuesmith.engine.kernels.usage import (
    fair_share,
    new_usage,
    no_fair_share,
    share_fairly,
    share_nothing,
    total_usage,
    usage_clock,
    usage_share,
)
from queuesmith.engine.whole_numbers import check_whole_numbers
from queuesmith.engine.written_loops import compiled_loop
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.order import VIEWS, Order
from queuesmith.policy.view import ASKED_FIELDS, Job, Machine, job_view

Scorer = Callable[..., Any]

#: What the loop that scores calls: each order has its own.
call: Any = None
unpack: Any = None
seen: Any = None
dampening: Any = None


def fixed_scores(
    order: Order,
    jobs: Jobs,
    asked: NDArray[np.int64] = NOTHING_ASKED,
    own: tuple[str, ...] = (),
) -> NDArray[np.float64]:
    """Return the score of every job under an order that never changes."""
    count = len(jobs.submit)
    scores = _scores_in_one_call(order, jobs, asked, own)
    if scores is None:
        queue = queue_of(jobs, np.arange(count))._replace(asked=asked)
        usage = new_usage(_users(jobs) + 1)
        compile_scorer(order, own)(queue, usage, count, 0, 0, 0, parameter_values(order))
        scores = queue.score
    bad = np.isnan(scores)
    if bad.any():
        raise not_a_number(order, jobs, int(np.argmax(bad)), None)
    check_whole_numbers(order, jobs, asked, own)
    return scores


def compile_scorer(order: Order, own: tuple[str, ...] = ()) -> Scorer:
    """Compile the loop that scores all waiting jobs; the order is inlined into it.

    ``own`` are columns of the log's own, those that ``engine.asked`` has put into the table.
    """
    try:
        return _compiled(order.function, own)
    except Exception as error:  # the compiler raises errors of many kinds, not all of them its own
        raise explain("order", order.name, order.function, error) from error


def parameter_values(order: PolicyFunction) -> NDArray[np.float64]:
    """Return the values of the parameters as the compiled loop takes them."""
    values = np.array(list(order.parameters.values()), dtype=np.float64)
    values.setflags(write=False)
    return values


def not_a_number(order: Order, jobs: Jobs, job: int, now: int | None) -> PolicyError:
    """Return the error for an order that has no answer for a job."""
    when = "" if now is None else f" at second {now}"
    return PolicyError(
        f"order '{order.name}' gives no number (NaN) for job {jobs.id[job]}{when} (submit "
        f"{jobs.submit[job]}, walltime {jobs.walltime[job]}, cores {jobs.cores[job]}). "
        "Guard it against dividing zero by zero and the like."
    )


@functools.lru_cache(maxsize=256)
def _compiled(function: Callable[..., Any], own: tuple[str, ...]) -> Scorer:
    order = Order(function)
    looks_at_fair_share = "fair_share" in order.reads
    source = _taking_a_tuple(order) + seeing_own(own)
    word = fingerprint(function, source, looks_at_fair_share, Job._fields, Machine._fields)
    helpers = {
        "share_fairly": share_fairly if looks_at_fair_share else share_nothing,
        "fair_share": fair_share if looks_at_fair_share else no_fair_share,
        **seen_names(own),
    }
    return compiled_loop(score_queue, SCORER_TYPE, {"order": function}, helpers, source, word)


def score_queue(queue, usage, waiting, now, cores, free, parameters):  # type: ignore[no-untyped-def]
    """Score the jobs that wait, so many; return the place of one whose score is no number, or -1.

    It is compiled for each order, with what the order needs for the global names here. The loop
    never ends early, for so several jobs are scored at once where the processor can.
    """
    user_share = 1.0 / max(len(usage.level) - 1, 1)
    clock = usage_clock(usage, now)
    total = total_usage(usage, clock)
    machine = Machine(cores, free, waiting)
    values = unpack(parameters)
    whole, real = queue.whole, queue.real
    share_fairly(whole[USER], usage, waiting, clock, total, 1.0 / (user_share * dampening(values)))
    without_number = 0
    for i in range(waiting):
        user = whole[USER, i]
        job = Job(
            whole[ID, i],
            whole[SUBMIT, i],
            queue.walltime[i],
            queue.cores[i],
            real[LOG_WALLTIME, i],
            real[LOG_CORES, i],
            user,
            whole[GROUP, i],
            real[PARTITION_FACTOR, i],
            real[QOS_FACTOR, i],
            usage_share(usage, user, clock, total),
            user_share,
            fair_share(usage, user),
            asked_for(queue, NODES, i),
            asked_for(queue, MEMORY, i),
            asked_for(queue, GPUS, i),
            asked_for(queue, PARTITION, i),
            asked_for(queue, QOS, i),
            asked_for(queue, ACCOUNT, i),
        )
        score = call(seen(job, queue, i), now, machine, values)
        without_number += score != score
        queue.score[i] = score
    return first_without_number(queue.score, waiting) if without_number > 0 else -1


def _taking_a_tuple(order: Order) -> str:
    """Write the order as a function of a tuple of parameters, and what makes it of an array.

    Numbers in a tuple cannot change while the loop writes scores, so what depends on them alone is
    computed once.
    """
    names = list(order.parameters)
    places = {name: f"values[{i}]" for i, name in enumerate(names)}
    arguments = ", ".join([*VIEWS[: order.views], *places.values()])
    values = "".join(f"parameters[{i}], " for i in range(len(names)))
    return (
        f"def call(job, now, machine, values): return float(order({arguments}))\n"
        f"def unpack(parameters): return ({values}0.0)\n"
        f"def dampening(values): return {places.get('FairShareDampeningFactor', 1.0)}\n"
    )


def seen_names(own: tuple[str, ...]) -> dict[str, Any]:
    """Return what the text of ``seeing_own`` uses."""
    return {"Seen": job_view(own), "float64": np.float64}


def seeing_own(own: tuple[str, ...]) -> str:
    """Write what adds the log's own columns to what an order sees of a job."""
    if not own:
        return "def seen(job, queue, place): return job\n"
    fields = "".join(f"job.{field}, " for field in Job._fields)
    rows = range(len(ASKED_FIELDS), len(ASKED_FIELDS) + len(own))
    columns = ", ".join(f"table[{row}, queue.job[place]]" for row in rows)
    return (
        "def seen(job, queue, place):\n"
        "    table = queue.asked.view(float64)\n"
        f"    return Seen({fields}{columns})\n"
    )


def _scores_in_one_call(
    order: Order, jobs: Jobs, asked: NDArray[np.int64], own: tuple[str, ...]
) -> NDArray[np.float64] | None:
    """Call the order once with whole columns for numbers; None where it cannot take them."""
    nothing = np.zeros(len(jobs.submit))
    sizes = (jobs.id, jobs.submit, jobs.walltime, jobs.cores)
    columns = (*sizes, jobs.log_walltime, jobs.log_cores, jobs.user, jobs.group)
    fair = nothing + 1.0 / _users(jobs)
    factors: tuple[Any, ...] = (jobs.partition_factor, jobs.qos_factor, nothing, fair, nothing + 1)
    further = asked if asked.shape[1] else np.zeros((len(ASKED_FIELDS), 1), np.int64)
    whole, real = further[: len(ASKED_FIELDS)], further[len(ASKED_FIELDS) :].view(np.float64)
    job = job_view(own)(*columns, *factors, *whole, *real)
    views: tuple[Any, ...] = (job, 0, Machine(0, 0, 0))
    try:
        with np.errstate(all="ignore"):
            scores = order.function(*views[: order.views], **order.parameters)
    except Exception:  # whatever it is, compiling says it with the line
        return None
    if not isinstance(scores, np.ndarray) or scores.shape != nothing.shape:
        return None
    return scores.astype(np.float64) if scores.dtype.kind in "biuf" else None


def _users(jobs: Jobs) -> int:
    return int(jobs.user.max()) + 1

"""From a plain Python order to numbers: fixed scores for all jobs, or a compiled scoring loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import njit
from queuesmith.engine.compiler_errors import explain
from queuesmith.engine.kernels.replay import SCORER_TYPE, Jobs
from queuesmith.engine.kernels.usage import Usage, usage_clock
from queuesmith.errors import PolicyError
from queuesmith.policy.order import VIEWS, Order
from queuesmith.policy.view import Job, Machine

Scorer = Callable[..., Any]


def fixed_scores(order: Order, jobs: Jobs) -> NDArray[np.float64]:
    """Return the score of every job under an order that never changes."""
    count = len(jobs.submit)
    scores = _scores_in_one_call(order, jobs)
    if scores is None:
        # The compiled loop stops at the first job without a number: that and the rest stay NaN.
        scores = np.full(count, np.nan)
        everyone = np.arange(count, dtype=np.int32)
        usage = no_usage(_users(jobs) + 1)
        compile_scorer(order)(jobs, usage, everyone, scores, 0, 0, 0, parameter_values(order))
    bad = np.isnan(scores)
    if bad.any():
        raise not_a_number(order, jobs, int(np.argmax(bad)), None)
    return scores


def compile_scorer(order: Order) -> Scorer:
    """Compile the loop that scores all waiting jobs; the order is inlined into it."""
    try:
        return _compiled(order.function, order.views, len(order.parameters))
    except Exception as error:  # the compiler raises errors of many kinds, not all of them its own
        raise explain("order", order.name, order.function, error) from error


def parameter_values(order: Order) -> NDArray[np.float64]:
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
def _compiled(function: Callable[..., Any], views: int, parameters: int) -> Scorer:
    call, unpack = _taking_a_tuple(function, views, parameters)

    @njit(SCORER_TYPE, nogil=True, error_model="numpy", _nrt=False)
    def score_queue(jobs, usage, waiting, scores, now, cores, free, parameters):  # type: ignore[no-untyped-def]
        users = max(len(usage.level) - 1, 1)
        clock = usage_clock(usage, now)
        total = usage.level[users] + usage.slope[users] * clock if len(usage.level) > 0 else 0.0
        each = 1.0 / total if total > 0.0 else 0.0
        machine = Machine(cores, free, len(waiting))
        values = unpack(parameters)
        for i in range(len(waiting)):
            j = waiting[i]
            share = 0.0
            if total > 0.0:
                user = jobs.user[j]
                share = (usage.level[user] + usage.slope[user] * clock) * each
            job = Job(
                jobs.id[j],
                jobs.submit[j],
                jobs.walltime[j],
                jobs.cores[j],
                jobs.log_walltime[j],
                jobs.log_cores[j],
                jobs.user[j],
                jobs.group[j],
                jobs.partition_factor[j],
                jobs.qos_factor[j],
                share,
                1.0 / users,
            )
            score = call(job, now, machine, values)
            if score != score:
                return j
            scores[i] = score
        return -1

    return score_queue  # type: ignore[no-any-return]


def _taking_a_tuple(function: Callable[..., Any], views: int, count: int) -> tuple[Scorer, Scorer]:
    """Return the order as a function of a tuple of parameters, and what makes it of an array.

    Numbers in a tuple cannot change while the loop writes scores, so what depends on them alone is
    computed once.
    """
    order = njit(error_model="numpy", _nrt=False)(function)
    arguments = ", ".join([*VIEWS[:views], *(f"values[{i}]" for i in range(count))])
    values = "".join(f"parameters[{i}], " for i in range(count))
    source = (
        f"def call(job, now, machine, values): return float(order({arguments}))\n"
        f"def unpack(parameters): return ({values}0.0)\n"
    )
    namespace: dict[str, Any] = {"order": order}
    exec(source, namespace)
    compiled = (njit(error_model="numpy", _nrt=False)(namespace[n]) for n in ("call", "unpack"))
    call, unpack = compiled
    return call, unpack


def _scores_in_one_call(order: Order, jobs: Jobs) -> NDArray[np.float64] | None:
    """Call the order once with whole columns for numbers; None where it cannot take them."""
    nothing = np.zeros(len(jobs.submit))
    sizes = (jobs.id, jobs.submit, jobs.walltime, jobs.cores)
    columns = (*sizes, jobs.log_walltime, jobs.log_cores, jobs.user, jobs.group)
    fair = nothing + 1.0 / _users(jobs)
    factors: tuple[Any, ...] = (jobs.partition_factor, jobs.qos_factor, nothing, fair)
    views: tuple[Any, ...] = (Job(*columns, *factors), 0, Machine(0, 0, 0))
    try:
        with np.errstate(all="ignore"):
            scores = order.function(*views[: order.views], **order.parameters)
    except Exception:  # whatever it is, compiling says it with the line
        return None
    if not isinstance(scores, np.ndarray) or scores.shape != nothing.shape:
        return None
    return scores.astype(np.float64) if scores.dtype.kind in "biuf" else None


def no_usage(slots: int = 0) -> Usage:
    """Return the bookkeeping of an order that does not look at what users consumed."""
    return Usage(np.zeros(slots), np.zeros(slots), np.zeros(2))


def _users(jobs: Jobs) -> int:
    return int(jobs.user.max()) + 1

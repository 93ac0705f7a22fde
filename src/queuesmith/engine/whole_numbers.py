"""Whole numbers of an own order that need more than 64 bits: compiled, they are wrong in silence.

The order is called as plain Python for a few jobs that have the largest numbers, with whole numbers
that tell when one is too large. What Python cannot call this way is left to the compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import PolicyError
from queuesmith.engine.kernels.replay import Jobs
from queuesmith.policy.order import Order
from queuesmith.policy.orders import ORDERS
from queuesmith.policy.view import ASKED_FIELDS, Machine, job_view

BITS = 63
#: What makes a whole number of whole numbers.
_OPERATIONS = ("add", "sub", "mul", "pow", "lshift", "floordiv", "mod")


def check_whole_numbers(
    order: Order,
    jobs: Jobs,
    asked: NDArray[np.int64],
    own: tuple[str, ...],
    now: NDArray[np.int64] | None = None,
    cores: int = 0,
) -> None:
    """Raise where a whole number that the order computes for a job needs more than 64 bits.

    Parameters
    ----------
    order, jobs, asked, own
        The order, and what it sees of the jobs: see ``scoring.fixed_scores``.
    now
        An instant at which each job was scored; None where the order does not look at it.
    cores
        How many the machine has.
    """
    built_in = ORDERS.get(order.name)
    if built_in is not None and built_in.function is order.function:
        return
    for job in _largest(jobs, now):
        instant = 0 if now is None else int(now[job])
        view = _exact_view(jobs, job, asked, own)
        views = (view, _Exact(instant), Machine(_Exact(cores), _Exact(0), _Exact(1)))
        try:
            with np.errstate(all="ignore"):
                order.function(*views[: order.views], **order.parameters)
        except _TooLargeError:
            raise _too_large(order, jobs, job, None if now is None else instant) from None
        except Exception:  # such as a division by zero, which compiled code knows
            continue


class _TooLargeError(Exception):
    """A whole number needs more than 64 bits."""


class _Exact(int):
    """A whole number that tells when what is computed of it needs more than 64 bits."""

    def __neg__(self) -> Any:
        return _exact(-int(self))

    def __abs__(self) -> Any:
        return _exact(abs(int(self)))


def _exact(value: Any) -> Any:
    if type(value) is not int:
        return value
    if value.bit_length() > BITS:
        raise _TooLargeError
    return _Exact(value)


def _checked(name: str) -> Callable[..., Any]:
    operation = getattr(int, name)

    def compute(self: _Exact, other: Any) -> Any:
        if isinstance(other, int) and ("pow" in name or "shift" in name):
            _check_exponent(*((other, self) if name.startswith("__r") else (self, other)))
        return _exact(operation(self, other))

    return compute


def _check_exponent(base: Any, exponent: Any) -> None:
    """Raise for a power that would fill the memory before one could look at it."""
    if exponent > BITS and base not in (-1, 0, 1):
        raise _TooLargeError


for _name in _OPERATIONS:
    setattr(_Exact, f"__{_name}__", _checked(f"__{_name}__"))
    setattr(_Exact, f"__r{_name}__", _checked(f"__r{_name}__"))


def _largest(jobs: Jobs, now: NDArray[np.int64] | None) -> list[int]:
    """Return the jobs with the largest area, walltime, cores, submit time, id and wait."""
    area = jobs.walltime.astype(np.float64) * jobs.cores
    columns = [area, jobs.walltime, jobs.cores, jobs.submit, jobs.id]
    if now is not None:
        wait = (now - jobs.submit).astype(np.float64)
        columns += [wait, wait * area]
    return list(dict.fromkeys(int(np.argmax(column)) for column in columns))


def _exact_view(jobs: Jobs, job: int, asked: NDArray[np.int64], own: tuple[str, ...]) -> Any:
    """Return what an order sees of a job, its whole numbers being such that tell."""
    columns: tuple[Any, ...] = (jobs.id, jobs.submit, jobs.walltime, jobs.cores)
    whole = [_Exact(column[job]) for column in columns]
    logarithms = float(jobs.log_walltime[job]), float(jobs.log_cores[job])
    people = _Exact(jobs.user[job]), _Exact(jobs.group[job])
    factors = float(jobs.partition_factor[job]), float(jobs.qos_factor[job]), 0.0, 1.0, 1.0
    row = asked[:, job] if asked.shape[1] else np.zeros(len(ASKED_FIELDS), np.int64)
    further = [_Exact(value) for value in row[: len(ASKED_FIELDS)]]
    real = row[len(ASKED_FIELDS) :].copy().view(np.float64).tolist()
    values: list[Any] = [*whole, *logarithms, *people, *factors, *further, *real]
    return job_view(own)._make(values)


def _too_large(order: Order, jobs: Jobs, job: int, now: int | None) -> PolicyError:
    when = "" if now is None else f" at second {now}"
    return PolicyError(
        f"order '{order.name}' computes a whole number beyond 64 bits (9.2e18) for job "
        f"{jobs.id[job]}{when} (submit {jobs.submit[job]}, walltime {jobs.walltime[job]}, cores "
        f"{jobs.cores[job]}), so it would sort wrongly. Compute with real numbers: write "
        "float(job.walltime) for job.walltime, and so on."
    )

"""One way in to every method of placing a queue, each result verified and with its bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from queuesmith.base.checks import of_kind, progress_function
from queuesmith.base.registry import entry
from queuesmith.federation.heuristics.heuristics import HEURISTICS, place_by_heuristic
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placing import with_bound
from queuesmith.federation.model.quick_bound import simple_bound
from queuesmith.federation.options import PlaceOptions
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify

#: Is called with the share done, 0 to 1.
ShareDone = Callable[[float], None]


class Method(Protocol):
    """Places a queue."""

    def __call__(
        self,
        federation: Federation,
        jobs: FederationJobs,
        options: PlaceOptions,
        progress: ShareDone,
    ) -> Schedule:
        """Return where and when each job runs; call ``progress`` with the share done, 0 to 1."""
        ...


def place(
    federation: Federation,
    jobs: FederationJobs,
    method: str = "oas",
    options: PlaceOptions | None = None,
    *,
    progress: ShareDone | None = None,
) -> Schedule:
    """Place a queue by any method, verify the result, and say how far from the optimum it can be.

    The queue is taken as it stands: all jobs wait at second 0; ``submit`` only says who came first.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    method
        A name in ``METHODS``.
    options
        What the method may be told.
    progress
        Is called with the share done, 0 to 1.
    """
    chosen = named_method(method)
    settings = PlaceOptions() if options is None else options
    of_kind("options", settings, PlaceOptions, "Give for example PlaceOptions(seconds=10).")
    of_kind("the federation", federation, Federation, "Read one with Federation.read(...).")
    of_kind("the queue", jobs, FederationJobs, "Read one with FederationJobs.read(...).")
    queue = jobs.queued()
    check_fits(federation, queue, settings.saturation)
    found = chosen(federation, queue, settings, progress_function(progress) or (lambda share: None))
    proven = verify(found).lower_bound or 0
    return with_bound(found, max(proven, simple_bound(federation, queue)))


def compare_methods(
    federation: Federation,
    queues: Sequence[FederationJobs],
    methods: Sequence[str],
    options: PlaceOptions | None = None,
    *,
    progress: ShareDone | None = None,
) -> list[Schedule]:
    """Place several queues by several methods; queue by queue, method by method.

    A bound that one method proves for a queue holds for all its schedules.
    """
    progress_function(progress)
    for method in methods:
        named_method(method)
    found: list[Schedule] = []
    for jobs in queues:
        queue = jobs.queued()
        mine = []
        for method in methods:
            mine.append(place(federation, queue, method, options))
            if progress is not None:
                progress((len(found) + len(mine)) / (len(queues) * len(methods)))
        bound = max(schedule.lower_bound or 0 for schedule in mine)
        found += [with_bound(schedule, bound) for schedule in mine]
    return found


def named_method(name: str) -> Method:
    """Return a method, or say which there are."""
    return entry("method", name, METHODS)


def _by_heuristic(name: str) -> Method:
    def run(
        federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: ShareDone
    ) -> Schedule:
        return place_by_heuristic(
            federation, jobs, name, options.allocation, saturation=options.saturation
        )

    return run


def _by_prices(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: ShareDone
) -> Schedule:
    return place_by_prices(
        federation,
        jobs,
        saturation=options.saturation,
        seconds=options.seconds,
        steps=options.steps,
        seed=options.seed,
        progress=progress,
    )


def _by_slots(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: ShareDone
) -> Schedule:
    from queuesmith.federation.exact.slots import slots

    return slots(federation, jobs, options, progress)


def _by_oas(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: ShareDone
) -> Schedule:
    from queuesmith.federation.exact.oas import oas

    return oas(federation, jobs, options, progress)


#: Every method. Those that need a solver import it inside, when they are called.
METHODS: dict[str, Method] = {
    **{name: _by_heuristic(name) for name in HEURISTICS},
    "prices": _by_prices,
    "slots": _by_slots,
    "oas": _by_oas,
}

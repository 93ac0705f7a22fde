"""One way in to every method of placing a queue, each result verified and with its bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from queuesmith.base.errors import UsageError
from queuesmith.federation.heuristics.heuristics import HEURISTICS, place_by_heuristic
from queuesmith.federation.heuristics.large_queue import place_by_prices
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placement import Placement
from queuesmith.federation.model.quick_bound import simple_bound
from queuesmith.federation.model.verify import verify
from queuesmith.federation.options import PlaceOptions

Progress = Callable[[float], None]


class Method(Protocol):
    """Places a queue."""

    def __call__(
        self,
        federation: Federation,
        jobs: FederationJobs,
        options: PlaceOptions,
        progress: Progress,
    ) -> Placement:
        """Return where and when each job runs; call ``progress`` with the share done, 0 to 1."""
        ...


def place(
    federation: Federation,
    jobs: FederationJobs,
    method: str = "oas",
    options: PlaceOptions | None = None,
    *,
    progress: Progress | None = None,
) -> Placement:
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
    settings = options or PlaceOptions()
    queue = jobs.queued()
    check_fits(federation, queue, settings.saturation)
    found = chosen(federation, queue, settings, progress or (lambda share: None))
    return with_bound(verify(found))


def with_bound(placement: Placement) -> Placement:
    """Return the placement with a quick bound where its method proved none, or a weaker one."""
    quick = simple_bound(placement.federation, placement.jobs)
    if placement.lower_bound is not None and placement.lower_bound >= quick:
        return placement
    return replace(placement, lower_bound=quick)


def compare_methods(
    federation: Federation,
    queues: Sequence[FederationJobs],
    methods: Sequence[str],
    options: PlaceOptions | None = None,
    *,
    progress: Progress | None = None,
) -> list[Placement]:
    """Place several queues by several methods; queue by queue, method by method.

    A bound that one method proves for a queue holds for all its placements.
    """
    for method in methods:
        named_method(method)
    found: list[Placement] = []
    for queue in queues:
        mine = []
        for method in methods:
            mine.append(place(federation, queue, method, options))
            if progress is not None:
                progress((len(found) + len(mine)) / (len(queues) * len(methods)))
        bound = max(placement.lower_bound or 0 for placement in mine)
        found += [replace(placement, lower_bound=bound) for placement in mine]
    return found


def named_method(name: str) -> Method:
    """Return a method, or say which there are."""
    if name not in METHODS:
        raise UsageError(f"there is no method '{name}'. Choose from: {', '.join(METHODS)}.")
    return METHODS[name]


def _by_heuristic(name: str) -> Method:
    def run(
        federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: Progress
    ) -> Placement:
        return place_by_heuristic(
            federation, jobs, name, options.allocation, saturation=options.saturation
        )

    return run


def _by_prices(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: Progress
) -> Placement:
    return place_by_prices(
        federation,
        jobs,
        saturation=options.saturation,
        seconds=options.seconds,
        seed=options.seed,
        progress=progress,
    )


def _by_slots(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: Progress
) -> Placement:
    from queuesmith.federation.exact.slots import slots

    return slots(federation, jobs, options, progress)


def _by_oas(
    federation: Federation, jobs: FederationJobs, options: PlaceOptions, progress: Progress
) -> Placement:
    from queuesmith.federation.exact.oas import oas

    return oas(federation, jobs, options, progress)


#: Every method. Those that need a solver import it inside, when they are called.
METHODS: dict[str, Method] = {
    **{name: _by_heuristic(name) for name in HEURISTICS},
    "prices": _by_prices,
    "slots": _by_slots,
    "oas": _by_oas,
}

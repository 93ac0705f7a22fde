"""What a method of placing may be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlaceOptions:
    """What a method may be told; each takes what concerns it.

    Parameters
    ----------
    allocation
        How the heuristics choose nodes: a name in `heuristics.ALLOCATIONS`.
    slot_percent
        The size of a slot of the slot model, in per cent of the mean base time.
    saturation
        How many times its bandwidth each link may be loaded; 1 means that none saturates.
    seconds
        How long a method that could go on for ever may take: the clock stops ``oas``, ``slots``
        and, on queues too large for so much time, ``prices``.
    steps
        Stop by a count instead of the clock: the same seed then gives the same result each time, on
        any number of workers. ``oas`` takes so many steps of annealing, and looks at nodes of its
        trees in proportion; ``slots`` looks at so many nodes of the solver's tree; ``prices`` tries
        so many schedules.
    seed
        What chance follows from. What the clock did not stop comes out the same for the same
        seed and one worker; a proven optimum has the same makespan in any case.
    workers
        How many threads an exact method may use; by default two.
    """

    allocation: str = "fastest"
    slot_percent: float = 50.0
    saturation: float = 1.0
    seconds: float = 10.0
    steps: int | None = None
    seed: int = 0
    workers: int | None = None

    def __post_init__(self) -> None:
        # Here, so that the command line takes the defaults above without waiting for numpy.
        from queuesmith.base.checks import number, positive, whole_number

        positive("the number of seconds", self.seconds, "Give for example 10.")
        number("the slot size", self.slot_percent, 1, 10_000, "Give per cent, for example 50.")
        number("the saturation", self.saturation, 1, 1000, "Give 1 for none, or for example 1.5.")
        if self.steps is not None:
            whole_number("the number of steps", self.steps, 1, "Give for example 10000.")
        whole_number("the seed", self.seed, 0, "Give for example 0.")
        if self.workers is not None:
            whole_number("the number of workers", self.workers, 1, "Give for example 2.")

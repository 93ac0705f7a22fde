"""How a plan is searched for: what the library and the command line offer, each default once."""

from __future__ import annotations

from dataclasses import dataclass

from queuesmith.base.checks import positive, whole_number
from queuesmith.base.registry import known

#: How a bound can be proven.
METHODS = ("auto", "search", "branch", "cpsat", "mip")
#: Seconds for a whole log, unless told otherwise.
WORKLOAD_SECONDS = 10.0


@dataclass(frozen=True)
class SolveOptions:
    """What a plan is judged by, how long it may take, and how it is proven.

    Parameters
    ----------
    objective
        ``artww``, ``sldwa``, ``response`` or ``makespan``.
    seconds
        How long it may take; it ends earlier where the optimum is proven.
    workers
        How many threads may work at once; a second one goes on searching during the proof.
    seed
        What chance follows from. Where time ends the search the plan also depends on the speed of
        the machine; where the optimum is proven it does not.
    method
        How the bound is proven: ``auto``, ``branch`` (prices and branching), ``cpsat``, ``mip``
        (the time-indexed model), or ``search`` for none.
    """

    objective: str = "artww"
    seconds: float = 1.0
    workers: int = 1
    seed: int = 0
    method: str = "auto"

    def __post_init__(self) -> None:
        from queuesmith.planning.objectives import find_objective  # knows numpy, commands do not

        find_objective(self.objective)
        positive("seconds", self.seconds, "Give the time that a plan may take.")
        whole_number("workers", self.workers, 1, "Give 1 or 2.")
        whole_number("the seed", self.seed, 0, "Give for example 0.")
        known("method", self.method, METHODS)

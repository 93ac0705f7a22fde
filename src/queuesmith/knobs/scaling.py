"""How the makespan depends on the share and on the size of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import UsageError
from queuesmith.knobs.bag_schedule import value_or_none
from queuesmith.knobs.bags import Share, TaskJobs
from queuesmith.knobs.greedy_knapsack import knapsack
from queuesmith.knobs.options import SHARES, SIZES, BagOptions
from queuesmith.knobs.power_law import PowerLaw, fit_power_law
from queuesmith.knobs.setting import Knobs
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload

_TOLD = ("mean_wait", "expansion_factor", "utilization")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Schedules of the same jobs under several shares or on several machines.

    Parameters
    ----------
    what
        ``share`` or ``cores``.
    at
        The shares or sizes.
    schedules
        One schedule for each.
    law
        The power law of the makespan over the size; None for shares.
    """

    what: str
    at: tuple[Share, ...]
    schedules: tuple[Schedule, ...]
    law: PowerLaw | None = None

    @property
    def makespans(self) -> list[int]:
        """The makespans."""
        return [int(schedule.makespan) for schedule in self.schedules]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each share or size."""
        return [
            {
                self.what: at,
                "makespan": int(schedule.makespan),
                **{name: value_or_none(schedule, name) for name in _TOLD},
            }
            for at, schedule in zip(self.at, self.schedules, strict=True)
        ]


def over_shares(
    workload: Workload,
    knobs: Knobs,
    *,
    cores: int,
    shares: Sequence[Share] = SHARES,
    cores_per_task: int = BagOptions.cores_per_task,
    seed: int = BagOptions.seed,
) -> Scaling:
    """Schedule malleable jobs under several shares (figure 4)."""
    if not shares:
        raise UsageError("no share is given. Give at least one, from 0 to 1.")
    schedules = [
        knapsack(TaskJobs(workload, share, cores_per_task, seed=seed), knobs=knobs, cores=cores)
        for share in shares
    ]
    return Scaling("share", tuple(shares), tuple(schedules))


def over_sizes(
    workload: Workload,
    knobs: Knobs,
    *,
    sizes: Sequence[int] = SIZES,
    share: Share = "random",
    cores_per_task: int = BagOptions.cores_per_task,
    seed: int = BagOptions.seed,
) -> Scaling:
    """Schedule malleable jobs on machines of several sizes and fit a power law (figure 5)."""
    jobs = TaskJobs(workload, share, cores_per_task, seed=seed)
    schedules = [knapsack(jobs, knobs=knobs, cores=cores) for cores in sizes]
    law = fit_power_law(list(sizes), [int(schedule.makespan) for schedule in schedules])
    return Scaling("cores", tuple(sizes), tuple(schedules), law)

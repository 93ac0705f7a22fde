"""How the workload response time depends on the share and on the size of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import UsageError
from queuesmith.knobs.bags import Share, TaskJobs
from queuesmith.knobs.knapsack import knapsack
from queuesmith.knobs.power_law import PowerLaw, fit_power_law
from queuesmith.knobs.setting import Knobs
from queuesmith.knobs.task_schedule import TaskSchedule
from queuesmith.workload import Workload

#: The shares of the paper's figure 4.
SHARES: tuple[Share, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, "random")
#: The sizes of the paper's figure 5.
SIZES = (36, 72, 144, 288, 576)


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
        The power law of the response time over the size; None for shares.
    """

    what: str
    at: tuple[Share, ...]
    schedules: tuple[TaskSchedule, ...]
    law: PowerLaw | None = None

    @property
    def response_times(self) -> list[int]:
        """The workload response times."""
        return [schedule.makespan for schedule in self.schedules]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each share or size."""
        return [
            {
                self.what: at,
                "response_time": schedule.makespan,
                "mean_wait": float(schedule.wait.mean()),
                "expansion_factor": float(schedule.expansion_factor.mean()),
                "utilization": schedule.utilization,
            }
            for at, schedule in zip(self.at, self.schedules, strict=True)
        ]


def over_shares(
    workload: Workload,
    knobs: Knobs,
    *,
    cores: int,
    shares: Sequence[Share] = SHARES,
    cores_per_task: int = 1,
    seed: int = 0,
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
    cores_per_task: int = 1,
    seed: int = 0,
) -> Scaling:
    """Schedule malleable jobs on machines of several sizes and fit a power law (figure 5)."""
    jobs = TaskJobs(workload, share, cores_per_task, seed=seed)
    schedules = [knapsack(jobs, knobs=knobs, cores=cores) for cores in sizes]
    law = fit_power_law(list(sizes), [schedule.makespan for schedule in schedules])
    return Scaling("cores", tuple(sizes), tuple(schedules), law)

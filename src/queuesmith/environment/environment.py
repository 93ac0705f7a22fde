"""A cluster as a Gymnasium environment: each step starts one of the first waiting jobs."""

from __future__ import annotations

from numbers import Integral
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.checks import of_kind, positive, whole_number
from queuesmith.base.errors import UsageError
from queuesmith.base.extras import extra_library
from queuesmith.cluster import Cluster, as_cluster
from queuesmith.cluster.maintenance import check_no_maintenance
from queuesmith.environment.kernels import (
    CLOCK,
    FEATURES,
    LISTS,
    NOW,
    STARTED,
    THERE,
    WAITING,
    begin,
    step,
)
from queuesmith.schedule.measures import DEFAULT_BOUND
from queuesmith.schedule.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import check_no_dependencies

extra_library("gymnasium", "gym", "the environment")

import gymnasium  # noqa: E402 (a word on how to get it comes first)

Observation = NDArray[np.float32]
BACKFILLS = ("none", "easy")
HOW_TO_RESET = 'Give for example options={"first": 0}.'


class SchedulingEnvironment(gymnasium.Env[Observation, np.int64]):
    """Which waiting job is next, again and again, over a sequence of jobs of a log.

    An action is the place of a waiting job among the first that wait, in the order of their
    arrival. That job starts as soon as there is room for it; nothing else is chosen meanwhile, but
    with ``backfill="easy"`` jobs that do not delay it may start. A place at which nobody waits
    stands for the last one who does. The reward of a step is minus the bounded slowdowns of the
    jobs that it started, over the number of jobs, so that an episode adds up to minus their mean.

    Parameters
    ----------
    workload
        The log. Jobs wider than the machine are left out.
    cluster, cores
        The machine, or its number of cores; by default what the log says.
    jobs
        How many jobs an episode has.
    window
        How many waiting jobs are seen, and can be chosen.
    backfill
        ``none`` or ``easy``.
    bound
        The bound of the bounded slowdown, in seconds.

    Examples
    --------
    >>> environment = SchedulingEnvironment(log, jobs=256)  # doctest: +SKIP
    >>> observation, info = environment.reset(seed=1)  # doctest: +SKIP
    >>> observation, reward, over, _, info = environment.step(0)  # doctest: +SKIP
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster | None = None,
        *,
        cores: int | None = None,
        jobs: int = 256,
        window: int = 64,
        backfill: str = "none",
        bound: float = DEFAULT_BOUND,
    ) -> None:
        machine = as_cluster(workload, cluster, cores)
        self.cluster = check_no_maintenance(machine, "the environment")
        check_no_dependencies(workload, "the environment")
        self.workload = workload.fitting(self.cluster.cores)
        self.jobs = whole_number("the number of jobs", jobs, 1, "Give for example 256.")
        whole_number("the window", window, 1, "Give for example 64.")
        if self.jobs > len(self.workload):
            raise UsageError(
                f"an episode has {jobs} jobs, but '{workload.name}' has {len(self.workload)}. "
                "Give fewer with jobs=..., or a longer log."
            )
        if backfill not in BACKFILLS:
            raise UsageError(f"backfill is '{backfill}', but it must be 'none' or 'easy'. Choose.")
        self.backfill = backfill
        self.bound = positive("the bound", bound, "Give for example 10.")
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (window, FEATURES), np.float32)
        self.action_space = gymnasium.spaces.Discrete(window)
        self._seen = np.zeros((window, FEATURES), np.float32)
        self._clock = np.zeros(CLOCK, np.int64)
        self._lists = np.zeros((LISTS, jobs), np.int64)
        log = self.workload
        self._table = np.stack([log.submit, log.runtime, log.walltime, log.cores])
        self._first, self._episode = 0, self._part(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode at a random job, or at that of ``options={"first": 0}``."""
        super().reset(seed=seed)
        first = self._chosen_first(options)
        self._first, self._episode = first, self._part(first)
        begin(self._episode, self._clock, self._lists, self.cluster.cores, self._seen)
        return self._seen.copy(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Start a waiting job as soon as there is room, and go on to the next choice."""
        waiting = int(self._clock[WAITING])
        if not waiting:
            raise UsageError("no episode is under way, so nobody waits. Call reset first.")
        place = min(_place(action), waiting - 1, len(self._seen) - 1)
        lost = step(
            self._episode,
            self._clock,
            self._lists,
            self.cluster.cores,
            place,
            self.backfill == "easy",
            self.bound,
            self._seen,
        )
        over = int(self._clock[STARTED]) == self.jobs
        return self._seen.copy(), -lost / self.jobs, over, False, self._info()

    @property
    def schedule(self) -> Schedule:
        """The schedule of the episode, once it is over."""
        if int(self._clock[STARTED]) < self.jobs:
            raise UsageError("the episode is not over yet, so it has no schedule. Go on.")
        places = np.arange(self._first, self._first + self.jobs)
        jobs = self.workload.select(places)
        return Schedule(jobs, self.cluster, self._lists[0].copy(), "environment")

    def _chosen_first(self, options: dict[str, Any] | None) -> int:
        """Return the first job of an episode: the one asked for, or a random one."""
        latest = len(self.workload) - self.jobs
        asked = {} if options is None else of_kind("options", options, dict, HOW_TO_RESET)
        if asked.keys() - {"first"}:
            unknown = ", ".join(sorted(map(str, asked.keys() - {"first"})))
            raise UsageError(f"options have '{unknown}', but reset knows first. {HOW_TO_RESET}")
        first = asked.get("first")
        if first is None:
            return int(self.np_random.integers(0, latest + 1))
        if not isinstance(first, Integral) or not 0 <= int(first) <= latest:
            raise UsageError(
                f"the first job of the episode is number {first!r}, but it must be a whole number "
                f"from 0 to {latest}. Give another."
            )
        return int(first)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._seen[:, THERE].astype(np.int8), "now": int(self._clock[NOW])}

    def _part(self, first: int) -> NDArray[np.int64]:
        return np.ascontiguousarray(self._table[:, first : first + self.jobs])


def _place(action: np.int64 | int) -> int:
    """Return the place that an action names."""
    try:
        place = index(action)
    except TypeError:
        place = -1
    if place < 0:
        raise UsageError(f"the action is {action!r}, but it must be a whole number from 0 up.")
    return place

"""Where jobs really stood in Slurm's queue, as accounting and configuration tell."""

from __future__ import annotations

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.inference.history import JobHistory
from queuesmith.cluster.requests import JobRequests
from queuesmith.engine.kernels.slurm_usage import follow_usage
from queuesmith.engine.slurm_jobs import job_table
from queuesmith.engine.slurm_knobs import knobs, weights
from queuesmith.engine.slurm_worth import Floats, fair_shares, frozen, worth
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.workload.workload import Ints

#: So many numbers are kept at most of everybody's shares over time.
MOST_FACTORS = 20_000_000
#: The calculations about an instant that may have been the last one by then.
ABOUT = np.array([[-1], [0], [1]])


class QueueStanding:
    """The priorities that jobs really had, worked out from who used how much until then.

    Parameters
    ----------
    seen
        The jobs, and when they ran.
    machine, requests, settings
        Their machine, what they ask of it, and how Slurm was set up.
    """

    def __init__(
        self,
        seen: JobHistory,
        machine: NodeCluster,
        requests: JobRequests,
        settings: SlurmSettings,
    ) -> None:
        self._eligible, self._seen = requests.eligible, seen
        self._worth = worth(seen.workload, machine, requests, settings)
        on = settings.multifactor
        self._age = settings["PriorityWeightAge"] / settings["PriorityMaxAge"] if on else 0.0
        self._oldest = settings["PriorityMaxAge"]
        self._fair = settings["PriorityWeightFairshare"] if on else 0.0
        self._period = int(settings["PriorityCalcPeriod"])
        self._first = int(seen.start[seen.ran].min())
        # Nobody's factor, which is 0, stands last, where a link of -1 finds it.
        self._factor = np.pad(self._factors(machine, requests, settings), ((0, 0), (0, 1)))

    def _factors(
        self, machine: NodeCluster, requests: JobRequests, settings: SlurmSettings
    ) -> Floats:
        """Return everybody's factor at each calculation, one row a calculation."""
        jobs, seen = self._seen.workload, self._seen
        shares, self._link = fair_shares(jobs, machine, requests)
        rows = int(seen.end[seen.ran].max() - self._first) // self._period + 2
        if not self._fair or rows * len(shares.usage) > MOST_FACTORS:
            self.knows_shares = not self._fair
            return np.zeros((1, len(shares.usage)))
        self.knows_shares = True
        order = np.flatnonzero(seen.ran)[np.argsort(seen.start[seen.ran], kind="stable")]
        factors = np.zeros((rows, len(shares.usage)))
        table = job_table(jobs, machine, requests, self._link)
        follow_usage(
            *(shares, knobs(jobs, settings), weights(settings)),
            *(frozen(table[:, order]), frozen(self._worth[:, order])),
            *(seen.start[order], seen.end[order], np.zeros(len(order), np.int64), factors),
        )
        return factors

    def lead(self, job: int, others: Ints, at: Ints | int) -> Floats:
        """Return by how much a job is ahead of others at an instant, or at one for each, at least.

        When priorities were calculated is not known: of the three calculations about an instant
        the one counts that speaks least for the job. Among equals the first to come is ahead.
        """
        rows = self._rows(self._row(at) + ABOUT)
        fair = self._factor[rows, self._link[job]] - self._factor[rows, self._link[others]]
        first = (self._eligible[job] < self._eligible[others]) * 0.5
        ahead = self._steady(job, at) - self._steady(others, at)
        least: Floats = ahead + self._fair * fair.min(axis=0) + first
        return least

    def head(self, jobs: Ints, at: int) -> int:
        """Return the job that is ahead of all others at an instant, -1 where that is not sure."""
        if not len(jobs):
            return -1
        fair = self._factor[self._row(at), self._link[jobs]]
        head = int(jobs[np.argmax(self._steady(jobs, at) + self._fair * fair)])
        others = jobs[jobs != head]
        return head if (self.lead(head, others, at) > 0).all() else -1

    def _steady(self, jobs: Ints | int, at: Ints | int) -> Floats:
        """Return what is not fair-share, as whole numbers as in Slurm's queue."""
        age = np.minimum(at - self._eligible[jobs], self._oldest)
        steady: Floats = np.floor(self._worth[0, jobs] + self._age * age)
        return steady

    def _row(self, at: Ints | int) -> Ints:
        """Return which calculation was the last at an instant, if they kept to their times."""
        return self._rows((at - self._first) // self._period)

    def _rows(self, rows: Ints | int) -> Ints:
        """Return rows of factors, the nearest for those that there are none of."""
        return np.maximum(np.minimum(rows, len(self._factor) - 1), 0)  # quicker than clip

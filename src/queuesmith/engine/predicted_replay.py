"""A replay in which runtimes are foretold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.compiled import load
from queuesmith.engine.kernels.constants import COUNTERS
from queuesmith.engine.kernels.predicted_replay import (
    BY_STEPS,
    TO_REQUEST,
    PredictedJobs,
    PredictedReplay,
    run_predicted,
)
from queuesmith.engine.packing import Packed, frozen
from queuesmith.policy.predicted import Predicted
from queuesmith.prediction.kernels.learner import (
    BLEND,
    KNOWN,
    LAST2,
    LINEAR,
    REQUEST,
    new_learner,
)
from queuesmith.schedule.reservations import RequestAnswer


def kinds_of(jobs: Any) -> NDArray[np.int64]:
    """Return a number for each user's jobs of one request and one number of cores."""
    columns = np.stack([jobs.user, jobs.walltime, jobs.cores], axis=1)
    numbers = np.unique(columns, axis=0, return_inverse=True)[1]
    return numbers.ravel().astype(np.int64)


KINDS = {"request": REQUEST, "known": KNOWN, "last2": LAST2, "linear": LINEAR, "blend": BLEND}
CORRECTIONS = {"request": TO_REQUEST, "steps": BY_STEPS}


class PredictedRun:
    """The state of such a replay, and how it is run."""

    decisions = None
    answers: tuple[RequestAnswer, ...] = ()

    def __init__(self, packed: Packed, policy: Predicted) -> None:
        load(run_predicted)
        jobs, count = packed.jobs, len(packed.jobs.submit)
        self._cores, self._policy = packed.cluster.cores, policy
        self.counters: NDArray[np.int64] = np.zeros(COUNTERS, np.int64)
        users = int(jobs.user.max()) + 1
        self._replay = PredictedReplay(
            PredictedJobs(
                jobs.submit,
                jobs.runtime,
                jobs.walltime,
                jobs.cores,
                jobs.user,
                frozen(packed.rank(policy.order)),
            ),
            new_learner(users, kinds_of(jobs), policy.quantile, policy.step),
            predicted=np.zeros(count, np.int64),
            corrections=np.zeros(count, np.int64),
            queue=np.zeros(count + 1, np.int64),
            short=np.zeros(count + 1, np.int64),
            end=np.zeros(min(count, self._cores) + 1, np.int64),
            due=np.zeros(min(count, self._cores) + 1, np.int64),
            start=np.full(count, -1, np.int64),
            counters=self.counters,
        )

    def run(self) -> NDArray[np.int64]:
        """Replay all jobs and return their starts."""
        policy = self._policy
        run_predicted(
            self._replay,
            self._cores,
            KINDS[policy.predictor],
            CORRECTIONS[policy.correction],
            policy.backfill == "shortest",
        )
        start: NDArray[np.int64] = self._replay.start
        return start

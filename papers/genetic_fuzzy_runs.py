"""The replays and learning runs of the genetic fuzzy study, each kept as a piece of one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import queuesmith as qs
from papers import genetic_fuzzy_logs as logs
from papers.genetic_fuzzy_approaches import APPROACHES, BEFORE_THE_GUARD, THIRTEEN, find_approach
from papers.genetic_fuzzy_logs import Scaling
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_worth import OBJECTIVE, gain, worth
from papers.kept_pieces import KeptPieces
from queuesmith.learning import tune
from queuesmith.learning.course import LearningProgress
from queuesmith.learning.offline_front import Front
from queuesmith.learning.result import Tuned
from queuesmith.learning.split import split_in_time
from queuesmith.learning.verdict import Verdict
from queuesmith.study.store import fingerprint

#: Learned on all, as the paper does; or on the first 70 % of the time, judged on the rest.
SPLITS = {"all": None, "held out": 0.7}


class Runs:
    """Makes the pieces of one log, or reads them.

    Parameters
    ----------
    kept
        Where they are kept.
    name
        The log, as the paper calls it.
    scaling
        How it is scaled.
    workers
        How many replays run at once; None where nothing is made that is not kept.
    folder
        Where learning runs are recorded while they go on, so that they can be resumed.
    """

    def __init__(
        self,
        kept: KeptPieces,
        name: str,
        scaling: Scaling,
        *,
        workers: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self.kept, self.name, self.scaling = kept, name, scaling
        self.workers, self.folder = workers, folder

    @cached_property
    def log(self) -> qs.Workload:
        """The log, scaled."""
        return logs.read_log(self.name, self.scaling)

    def piece(self, what: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
        """Return a piece of this log; None where it is not kept and nothing may be made."""
        whole = f"{self.name}, {self.scaling}: {what}"
        return self.kept.piece(whole, make if self.workers is not None else None)

    def fixed(self) -> dict[str, Any] | None:
        """Return what the thirteen fixed strategies are worth on all and on both parts."""
        return self.piece("fixed strategies", self._fixed)

    def _fixed(self) -> dict[str, Any]:
        parts = split_in_time(self.log, SPLITS["held out"])
        assert parts.held_out is not None
        favoured = self.log.select(self.log.group <= 2)
        alone = qs.simulate(favoured, qs.Cluster(logs.CORES), "group+easy")
        found = {"all": self.log, "first part": parts.learning, "rest": parts.held_out}
        return {
            "jobs": {part: len(jobs) for part, jobs in found.items()},
            "alone": round(alone.value(OBJECTIVE), 3),
            **{part: self._worth(jobs, THIRTEEN) for part, jobs in found.items()},
        }

    def _worth(self, jobs: qs.Workload, policies: tuple[str, ...]) -> dict[str, Any]:
        found = qs.simulate_many(jobs, qs.Cluster(logs.CORES), policies, workers=self.workers)
        return {schedule.policy: worth(schedule) for schedule in found}

    def learned(
        self, approach: str, part: str, seed: int, others: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """Return what an approach learns, with other settings where these are given."""
        what = f"{approach}, {part}, seed {seed}"
        if others:
            what += f", set {fingerprint(dict(others))[:8]}"
        return self.piece(what, lambda: self._learned(approach, part, seed, others, what))

    def _learned(
        self, approach: str, part: str, seed: int, others: Mapping[str, Any] | None, what: str
    ) -> dict[str, Any]:
        chosen, cpu = find_approach(approach), time.process_time()
        tuned = tune(
            self.log,
            qs.Cluster(logs.CORES),
            OBJECTIVE,
            chosen.method(others),
            longest_wait=chosen.longest_wait,
            seed=seed,
            split=SPLITS[part],
            workers=self.workers,
            store=self._record(what),
            progress=_Teller(f"{self.name} {what}"),
        )
        return {
            "evaluations": tuned.evaluations,
            "seconds": round(tuned.seconds, 1),
            "cpu": round(time.process_time() - cpu, 1),
            **_judged(tuned),
            "course": _course(tuned),
            "policy": with_nine_digits(tuned.policy.to_dict()),
        }

    def _record(self, what: str) -> Path | None:
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{self.name}, {self.scaling}, {what}.sqlite".replace(" ", "-")


def _course(tuned: Tuned) -> dict[str, float | None]:
    """Return f of the mean child at first and at last, and of the best.

    The first round has parents from chance, or the best fixed strategy, so it does not count.
    """
    means = [step.mean for step in tuned.history[1:] if step.mean is not None]
    ends = {"at first": means[0], "at last": means[-1]} if means else {}
    return {name: _rounded(f) for name, f in {**ends, "best": tuned.history[-1].best}.items()}


def _judged(tuned: Tuned) -> dict[str, Any]:
    found = {"learning": _verdict(tuned.learning)}
    if tuned.held_out is not None:
        found["held out"] = _verdict(tuned.held_out)
    return found


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return what the study keeps of a verdict."""
    others = {"baseline": verdict.baseline, "best fixed": verdict.best_fixed}
    return {
        "learned": worth(verdict.learned),
        "best fixed": verdict.best_fixed.policy,
        "gain": {part: gain(verdict.learned, schedule) for part, schedule in others.items()},
    }


def with_nine_digits(content: Any) -> Any:
    """Return a policy's content with nine digits of each number: half as long to keep."""
    match content:
        case float():
            return float(f"{content:.9g}")
        case list():
            return [with_nine_digits(each) for each in content]
        case dict():
            return {name: with_nine_digits(each) for name, each in content.items()}
    return content


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


class _Teller:
    """Says every tenth of a long run where it is."""

    def __init__(self, task: str) -> None:
        self._task, self._told = task, 0

    def __call__(self, state: LearningProgress) -> None:
        if int(10 * state.share) > self._told:
            self._told = int(10 * state.share)
            print(f"{self._task}: {state}", flush=True)


def kept_results(kept: KeptPieces, fronts: Path, scaling: Scaling) -> list[Results]:
    """Return what is kept of each log that has anything, runs with other settings apart."""
    found = []
    for name in logs.LOGS:
        fixed = Runs(kept, name, scaling).fixed()
        if fixed is not None:
            found.append(Results(name, fixed, _runs_of(kept, name, scaling), _front(fronts, name)))
    return found


def _runs_of(
    kept: KeptPieces, name: str, scaling: Scaling
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for approach in (*APPROACHES, *BEFORE_THE_GUARD):
        for part in SPLITS:
            start = f"{name}, {scaling}: {approach}, {part}, seed "
            own = [each for each in kept.names(start) if ", set " not in each]
            found[approach, part] = [kept[each] for each in sorted(own)]
    return found


def _front(folder: Path, name: str) -> Front | None:
    path = folder / f"{name.replace(' ', '')}.json.gz"
    return Front.load(path) if path.exists() else None

"""The course of a run: ask the learner, judge, tell it, and remember how that went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from queuesmith.learning.method import Learning, Method
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.study.judgement import Judgement
from queuesmith.study.rounds import Round, Rounds
from queuesmith.study.store import Store, fingerprint


class Evaluate(Protocol):
    """Judges policies, in their order."""

    def __call__(self, policies: Sequence[AnyPolicy]) -> Sequence[Judgement]:
        """Return the judgements."""


@dataclass(frozen=True)
class Step:
    """Where a run stands after a round.

    Parameters
    ----------
    evaluations
        How many policies have been judged so far.
    best, mean
        The best value so far, and the mean of this round's; None where all were given up or not
        admitted.
    """

    evaluations: int
    best: float | None
    mean: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the step, ready for JSON."""
        return {"evaluations": self.evaluations, "best": self.best, "mean": self.mean}


@dataclass(frozen=True)
class LearningProgress:
    """What somebody who waits wants to know.

    Parameters
    ----------
    round, rounds
        Which round is done, of how many; round 0 of an evolution strategy is its first parents.
    evaluations, best
        As of :class:`Step`.
    rate
        Evaluations a second since this process began to judge; None before the first.
    seconds_left
        How long the rest will take at this rate; None where that is not known.
    policy
        The best policy so far, for whoever does not want to wait for the end.
    """

    round: int
    rounds: int
    evaluations: int
    best: float | None
    rate: float | None
    seconds_left: float | None
    policy: AnyPolicy | None = None

    @property
    def share(self) -> float:
        """The share of the rounds that are done."""
        return min(self.round / self.rounds, 1.0)

    def __str__(self) -> str:
        rate = "" if self.rate is None else f", {self.rate:.3g} evaluations a second"
        best = "none yet" if self.best is None else f"{self.best:,.6g}"
        return f"round {self.round} of {self.rounds}, best {best}{rate}"


@dataclass(frozen=True)
class Course:
    """How a run went, and what was learned."""

    policy: AnyPolicy
    steps: tuple[Step, ...]
    evaluations: int
    seconds: float


def run(
    method: Method,
    learning: Learning,
    evaluate: Evaluate,
    *,
    higher_is_better: bool = False,
    store: Store | None = None,
    progress: Callable[[LearningProgress], None] | None = None,
) -> Course:
    """Let a learner learn to its end.

    Parameters
    ----------
    method, learning
        What is learned by, and the conversation that it has begun.
    evaluate
        Judges policies.
    higher_is_better
        Whether losses are negated values, so that the course shows values again.
    store
        Where rounds are recorded; those that it has already are not judged again.
    progress
        Is called after each round.
    """
    rounds = Rounds(store)
    watch = _Watch(method, progress)
    steps: list[Step] = []
    best: Judgement | None = None
    leader: AnyPolicy | None = None
    sign = -1.0 if higher_is_better else 1.0
    judged: list[Judgement] | None = None
    while True:
        try:
            policies = learning.send(judged) if judged is not None else next(learning)
        except StopIteration as end:
            return Course(end.value, tuple(steps), _judged(steps), watch.seconds)
        round = rounds.next(_question(policies), _judging(evaluate, policies))
        judged = [Judgement.from_json(answer) for answer in round.answers]
        foremost = min(range(len(judged)), key=judged.__getitem__)
        if best is None or judged[foremost] < best:
            best, leader = judged[foremost], policies[foremost]
        value = sign * best.value if best.admitted else None
        steps.append(Step(_judged(steps) + len(policies), value, _mean(judged, sign)))
        watch.note(round, steps, leader)


def _mean(judged: Sequence[Judgement], sign: float) -> float | None:
    """Return the mean value of a round, without those that were given up or not admitted."""
    admitted = [sign * each.value for each in judged if each.admitted]
    return sum(admitted) / len(admitted) if admitted else None


def _judged(steps: Sequence[Step]) -> int:
    return steps[-1].evaluations if steps else 0


def _judging(evaluate: Evaluate, policies: Sequence[AnyPolicy]) -> Callable[[], list[Any]]:
    return lambda: [judgement.to_json() for judgement in evaluate(policies)]


def _question(policies: Sequence[AnyPolicy]) -> str:
    return fingerprint([policy.content() for policy in policies])


class _Watch:
    """Counts the seconds of a run, those before an interruption too, and reports."""

    def __init__(self, method: Method, report: Callable[[LearningProgress], None] | None) -> None:
        self._method = method
        self._report = report
        self.seconds = 0.0
        self._fresh_seconds = 0.0
        self._fresh = 0

    def note(self, round: Round, steps: Sequence[Step], leader: AnyPolicy | None) -> None:
        self.seconds += round.seconds
        if round.fresh:
            self._fresh_seconds += round.seconds
            self._fresh += len(round.answers)
        if self._report is None:
            return
        rate = self._fresh / self._fresh_seconds if self._fresh_seconds > 0 else None
        left = self._method.evaluations - steps[-1].evaluations
        seconds_left = None if rate is None else max(left, 0) / rate
        last = steps[-1]
        total = self._method.rounds
        self._report(
            LearningProgress(
                len(steps), total, last.evaluations, last.best, rate, seconds_left, leader
            )
        )

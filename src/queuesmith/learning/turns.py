"""Learners that take turns, until the best of them goes on alone."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from queuesmith.learning.method import Best, Learning
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.study.judgement import Judgement


def in_turns(
    learnings: Sequence[Learning], rounds: int, together: int
) -> Generator[Sequence[AnyPolicy], Sequence[Judgement], Best]:
    """Let learners take turns; return the best that any of them has found.

    Parameters
    ----------
    learnings
        The learners. None may end before its turns do.
    rounds
        How often they ask, all together.
    together
        In how many rounds they take turns, the first first; in those left the one with the best
        policy asks.
    """
    running = [_Running(learning) for learning in learnings]
    for round in range(rounds):
        foremost = min(running, key=_judgement)
        turn = running[round % len(running)] if round < together else foremost
        turn.tell((yield turn.ask()))
    return min(running, key=_judgement).found


class _Running:
    """A learner under way: what it asked last, what it was told, the best of that."""

    def __init__(self, learning: Learning) -> None:
        self._learning = learning
        self._asked: Sequence[AnyPolicy] = ()
        self._told: Sequence[Judgement] | None = None
        self.found = Best()

    def ask(self) -> Sequence[AnyPolicy]:
        """Pass on what it was told, and return what it wants judged next."""
        told = self._told
        self._asked = next(self._learning) if told is None else self._learning.send(told)
        return self._asked

    def tell(self, judged: Sequence[Judgement]) -> None:
        """Note the answer, for when it is its turn again."""
        self.found.note(self._asked, judged)
        self._told = judged


def _judgement(running: _Running) -> Judgement:
    return running.found.judgement

"""A run as a conversation: questions are asked, answers come back, and both are recorded.

To resume, the conversation is held again with the answers that are known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from queuesmith.base.errors import UsageError
from queuesmith.study.store import Store


@dataclass(frozen=True)
class Round:
    """One exchange of a run.

    Parameters
    ----------
    question
        A fingerprint of what was asked.
    answers
        What came back, ready for JSON.
    seconds
        How long that took.
    fresh
        Whether it was answered now, not taken from a record.
    """

    question: str
    answers: list[Any]
    seconds: float
    fresh: bool = True


class Rounds:
    """The rounds of one run, in their order; those that are recorded are not answered again.

    Parameters
    ----------
    store
        Where rounds are recorded; None where they are not.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._number = 0

    def next(self, question: str, answer: Callable[[], list[Any]]) -> Round:
        """Return the next round: as it was recorded, or answered now and then recorded."""
        key = f"round {self._number}"
        known = None if self._store is None else self._store.get(key)
        if known is not None:
            round = Round(**json.loads(known), fresh=False)
            self._check_same(round, question)
        else:
            began = time.perf_counter()
            answers = answer()
            round = Round(question, answers, time.perf_counter() - began)
            self._record(key, round)
        self._number += 1
        return round

    def _record(self, key: str, round: Round) -> None:
        if self._store is not None:
            kept = {name: getattr(round, name) for name in ("question", "answers", "seconds")}
            self._store.put(key, json.dumps(kept).encode())

    def _check_same(self, round: Round, question: str) -> None:
        if round.question != question and self._store is not None:
            raise UsageError(
                f"'{self._store.path}' cannot be resumed: round {self._number} asks for other "
                "policies than were recorded, as happens where another version of Queuesmith or "
                "of its libraries began the run. Name another file to begin anew."
            )

"""Conversations that are recorded: known answers are not asked for again."""

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.study.rounds import Rounds
from queuesmith.study.store import Store


def never():
    raise AssertionError("asked again")


def test_known_answers_are_not_asked_for_again(tmp_path):
    with Store(tmp_path / "run", {}) as store:
        rounds = Rounds(store)
        first = rounds.next("a", lambda: [1.5, 0.1 + 0.2])
        assert first.fresh
    with Store(tmp_path / "run", {}) as store:
        rounds = Rounds(store)
        again = rounds.next("a", never)
        assert (again.answers, again.seconds, again.fresh) == (first.answers, first.seconds, False)
        assert rounds.next("b", lambda: [2]).answers == [2]
        assert len(store) == 2


def test_another_question_is_no_resumption(tmp_path):
    with Store(tmp_path / "run", {}) as store:
        Rounds(store).next("a", lambda: [1])
        with pytest.raises(UsageError, match="cannot be resumed: round 0 asks for other"):
            Rounds(store).next("b", never)


def test_without_a_record_all_is_asked():
    rounds = Rounds()
    assert rounds.next("a", lambda: [1]).answers == [1]
    assert rounds.next("a", lambda: [2]).answers == [2]

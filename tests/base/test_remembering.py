import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from queuesmith.base.remembering import Recent, done_once, remembered


class Thing:
    pass


def test_a_thing_is_asked_once_for_each_question_and_not_kept_alive():
    asked = []

    @remembered
    def answer(thing, question):
        asked.append(question)
        return question * 2

    thing = Thing()
    assert [answer(thing, 1), answer(thing, 1), answer(thing, 2)] == [2, 2, 4]
    assert asked == [1, 2]
    assert answer(Thing(), 1) == 2
    assert asked == [1, 2, 1]
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_what_takes_long_is_done_once_however_many_threads_ask():
    begun, asked = [], threading.Barrier(4)

    @done_once
    def slow(number):
        begun.append(number)
        time.sleep(0.01)
        return 2 * number

    def ask(number):
        asked.wait()
        return slow(number)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, [7, 7, 7, 7])) == [14, 14, 14, 14]
    assert begun == [7]


def test_a_thing_is_made_once():
    made = []
    recent = Recent(2)
    assert [recent.get("a", lambda: made.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert len(made) == 1


def test_of_too_many_the_one_not_asked_for_longest_goes():
    recent = Recent(2)
    for name in ("a", "b", "a", "c"):
        recent.get(name, str)
    assert [name in recent for name in "abc"] == [True, False, True]


def test_what_cannot_be_made_is_not_kept():
    recent = Recent(2)
    with pytest.raises(ZeroDivisionError):
        recent.get("a", lambda: 1 // 0)
    assert recent.get("a", lambda: 5) == 5


def test_threads_share_what_one_of_them_has_made():
    made = []
    recent = Recent(4)
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda n: recent.get(n % 4, lambda: made.append(n) or n % 4), range(64))
    assert sorted(found) == sorted(n % 4 for n in range(64))
    assert len(made) == 4

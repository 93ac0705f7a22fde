import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

from queuesmith.base.remembering import done_once, remembered


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

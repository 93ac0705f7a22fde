import gc
import weakref

from queuesmith.base.remembering import remembered


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

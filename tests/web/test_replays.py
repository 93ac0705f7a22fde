import threading
import time

import pytest

from queuesmith.base.errors import CancelledError, PolicyError
from queuesmith.engine.simulate import Replay
from queuesmith.schedule import Schedule
from queuesmith.schedule.verify import verify
from queuesmith.web.replays import Question, SupersededError
from queuesmith.web.state import Column, Filters
from tests.web.conftest import small_log


@pytest.fixture
def desk(make_page):
    context, _ = make_page(small_log())
    yield context.desk
    context.desk.close()


def question(policy="fcfs+easy", **beside):
    return Question("small", Filters(), Column(policy, **beside))


@pytest.fixture
def slow(monkeypatch):
    """Replays that go on until they are cancelled; tells how many have begun."""
    begun = []

    class Endless:
        progress = 0.25

        def __init__(self, *_, **__):
            self.cancelled = threading.Event()

        def cancel(self):
            self.cancelled.set()

        def run(self):
            begun.append(self)
            assert self.cancelled.wait(30)
            raise CancelledError("cancelled")

    monkeypatch.setattr("queuesmith.web.replays.Replay", Endless)
    return begun


def asked(desk, tab, *questions):
    """Ask in a thread of its own; return it and where its outcome will be."""
    outcome = []

    def ask():
        try:
            outcome.append(desk.schedules(tab, questions))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, outcome


def until(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def test_a_column_is_replayed_with_its_load_and_on_its_machine(desk):
    plain, loaded, larger = desk.schedules(
        "tab", [question(), question(load=1.5), question(cores=128)]
    )
    for each in (plain, loaded, larger):
        verify(each)
    assert plain.wait.mean() < loaded.wait.mean()
    assert larger.wait.mean() < plain.wait.mean()
    assert loaded.policy == "fcfs+easy @ load=1.5"
    assert larger.cluster.cores == 128


def test_what_is_known_is_not_replayed_again(desk, monkeypatch):
    [first] = desk.schedules("one", [question()])
    monkeypatch.setattr(Replay, "run", lambda self: pytest.fail("replayed again"))
    [again] = desk.schedules("two", [question()])
    assert again is first


def test_one_bad_column_leaves_the_others(desk):
    good, bad = desk.schedules("tab", [question(), question("nonsense")])
    assert isinstance(good, Schedule)
    assert isinstance(bad, PolicyError)


def test_a_newer_question_of_a_tab_stops_the_older_replay(desk, slow):
    thread, outcome = asked(desk, "tab", question("sjf"))
    until(lambda: slow)
    newer, _ = asked(desk, "tab", question("ljf"))
    thread.join(30)
    assert isinstance(outcome[0], SupersededError)
    until(lambda: len(slow) == 2)
    assert slow[0].cancelled.is_set()
    assert not slow[1].cancelled.is_set()
    desk.cancel("tab")
    newer.join(30)


def test_a_replay_that_another_tab_waits_for_goes_on(desk, slow):
    first, _ = asked(desk, "one", question("sjf"))
    until(lambda: slow)
    second, _ = asked(desk, "two", question("sjf"))
    until(lambda: desk.progress("two") is not None)
    desk.cancel("one")
    assert len(slow) == 1
    assert not slow[0].cancelled.is_set()
    desk.cancel("two")
    assert slow[0].cancelled.is_set()
    first.join(30)
    second.join(30)


def test_a_stop_is_told_apart_from_a_newer_question(desk, slow):
    thread, outcome = asked(desk, "tab", question("sjf"))
    until(lambda: slow)
    assert desk.progress("tab") == 0.25
    assert desk.progress("another") is None
    desk.cancel("tab")
    thread.join(30)
    assert isinstance(outcome[0], CancelledError)


def test_ten_tabs_at_once_do_not_mix(desk):
    found = {}

    def ask(number):
        for load in (1.0, 1 + number / 10):  # each moves on to a load of its own
            found[number] = desk.schedules(f"tab {number}", [question("power+easy", load=load)])

    tabs = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    names = [found[number][0].policy for number in range(10)]
    assert names == ["power+easy", *(f"power+easy @ load={1 + n / 10:g}" for n in range(1, 10))]

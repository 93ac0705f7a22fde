"""Live: what the page makes of a look at a running Slurm."""

import threading

import pytest

from queuesmith.base.errors import CancelledError, PolicyError, UsageError
from queuesmith.live.commands import NoAnswerError
from queuesmith.policy import as_policy
from queuesmith.web import live_desk, live_view
from queuesmith.web.live_desk import MOST_LOOKS, LiveDesk
from queuesmith.web.state import PageState
from tests.live.conftest import slurm, slurm_commands  # noqa: F401
from tests.web.conftest import small_log, words_of


@pytest.fixture
def desk() -> LiveDesk:
    return LiveDesk()


def test_a_look_shows_the_queue_and_why_each_job_waits(desk, slurm):  # noqa: F811
    slurm.job(4, reason="JobHeldUser")
    shown = words_of(live_view.now_view(desk.look(30)))
    assert "atlas, Slurm 22.05.8" in shown
    assert "16 of 16 cores in use by 1 job; 3 jobs wait" in shown
    assert "it needs 4 cores of partition day, where 0 are free" in shown
    assert "it is held (JobHeldUser)" in shown
    assert slurm.told == []


def test_forecasts_are_shown_with_what_they_rest_on(desk, slurm):  # noqa: F811
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    seen = desk.look(30)
    expected = desk.forecast("tab", seen, 5)
    shown = words_of(live_view.forecast_view(seen, expected))
    assert "There is no accounting" in shown
    assert [each.job.id for each in expected] == [2, 3, 4]
    [marks] = live_view.starts_figure(expected)["data"]
    assert marks["y"] == ["job 2", "job 3", "job 4"]
    assert marks["x"] == sorted(marks["x"])
    assert live_view.starts_figure([])["data"] == []
    assert desk.forecast("tab", seen, 5) is expected  # not replayed again


def test_what_a_policy_would_change_is_shown_and_nothing_is_changed(desk, slurm):  # noqa: F811
    slurm.job(4, account="chem")
    given = desk.advice(desk.look(30), as_policy("sjf+easy"), "account")
    shown = words_of(live_view.advice_view(given))
    assert "sjf+easy would move 2 of 3 jobs" in shown
    assert "chem" in shown
    assert "scontrol update JobId=4 SiteFactor=" in shown
    assert slurm.told == []


def test_a_slurm_that_is_away_is_told_in_a_sentence(desk, slurm, make_page):  # noqa: F811
    context, _ = make_page(small_log())
    slurm.set(down=True)
    _, notices = live_view._look(context, 1, "5")
    assert "slurmctld does not answer" in words_of(notices)
    _, notices = live_view._look(context, 1, "soon")
    assert "must be a number from 0.1 to 600" in words_of(notices)
    assert context.live.newest is None
    with pytest.raises(NoAnswerError):
        desk.look(30)


def test_a_command_that_takes_too_long_is_given_up(desk, slurm_commands):  # noqa: F811
    path = slurm_commands.folder / "scontrol"
    path.write_text("#!/bin/sh\nexec /bin/sleep 20\n")
    with pytest.raises(NoAnswerError, match=r"has not answered within 0\.2 s"):
        desk.look(0.2)


def test_old_looks_are_forgotten_and_the_tab_is_told(desk, slurm):  # noqa: F811
    first = desk.look(30)
    for _ in range(MOST_LOOKS):
        desk.look(30)
    assert desk.newest.number == MOST_LOOKS + 1
    with pytest.raises(UsageError, match="Look again"):
        desk.seen(first.number)


def test_who_asks_while_a_look_is_under_way_shares_it(desk, slurm, monkeypatch):  # noqa: F811
    begun, go_on, looks = threading.Event(), threading.Event(), []
    really = live_desk.look

    def slowly(**options):
        begun.set()
        assert go_on.wait(30)
        looks.append(really(**options))
        return looks[-1]

    monkeypatch.setattr(live_desk, "look", slowly)
    found = []
    one = threading.Thread(target=lambda: found.append(desk.look(30)))
    one.start()
    assert begun.wait(30)
    other = threading.Thread(target=lambda: found.append(desk.look(30)))
    other.start()
    threading.Timer(0.2, go_on.set).start()
    one.join()
    other.join()
    assert len(looks) == 1
    assert found[0] is found[1]


def test_a_forecast_can_be_stopped(desk, slurm, monkeypatch):  # noqa: F811
    seen = desk.look(30)

    def long_forecast(*nouns, tick, **options):
        tick(0.5)
        assert desk.progress("tab") == 0.5
        desk.cancel("tab")
        tick(0.6)

    monkeypatch.setattr(live_desk, "forecast", long_forecast)
    with pytest.raises(CancelledError):
        desk.forecast("tab", seen, 50)
    assert desk.progress("tab") is None


def test_the_view_offers_no_more_than_there_is(make_page, slurm_commands, monkeypatch):  # noqa: F811
    context, _ = make_page(small_log())
    state = PageState(tab="live", columns=context.columns)
    assert "Look now" in words_of(live_view.view(state, context))
    monkeypatch.setenv("PATH", "/nowhere")
    assert words_of(live_view.view(state, context)) == live_view.NO_SLURM


def test_a_policy_that_does_not_exist_is_told(make_page, slurm):  # noqa: F811
    context, _ = make_page(small_log())
    seen = context.live.look(30)
    _, query, notices = live_view._advice(
        context, seen.number, "nonsense+easy", "user", "?tab=live"
    )
    assert "nonsense" in words_of(notices)
    assert "policy=nonsense" in query
    with pytest.raises(PolicyError):
        context.policies.policy("my.py:mine")

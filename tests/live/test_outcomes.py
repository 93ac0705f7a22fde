"""What came of earlier forecasts, and what that says of the next ones."""

import numpy as np
import pytest

from queuesmith.live import outcomes as module
from queuesmith.live.outcomes import GRACE, MARK, MOST, Noted, Outcomes, quantile

MANY = 500


def noted(factor, count=300, late=600.0):
    """Forecasts of jobs that then waited so many times the late mark."""
    return [
        Noted(i, 0, 0, late / 2, late, late, round(factor * (late + GRACE) - GRACE), started=True)
        for i in range(count)
    ]


def corrected(learned, half=300.0, late=600.0):
    found = learned.corrected(np.array([half]), np.array([late]), np.array([0.0]))
    return [float(each[0]) for each in found]


def test_marks_of_an_unknown_cluster_are_moved_by_what_came_elsewhere():
    half, late = corrected(Outcomes())
    assert half == pytest.approx(300)
    moved = np.exp(module.ELSEWHERE.inv_cdf(MARK))
    assert late == pytest.approx(moved * (600 + GRACE) - GRACE, rel=0.03)


def test_the_cluster_itself_counts_more_with_each_job():
    marks = [corrected(Outcomes(noted(2, count=count)))[1] for count in (0, 5, 60)]
    assert marks[0] < marks[1] <= marks[2] == pytest.approx(1260, abs=1)
    assert corrected(Outcomes(noted(2, count=199)))[0] == pytest.approx(300)


def test_a_job_that_is_foretold_again_and_again_has_one_vote():
    again = noted(2, count=60)
    for each in again:
        each.job = 1
    late = corrected(Outcomes(again))[1]
    assert late == pytest.approx(corrected(Outcomes(again[:1]))[1], rel=0.01)
    assert late < corrected(Outcomes(noted(2, count=60)))[1]


@pytest.mark.parametrize("factor", [0.2, 2.0])
def test_marks_are_moved_by_what_came(factor):
    half, late = corrected(Outcomes(noted(factor)))
    assert half == pytest.approx(factor * (600 + GRACE) - GRACE, abs=1)  # all waited equally long
    assert (late > 600) == (factor > 1)


def test_only_forecasts_that_are_alike_count():
    learned = Outcomes([*noted(2.0), *noted(1.0, late=60_000.0)])
    assert corrected(learned)[1] == pytest.approx(1260, abs=1)
    assert corrected(learned, 30_000.0, 60_000.0)[1] == pytest.approx(60_000, abs=1)


def test_a_quantile_counts_those_that_are_known_to_be_larger_only():
    values, known = np.array([3.0, 1.0, 4.0, 2.0]), np.ones(4, bool)
    assert [quantile(values, known, level) for level in (0.25, 0.5, 0.9)] == [1, 2, 4]
    # By Kaplan and Meier: of three at 2 one ends, of the two at 3 one.
    assert quantile(values, np.array([True, False, True, True]), 0.3) == 2
    assert quantile(values, np.array([True, False, True, True]), 0.6) == 3
    assert quantile(values, np.array([True, True, False, True]), 0.9) == 4


def test_of_forecasts_that_are_equally_alike_the_latest_count():
    early, late = noted(1.0, count=MANY), noted(2.0, count=module.ALIKE)
    for place, each in enumerate(late):
        each.job = MANY + place
    assert corrected(Outcomes([*early, *late]))[1] == pytest.approx(1260, abs=1)
    assert corrected(Outcomes([*late, *early]))[1] == pytest.approx(600, abs=1)


def test_jobs_that_still_wait_make_marks_later():
    started = noted(1.0, count=200)
    waiting = [Noted(1000 + i, 0, 0, 300.0, 600.0, 600.0, 2000) for i in range(40)]
    assert corrected(Outcomes([*started, *waiting]))[1] > corrected(Outcomes(started))[1]


def test_what_comes_is_learned_when_it_is_known_and_judged_once():
    learned = Outcomes()
    learned.expect([Noted(1, 100, 100, 10, 20, 20, 100), Noted(2, 100, 100, 10, 20, 20, 100)])
    learned.learn(110, lambda each: None)
    assert [each.until for each in learned.noted] == [110, 110] and learned.level(0) == MARK
    learned.learn(115, lambda each: 113 if each.job == 1 else None)
    assert learned.jobs == 1 and learned.level(0) < MARK  # one mark held
    before = learned.level(0)
    learned.learn(125, lambda each: None)  # the other has passed, whenever the job starts
    assert learned.level(0) == pytest.approx(before + 0.9 * module.STEP)
    level = learned.level(0)
    learned.learn(400, lambda each: 390)
    assert learned.level(0) == level and learned.jobs == 2


def test_a_job_has_one_vote_for_the_level_among_those_that_have_waited_as_long():
    hour, day = 3600, 86_400
    told = [Noted(1, 0, made, 1, 1, 1, day + 99, started=True) for made in (hour, hour + 9, day)]
    learned = Outcomes(told)
    learned.learn(2 * day, lambda each: None)
    assert learned.level(hour) == pytest.approx(MARK + 1.5 * 0.9 * module.STEP)
    assert learned.level(day) == pytest.approx(MARK + 0.9 * module.STEP)


def test_marks_of_jobs_that_have_waited_long_follow_their_own_misses():
    learned = Outcomes(Noted(i, 0, 86_400, 1, 1, 1, 86_500, started=True) for i in range(50))
    learned.learn(90_000, lambda each: None)
    assert learned.level(86_400) == learned.level(70_000) > MARK
    assert learned.level(0) == learned.level(3600) == MARK
    marks = [learned.corrected(*np.array([[300.0], [600.0], [wait]]))[1] for wait in (0, 86_400)]
    assert marks[1] >= marks[0]


def test_a_job_that_went_away_counts_until_it_was_last_seen():
    learned = Outcomes([Noted(1, 0, 100, 10, 20, 20, 100)])
    learned.learn(110, lambda each: None)
    learned.learn(500, lambda each: None, lambda each: False)
    assert learned.noted[0].until == 110 and not learned.noted[0].judged


def test_the_level_stays_within_its_bounds():
    learned = Outcomes(Noted(i, 0, 0, 1, 1, 1, 50, started=True) for i in range(500))
    learned.learn(60, lambda each: None)
    assert learned.level(0) == MOST

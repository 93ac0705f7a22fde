"""Learning again each month."""

import pytest

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.learning.evolution import Pittsburgh
from queuesmith.learning.rolling import roll, rolling_conclusion
from tests.learning.test_tune import busy_log

TINY = Pittsburgh(generations=1, parents=2, offspring=2, rules=2)


@pytest.fixture(scope="module")
def log():
    return busy_log()


def test_each_month_is_judged_by_what_was_learned_before_it(log):
    found = roll(log, cores=16, method=TINY, days=7, origins=2)
    assert [origin.day for origin in found] == [7, 14]  # the log has not quite four weeks
    begin = int(log.submit[0])
    for origin in found:
        border = begin + origin.day * 86_400
        assert (origin.tuned.learning.learned.workload.submit < border).all()
        judged = origin.next.learned.workload.submit
        assert ((judged >= border) & (judged < border + 7 * 86_400)).all()
        row = origin.row()
        assert row["jobs judged"] == len(judged)
        assert row["over fcfs+easy (%)"] == pytest.approx(
            origin.next.improvement_percent["baseline"], abs=0.01
        )


def test_a_month_without_jobs_of_a_group_that_counts_has_no_gain(log):
    first = log.select((log.group != 1) | (log.submit < log.submit[0] + 14 * 86_400))
    judged, empty = roll(first, cores=16, objective="awrt[1]", method=TINY, days=7, origins=2)
    assert judged.row()["over fcfs+easy (%)"] is not None
    assert empty.row()["over fcfs+easy (%)"] is None
    assert empty.row()["jobs judged"] > 0
    assert [origin.to_dict()["next"] is None for origin in (judged, empty)] == [False, True]
    assert " of 1 month," in rolling_conclusion([judged, empty])
    assert "Nothing says" in rolling_conclusion([empty])


def test_a_day_that_is_not_whole_is_not_rounded(log):
    (origin,) = roll(log, cores=16, method=TINY, days=6.5, origins=1)
    assert origin.row()["learned up to day"] == origin.day


def test_a_log_that_is_too_short_is_refused(log):
    with pytest.raises(WorkloadError, match="4 origins of 7 days need more than 35"):
        roll(log, cores=16, method=TINY, days=7, origins=4)


@pytest.mark.parametrize("asked", [{"days": 0}, {"origins": 0}, {"days": -1.5}])
def test_no_month_and_no_origin_are_refused(log, asked):
    with pytest.raises(UsageError):
        roll(log, cores=16, method=TINY, **asked)

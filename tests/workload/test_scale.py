"""Scaling to another machine: wider jobs, more jobs, nothing lost in silence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.workload import Workload
from queuesmith.workload.lublin import lublin
from queuesmith.workload.scale import scale


@pytest.fixture(scope="module")
def log():
    return lublin(4000, 100, seed=0, load=0.7)


@settings(max_examples=40, deadline=None)
@given(
    before=st.integers(1, 300),
    after=st.integers(1, 300),
    widen=st.floats(0, 1),
    seed=st.integers(0, 100),
)
def test_every_scaled_job_fits_the_new_machine(before, after, widen, seed):
    scaled = scale(lublin(60, 100, seed=1), before, after, seed=seed, widen=widen)
    assert np.all((scaled.cores >= 1) & (scaled.cores <= after))
    assert np.array_equal(scaled.id, np.arange(1, len(scaled) + 1))
    assert scaled.machine_cores == after


def test_the_same_seed_gives_the_same_workload(log):
    a, b, c = (scale(log, 100, 250, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(a.cores, b.cores)
    assert not np.array_equal(a.cores[:100], c.cores[:100])


def test_widening_all_jobs_multiplies_widths_only(log):
    scaled = scale(log, 100, 250, widen=1)
    assert len(scaled) == len(log)
    assert np.array_equal(scaled.cores, np.floor(log.cores * 2.5 + 0.5))


def test_widening_no_job_submits_copies_together(log):
    scaled = scale(log, 100, 300, widen=0)
    assert len(scaled) == 3 * len(log)
    for column in ("submit", "runtime", "walltime", "cores", "user"):
        assert np.array_equal(getattr(scaled, column), np.repeat(getattr(log, column), 3))


def test_the_fraction_of_the_factor_is_drawn_at_random(log):
    scaled = scale(log, 100, 240, widen=0)
    assert len(scaled) / len(log) == pytest.approx(2.4, rel=0.02)
    copies = np.bincount(np.searchsorted(np.unique(log.submit), scaled.submit))
    assert copies.min() >= 2


def test_the_load_stays_about_the_same(log):
    assert scale(log, 100, 237).load(237) == pytest.approx(log.load(100), rel=0.08)


def test_a_factor_of_one_changes_nothing(log):
    scaled = scale(log, 100, 100)
    assert np.array_equal(scaled.cores, log.cores)
    assert not scaled.changes


def test_a_smaller_machine_leaves_jobs_out_and_counts_them(log):
    scaled = scale(log, 100, 50, widen=0.5)
    assert scaled.dropped == len(log) - len(scaled) > 0
    assert len(scaled) / len(log) == pytest.approx(0.75, abs=0.03)
    assert any("narrowed" in str(change) for change in scaled.changes)
    assert "not drawn in scaling from 100 to 50 cores" in str(scaled.changes[0])


def test_earlier_changes_are_remembered(log):
    narrow = log.fitting(50)
    assert scale(narrow, 50, 100).changes[: len(narrow.changes)] == narrow.changes


def test_further_columns_come_along_but_history_does_not():
    log = Workload(
        [0, 10],
        [5, 5],
        [9, 9],
        [1, 2],
        user=[3, 4],
        extra={
            "queue": np.array([7, 8]),
            "real_start": np.array([1, 11]),
            "wait": np.array([1, 1]),
        },
        labels={"user": ("a", "b", "c", "d", "e"), "group": ("x",)},
        epoch=1000,
        header=("; MaxProcs: 4",),
        name="tiny",
    )
    scaled = scale(log, 4, 12, widen=0)
    assert set(scaled.extra) == {"queue"}
    assert scaled.extra["queue"].tolist() == [7, 7, 7, 8, 8, 8]
    assert scaled.label("user", 4) == "e"
    assert (scaled.epoch, scaled.name, scaled.header) == (1000, "tiny", ())
    assert "group" not in scaled.labels


def test_a_scaled_job_waits_for_no_number_that_is_another_job_now():
    after = {"after": np.array([-1, -1, 1]), "think_time": np.array([0, 0, 60])}
    log = Workload([0, 10, 20], [5, 5, 5], [9, 9, 9], [1, 2, 1], extra=after)
    scaled = scale(log, 4, 8, widen=0)
    assert not scaled.extra
    told = "1 job mended: waited for another job; waits for none after scaling"
    assert [str(change).partition(",")[0] for change in scaled.changes] == [told]


def test_groups_follow_the_shares_after_scaling(log):
    one_group = log.replaced(group=np.full(len(log), 9))
    assert np.array_equal(scale(one_group, 100, 100).group, log.group)


def test_an_empty_workload_stays_empty():
    assert len(scale(Workload([], [], [], []), 10, 20)) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"from_cores": 0}, "from_cores is 0"),
        ({"to_cores": -1}, "to_cores is -1"),
        ({"to_cores": 10.5}, "to_cores is 10.5"),
        ({"widen": 1.1}, "widen is 1.1, but it must be between 0 and 1"),
        ({"widen": float("nan")}, "widen is nan"),
        ({"seed": 0.5}, "the seed is 0.5"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(log, options, words):
    with pytest.raises(UsageError, match=words):
        scale(log, **{"from_cores": 100, "to_cores": 200, **options})


@pytest.mark.data
def test_ctc_on_1024_processors_has_1_7_jobs_for_each_of_the_log(data):
    swf = pytest.importorskip("queuesmith.workload.swf")
    log = swf.read_swf(data / "traces" / "CTC-SP2-1996-3.1-cln.swf.gz")
    scaled = scale(log, 430, 1024)
    assert len(scaled) / len(log) == pytest.approx(1.7, abs=0.03)
    assert set(scaled.group) == {1, 2, 3, 4, 5}
    assert scaled.load(1024) == pytest.approx(log.load(430), rel=0.03)

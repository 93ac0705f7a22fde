import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.grid.etc.describe import describe
from queuesmith.grid.etc.files import read_etc
from queuesmith.grid.etc.generate import (
    CONSISTENCIES,
    PRESETS,
    RangeModel,
    VariationModel,
    generate_etc,
    semi_consistent,
)


def test_there_is_a_preset_for_every_kind_of_both_methods():
    assert len(PRESETS) == 24
    assert PRESETS["u_c_hilo"] == RangeModel(3000, 10, "consistent")
    assert PRESETS["g_s_lohi"] == VariationModel(1000, 0.1, 0.6, "semi-consistent")


@pytest.mark.parametrize("kind", PRESETS)
def test_the_same_seed_gives_the_same_instance(kind):
    one, again, other = (generate_etc(kind, 30, 7, seed=seed) for seed in (5, 5, 6))
    assert (one.times == again.times).all()
    assert (one.times != other.times).any()
    assert one.name == f"{kind}.5"


@pytest.mark.parametrize("kind", [kind for kind in PRESETS if kind.startswith("u")])
def test_times_stay_within_their_ranges(kind):
    matrix = generate_etc(kind)
    model = PRESETS[kind]
    assert matrix.times.shape == (512, 16)
    assert matrix.times.min() >= 1
    assert matrix.times.max() <= model.job_range * model.machine_range
    assert matrix.times.max() > model.job_range * model.machine_range / 2


def test_uniform_times_have_the_mean_of_their_ranges():
    matrix = generate_etc("u_i_hihi", 2000, 50)
    assert matrix.times.mean() == pytest.approx(1500.5 * 500.5, rel=0.05)


@pytest.mark.parametrize(("job", "machine"), [(0.6, 0.6), (0.6, 0.1), (0.1, 0.1), (1.5, 0.3)])
def test_gamma_times_have_the_variations_asked_for(job, machine):
    model = VariationModel(500, job, machine)
    found = describe(generate_etc(model, 4000, 200))
    assert found.mean == pytest.approx(500, rel=0.1)
    assert found.machine_heterogeneity == pytest.approx(machine, rel=0.1)
    # On one machine, jobs vary by their own mean and by chance.
    among_jobs = np.sqrt((1 + job**2) * (1 + machine**2) - 1)
    assert found.job_heterogeneity == pytest.approx(among_jobs, rel=0.1)


def test_where_machines_vary_more_their_means_are_drawn_first():
    found = describe(generate_etc(VariationModel(500, 0.1, 0.6), 500, 400))
    assert found.job_heterogeneity == pytest.approx(0.1, rel=0.1)
    assert found.machine_heterogeneity == pytest.approx(0.6, rel=0.15)


def test_no_time_is_zero_however_much_they_vary():
    assert (generate_etc(VariationModel(1, 10, 10), 300, 30).times > 0).all()


def test_consistency_orders_all_machines_half_or_none():
    found = {
        letter: describe(generate_etc(f"u_{letter}_hihi", 200, 10)).consistent_pairs
        for letter in "csi"
    }
    assert found["c"] == 1
    assert found["s"] == pytest.approx(10 / 45)  # the pairs among five even columns
    assert found["i"] == 0


def test_odd_columns_of_a_semi_consistent_matrix_stay_as_drawn():
    times = np.random.default_rng(0).random((4, 5))
    mended = semi_consistent(times)
    assert (mended[:, 1::2] == times[:, 1::2]).all()
    assert (np.diff(mended[:, ::2]) >= 0).all()
    assert CONSISTENCIES["inconsistent"](times) is times


def test_a_share_of_pairs_can_be_impossible():
    matrix = generate_etc("u_i_hihi", 1000, 20, incompatible=0.3)
    assert describe(matrix).incompatible == pytest.approx(0.3 * 0.95, abs=0.02)
    alone = generate_etc("u_i_hihi", 100, 20, incompatible=1.0)
    assert (alone.compatible.sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: generate_etc("u_x_hihi"), "no kind of instance 'u_x_hihi'"),
        (lambda: generate_etc(jobs=0), "the number of jobs is 0"),
        (lambda: generate_etc(machines=-1), "the number of machines is -1"),
        (lambda: generate_etc(seed=-1), "the seed is -1"),
        (lambda: generate_etc(incompatible=2), "incompatible is 2"),
        (lambda: RangeModel(job_range=0), "job_range is 0"),
        (lambda: RangeModel(consistency="much"), "no consistency 'much'"),
        (lambda: VariationModel(mean=0), "mean is 0"),
        (lambda: VariationModel(machine_variation=0), "machine_variation is 0"),
    ],
)
def test_what_cannot_be_made_is_refused(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()


@pytest.mark.data
@pytest.mark.parametrize("kind", [kind for kind in PRESETS if kind.startswith("u")])
def test_made_instances_are_like_those_of_the_benchmark(data, kind):
    real, made = (
        describe(read_etc(data / "etc" / "512x16" / f"{kind}.0")),
        describe(generate_etc(kind, seed=1)),
    )
    for measure in ("job_heterogeneity", "machine_heterogeneity", "consistency"):
        assert getattr(made, measure) == pytest.approx(getattr(real, measure), rel=0.1)
    assert made.consistent_pairs == pytest.approx(real.consistent_pairs, abs=0.02)

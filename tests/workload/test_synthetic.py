"""The registry of generators and the workload of the demo."""

import numpy as np
import pytest

from queuesmith.workload.synthetic import GENERATORS, demo_workload


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_takes_the_same_keywords(name):
    workload = GENERATORS[name](
        300, 32, load=0.6, seed=2, estimates=False, users=10, name="of any kind"
    )
    assert len(workload) == 300
    assert workload.name == "of any kind"
    assert workload.machine_cores == 32
    assert workload.load(32) == pytest.approx(0.6, rel=0.01)
    assert np.array_equal(workload.walltime, workload.runtime)
    assert workload.user.max() <= 10


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_names_its_workload_after_itself(name):
    assert GENERATORS[name](10, 4).name == name


def test_the_demo_is_a_busy_machine_with_five_groups():
    demo = demo_workload()
    assert demo.name == "demo"
    assert len(demo) == 5000
    assert demo.machine_cores == 256
    assert demo.load(256) == pytest.approx(0.85, rel=0.01)
    assert set(demo.group) == {1, 2, 3, 4, 5}
    assert not demo.changes


def test_the_demo_is_the_same_every_time():
    first, second = demo_workload(), demo_workload()
    for column in ("submit", "runtime", "walltime", "cores", "user"):
        assert np.array_equal(getattr(first, column), getattr(second, column))

import numpy as np
import pytest

from queuesmith.learning.nsga_library import _directions, _find_distances_alone, _no_equals

pytest.importorskip("pymoo")


@pytest.mark.parametrize(("objectives", "most"), [(2, 9), (3, 15), (7, 84), (7, 83)])
def test_directions_are_those_of_pymoo_as_many_as_there_is_room_for(objectives, most):
    from pymoo.util.ref_dirs import get_reference_directions

    found = _directions(objectives, most)
    assert len(found) <= most
    whole = round(1 / found[found > 0].min())
    theirs = get_reference_directions("das-dennis", objectives, n_partitions=whole)
    np.testing.assert_array_equal(found, theirs)
    more = get_reference_directions("das-dennis", objectives, n_partitions=whole + 1)
    assert len(more) > most


def test_equal_vectors_are_left_out_as_pymoo_leaves_them_out():
    from pymoo.core.duplicate import DefaultDuplicateElimination
    from pymoo.core.population import Population

    vectors = np.random.default_rng(0).integers(0, 2, (20, 3)).astype(float)
    first, others = Population.new(X=vectors[:12]), Population.new(X=vectors[12:])
    for given in ((first,), (first, others)):
        ours, theirs = (
            {id(each) for each in how.do(*given)}
            for how in (_no_equals(), DefaultDuplicateElimination())
        )
        assert ours == theirs


def test_pymoo_finds_the_same_functions_as_ever():
    from pymoo.functions import FunctionLoader, load_function

    _find_distances_alone()
    loader = FunctionLoader.get_instance()
    for name in ("calc_perpendicular_distance", "calc_mnn"):
        for kind in ("auto", "python"):
            assert load_function(name, kind) is FunctionLoader.load(loader, name, kind)

"""The house as a whole: what its rooms are and that nothing runs in a circle."""

import graphlib

import grimp
import pytest


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("queuesmith", exclude_type_checking_imports=True, cache_dir=None)


def test_no_circle_of_imports(graph):
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # The package itself only names where its verbs live, and loads them when they are asked for.
    imports["queuesmith"] = set()
    try:
        list(graphlib.TopologicalSorter(imports).static_order())
    except graphlib.CycleError as error:
        pytest.fail(f"these modules import each other: {' -> '.join(error.args[1])}")


def test_every_room_says_what_it_is_for():
    import importlib
    import pkgutil

    import queuesmith

    rooms = [
        module.name
        for module in pkgutil.walk_packages(queuesmith.__path__, "queuesmith.")
        if module.ispkg and ".kernels" not in module.name
    ]
    silent = [room for room in rooms if not importlib.import_module(room).__doc__]
    assert not silent

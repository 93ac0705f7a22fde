import subprocess
import sys

import pytest

from queuesmith import grid
from queuesmith.grid import exact, genetic


@pytest.mark.parametrize("package", [grid, exact, genetic])
def test_a_door_opens_on_every_name_it_shows(package):
    assert set(package.__all__) == set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_a_name_behind_no_door_is_an_error():
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        grid.magic  # noqa: B018


def test_a_door_imports_nothing_until_a_name_is_used():
    code = "import sys, queuesmith.grid.options; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

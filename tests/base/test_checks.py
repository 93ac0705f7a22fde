"""Checks of options: one sentence for each wrong value."""

import pytest

from queuesmith.base.checks import number, positive
from queuesmith.base.errors import UsageError


@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), True, "1"])
def test_what_is_no_number_of_ours_is_refused(value):
    with pytest.raises(UsageError, match="must be between 0 and 1"):
        number("it", value, 0, 1, "Give 1.")
    with pytest.raises(UsageError, match="must be a number above 0"):
        positive("it", value, "Give 1.")

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import WorkloadError
from queuesmith.workload.busy import peak_cores


def test_cores_released_and_taken_at_one_instant_do_not_add_up():
    starts = {"real_start": np.array([0, 10])}
    jobs = Workload([0, 0], [10, 10], [10, 10], [4, 4], extra=starts)
    assert peak_cores(jobs) == 4


def test_the_peak_is_unknown_where_no_start_is():
    with pytest.raises(WorkloadError, match="does not tell when its jobs began"):
        peak_cores(Workload([0], [1], [1], [1]))

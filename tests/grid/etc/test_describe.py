import json
import math

import numpy as np
import pytest

from queuesmith.grid import EtcMatrix
from queuesmith.grid.etc.describe import describe


def test_heterogeneity_is_the_coefficient_of_variation():
    found = describe(EtcMatrix([[1, 1], [3, 3]]))
    assert found.job_heterogeneity == 0.5
    assert found.machine_heterogeneity == 0
    assert (found.shortest, found.mean, found.longest) == (1, 2, 3)


def test_consistency_is_how_many_jobs_agree_on_two_machines():
    found = describe(EtcMatrix([[1, 2], [1, 2], [1, 2], [2, 1]]))
    assert found.consistency == 0.75
    assert found.consistent_pairs == 0
    assert describe(EtcMatrix([[1, 2, 3], [5, 5, 6]])).consistent_pairs == 1


def test_one_machine_agrees_with_itself():
    found = describe(EtcMatrix([[1], [2]]))
    assert (found.consistency, found.consistent_pairs, found.machine_heterogeneity) == (1, 1, 0)


def test_impossible_pairs_are_left_out_of_all_measures():
    matrix = EtcMatrix([[1, 2, math.inf], [3, math.inf, math.inf], [2, 1, math.inf]], [0, 4, 0])
    found = describe(matrix)
    assert found.incompatible == pytest.approx(4 / 9)
    assert found.consistency == 0.5
    assert found.longest == 3
    assert found.latest_ready == 4
    assert found.job_heterogeneity == pytest.approx(
        np.mean([np.std([1, 3, 2]) / 2, np.std([2, 1]) / 1.5])
    )


def test_no_two_machines_need_have_a_job_in_common():
    assert describe(EtcMatrix([[1, math.inf], [math.inf, 1]])).consistency == 1


def test_a_description_prints_and_becomes_json():
    found = describe(EtcMatrix([[1, 2], [3, 4]], name="tiny"))
    assert json.loads(json.dumps(found.to_dict()))["machines"] == 2
    rows = dict(found.rows())
    assert rows["instance"] == "tiny"
    assert rows["times"] == "1 to 4, mean 2.5"
    assert rows["consistent pairs"] == "100.0 % of machine pairs"

"""Jobs by how many cores they take."""

import numpy as np

from queuesmith.workload.sizes import SIZES, WIDTHS, size_classes


def test_a_job_belongs_to_the_class_that_names_its_cores():
    named = {1: "1 core", 2: "2 to 4 cores", 4: "2 to 4 cores", 5: "5 to 16 cores"}
    named |= {1024: "257 to 1024 cores", 1025: "over 1024 cores", 10**6: "over 1024 cores"}
    found = size_classes(np.array(list(named)))
    assert [SIZES[code] for code in found] == list(named.values())


def test_there_is_a_name_for_every_class():
    assert len(SIZES) == len(WIDTHS) + 1 == len(set(SIZES))

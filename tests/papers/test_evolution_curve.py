"""The curve of children and parents: who survives, and what is compared with what."""

from papers.evolution_curve import course, figure, table


def test_parents_are_the_best_of_all_before_and_children_are_beside_them():
    found = course([[1.0, 5.0], [4.0, 9.0, 2.0], [0.0, 3.0, 6.0]], parents=2)
    assert found["parents"] == [None, 3.0, 7.0]
    assert found["mean child"] == [3.0, 5.0, 3.0]
    assert found["median child"] == [3.0, 4.0, 3.0]


def test_the_table_has_the_mean_over_seeds_and_nothing_where_there_are_no_parents():
    runs = [course([[float(seed)] * 3] * 41, parents=3) for seed in (1, 3)]
    assert "| parents | - | 2.0 |" in table(runs)
    assert len(figure(runs).data) == 6

import numpy as np
import pytest

from queuesmith.base.errors import UsageError
from queuesmith.grid.genetic.config import GeneticConfig
from queuesmith.grid.genetic.convergence import Convergence, convergence_data, draw_convergence
from queuesmith.grid.genetic.result import Course, GeneticResult
from queuesmith.grid.genetic.runs import evolve_many
from tests.grid.genetic.genetic_twins import random_matrix


def result_of(generation, makespan, seconds=None):
    generation = np.array(generation)
    makespan = np.array(makespan, dtype=float)
    when = generation / 10 if seconds is None else np.array(seconds)
    course = Course(generation, when, makespan, 10 * makespan)
    return GeneticResult(None, course, GeneticConfig(), 0, int(generation[-1]), 0, "generations")


def test_the_best_so_far_holds_until_it_changes_and_is_averaged_over_runs():
    runs = {"cx": [result_of([0, 2, 4], [9, 5, 5]), result_of([0, 3, 4], [7, 3, 3])]}
    curve = convergence_data(runs)["cx"]
    assert curve.x.tolist() == [0, 1, 2, 3, 4]
    assert curve.mean.tolist() == [8, 8, 6, 4, 4]
    assert curve.low.tolist() == [7, 7, 5, 3, 3]
    assert curve.high.tolist() == [9, 9, 7, 5, 5]


def test_a_run_that_ended_early_keeps_its_last_value():
    runs = {"short": [result_of([0, 1], [9, 5])], "long": [result_of([0, 4], [9, 1])]}
    data = convergence_data(runs)
    assert data["short"].mean.tolist() == [9, 5, 5, 5, 5]
    assert data["long"].mean.tolist() == [9, 9, 9, 9, 1]


def test_it_is_told_over_seconds_and_for_the_flowtime():
    runs = {"cx": [result_of([0, 10], [9, 5])]}
    curve = convergence_data(runs, over="seconds", value="flowtime")["cx"]
    assert curve.x[-1] == 1.0
    assert (curve.mean[0], curve.mean[-1]) == (90, 50)


def test_it_is_told_over_children_where_generations_differ_in_size():
    runs = {"cx": [result_of([0, 2], [9, 5])]}  # 80 children a generation
    curve = convergence_data(runs, over="children")["cx"]
    assert curve.x[-1] == 160
    assert (curve.mean[0], curve.mean[-1]) == (9, 5)


def test_real_runs_never_get_worse():
    matrix = random_matrix(30, 4)
    runs = {
        name: evolve_many(
            matrix, GeneticConfig(population=10, crossover=name, generations=40), runs=2
        )
        for name in ("cx", "one-point")
    }
    for curve in convergence_data(runs).values():
        assert curve.x[-1] == 40
        assert (curve.low <= curve.mean).all()


def test_the_figure_has_a_line_for_each_name_and_one_for_the_bound():
    curve = Convergence(np.arange(3.0), *(np.full(3, 5.0) for _ in range(3)))
    figure = draw_convergence({"cx": curve, "<b>": curve}, title="u_c_hihi.0", bound=4.0)
    assert [trace.name for trace in figure.data] == ["cx", "&lt;b&gt;"]
    assert figure.layout.shapes[0].y0 == 4.0
    assert figure.layout.xaxis.title.text == "generations"
    assert "makespan" in figure.layout.yaxis.title.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": {}}, "needs at least one run of each name"),
        ({"runs": {"cx": []}}, "needs at least one run of each name"),
        ({"over": "days"}, "there is no axis 'days'"),
        ({"value": "cost"}, "there is no value 'cost'"),
    ],
)
def test_a_wrong_call_is_told(arguments, message):
    given = {"runs": {"cx": [result_of([0, 1], [2, 1])]}, **arguments}
    with pytest.raises(UsageError) as caught:
        convergence_data(given.pop("runs"), **given)
    assert message in str(caught.value)

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queuesmith.schedule.metrics as metrics
from queuesmith.base.errors import MetricError
from queuesmith.schedule.metrics import METRICS, Metric, Term
from queuesmith.schedule.objective import Objective


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("10*awrt[1] + 4*awrt[2]", 10 * 26 + 4 * 40),
        ("awrt[1]", 26),
        ("-awrt[1]", -26),
        ("- -awrt[1]", 26),
        ("+makespan", 70),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 4 - 3", 3),
        ("64 / 4 / 2", 8),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("2 ** -1", 0.5),
        ("1.5e1 + .5 + 2.", 17.5),
        ("min(makespan, 3, 5) + max(1, 2)", 5),
        ("sqrt(16) + abs(-3) + log(1)", 7),
        ("max_queue_length * expansion_factor[B]", 1.5),
        ("  \n makespan\t", 70),
    ],
)
def test_an_expression_has_the_value_that_arithmetic_gives_it(tiny, expression, value):
    assert Objective(expression)(tiny) == pytest.approx(value)
    assert tiny.value(expression) == pytest.approx(value)


numbers = st.integers(0, 9).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
        st.tuples(inner, inner).map(lambda two: f"max({two[0]}, {two[1]})"),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(expressions)
def test_arithmetic_agrees_with_python(text):
    assert Objective(text).combined({}) == eval(text)


@settings(deadline=None)
@given(expressions)
def test_the_normalised_text_means_the_same_and_is_its_own_normal_form(text):
    normal = str(Objective(text))
    assert str(Objective(normal)) == normal
    assert Objective(normal).combined({}) == Objective(text).combined({})


@settings(deadline=None)
@given(st.text(alphabet="awrt[]()+-*/.,0123456789 eE_\"'#\\\n$", max_size=60))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        Objective(text)
    except MetricError as error:
        assert str(error)


def test_an_objective_tells_which_metrics_it_uses():
    objective = Objective("awrt[2] + 3*awrt[1] + awrt[2] + mean_wait")
    assert objective.names == ("awrt[2]", "awrt[1]", "mean_wait")
    assert objective.terms == (Term("awrt", 2), Term("awrt", 1), Term("mean_wait"))
    assert objective.metrics == (METRICS["awrt"], METRICS["mean_wait"])


def test_objectives_are_equal_by_their_normalised_text():
    one, two = Objective("10*awrt[1]+4.0*awrt[2]"), Objective(" 10 * awrt[ 1 ] + 4 * awrt[2]")
    assert one == two and hash(one) == hash(two)
    assert str(one) == "10 * awrt[1] + 4 * awrt[2]"
    assert repr(one) == "Objective('10 * awrt[1] + 4 * awrt[2]')"
    assert one != Objective("4*awrt[2] + 10*awrt[1]")
    assert one != "10 * awrt[1] + 4 * awrt[2]"


def test_an_objective_with_another_bound_is_another_objective(tiny):
    wide = Objective("max_bounded_slowdown", bound=25)
    assert wide(tiny) == 1.2
    assert wide != Objective("max_bounded_slowdown")
    assert repr(wide) == "Objective('max_bounded_slowdown', bound=25)"
    assert tiny.value("max_bounded_slowdown", bound=25) == 1.2


def test_only_a_metric_on_its_own_may_be_better_when_higher():
    assert Objective("utilization").better == "higher"
    assert Objective("mean_wait").better == "lower"
    assert Objective("-utilization").better == "lower"


def test_each_metric_is_computed_once_per_schedule(tiny, monkeypatch):
    calls = []
    counted = Metric("counted", lambda jobs: calls.append(1) or 2.0, "counts its calls", "1")
    monkeypatch.setitem(metrics.METRICS, "counted", counted)
    assert Objective("counted * counted + counted")(tiny) == 6
    assert len(calls) == 1


def test_groups_may_be_given_by_name_and_below_zero():
    assert Objective("awrt[physics]").terms == (Term("awrt", "physics"),)
    assert Objective("awrt[ 'high energy' ]").names == ('awrt["high energy"]',)
    assert Objective("awrt[-1]").names == ("awrt[-1]",)


@pytest.mark.parametrize("name", ["it's", 'the "best"', "Köln", "physics", "a b", "a\\n", "#1;"])
def test_a_name_in_quotes_survives_being_written_and_read_again(name):
    again = Objective(str(Term("awrt", name)))
    assert again.terms == (Term("awrt", name),)
    assert str(Objective(str(again))) == str(again)


def test_a_group_that_no_job_belongs_to_is_an_error_at_evaluation(tiny):
    for expression in ("awrt[7]", "awrt['1']", "awrt[physics]"):
        with pytest.raises(MetricError, match=r"has no jobs.*Choose one that has: 1, 2\."):
            Objective(expression)(tiny)


def test_a_long_sum_is_no_deep_nesting(tiny):
    assert Objective("+".join(["makespan"] * 1000))(tiny) == 70_000


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("awrt[1] +", "cannot be read at position"),
        ("awrt[1] awrt[2]", r"at position 9, where it has 'awrt\[2\]'"),
        ("(awrt[1]", r"'\(' was never closed"),
        ("awrt[1", r"'\[' was never closed"),
        ("awrt[1.5]", "'1.5' at position 6, where a group's number"),
        ("awrt[]", "cannot be read at position"),
        ("awrt[-x]", "'-x' at position 6, where a group's number"),
        ("awrt[1+1]", "'1 \\+ 1' at position 6, where a group's number"),
        ("awrt & mean_wait", "'awrt & mean_wait': only arithmetic is read"),
        ("mean_wait ^ 2", "only arithmetic is read"),
        ("mean_wait; 2", "at position 10, where it has '; 2'"),
        ("münchen", "no metric 'münchen'"),
        ("__import__('os')", "calls '__import__' at position 1, but the functions are min, max"),
        ("mean_wait.real", "only arithmetic is read"),
        ("lambda: 1", "only arithmetic is read"),
        ("mean_wiat", "Did you mean 'mean_wait'"),
        ("min", "no metric 'min'"),
        ("sqrt(1, 2)", "sqrt at position 1 .* has 2 arguments, but it takes 1"),
        ("max()", "has 0 arguments, but it takes 1 or more"),
        ("utilization[1]", "takes none"),
        ("expansion_factor[Q]", "the classes are A, B, C and D"),
        ("expansion_factor[1]", "the classes are A, B, C and D"),
        ("1e999", "too large"),
        ("9" * 400, "too large"),
        ("mean_wait +" * 1000 + "1", "11,001 characters long, but at most 10,000"),
        ("(" * 300 + "1" + ")" * 300, "nested more than 50 levels"),
        ("-" * 9000 + "1", "nested more than 50 levels"),
        ("2**" * 3000 + "1", "nested more than 50 levels"),
        ("mean_wait # of all", "at position 10, where it has '# of all': an expression ends here"),
        ("awrt['Köln'] & 1", "only arithmetic is read"),
        ("True", "only arithmetic is read"),
        ("max(1, key=2)", "calls 'max' at position 1"),
        (None, "must be text"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(expression, message):
    with pytest.raises(MetricError, match=message):
        Objective(expression)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("mean_response / median_wait", "it divides 26.6667 by zero"),
        ("sqrt(-1)", r"sqrt\(-1\) is not a number"),
        ("log(median_wait)", r"log\(0\) is not a number"),
        ("(-8) ** 0.5", r"-8 \*\* 0.5 is not a number"),
        ("median_wait ** -1", r"0 \*\* -1 is not a number"),
        ("1e300 * 1e300", "is not a number that can be held"),
    ],
)
def test_what_has_no_value_is_an_error_at_evaluation(tiny, expression, message):
    with pytest.raises(MetricError, match=message):
        Objective(expression)(tiny)


def test_a_metric_of_ones_own_that_is_not_finite_is_an_error(tiny, monkeypatch):
    odd = Metric("odd", lambda jobs: float("nan"), "never a number", "1")
    monkeypatch.setitem(metrics.METRICS, "odd", odd)
    with pytest.raises(MetricError, match="odd is not a finite number"):
        Objective("odd")(tiny)


def test_huge_powers_are_refused_without_computing_them(tiny):
    with pytest.raises(MetricError, match="has no value for schedule 'by-hand'"):
        Objective("9**9**9**9")(tiny)

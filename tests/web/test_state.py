import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import UsageError
from queuesmith.web.state import MOST_COLUMNS, Column, Filters, PageState

words = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() == text)


@given(words, words, words)
def test_any_state_is_restored_from_its_address(log, user, partition):
    state = PageState(
        tab="log",
        log=log,
        filters=Filters(since="2024-01-01", user=user, partition=partition, widest="64"),
        columns=(Column("power(alpha=2)+easy", 1.2, 300), Column("fcfs", nodes=(("gpu1", 12),))),
        objective="10 * awrt[1] + 4 * awrt[2]",
        by="size",
    )
    assert PageState.parse(state.query()) == state


def test_an_empty_address_is_what_is_shown_by_default():
    default = PageState(log="atlas", columns=(Column("fcfs+easy"),))
    assert PageState.parse("", default) == default
    assert PageState.parse("?", default) == default


@pytest.mark.parametrize(
    "query",
    [
        "tab=nonsense",
        "by=colour",
        "objective=nonsense",
        "column=fcfs+@+load=much",
        "column=fcfs+@+load=1e9",
        "column=fcfs+@+cores=0",
        "column=fcfs+@+cores=1e5",
        "column=fcfs+@+nodes.gpu=-1",
        "column=fcfs+@+colour=1",
        "x" * 30_000,
    ],
)
def test_what_cannot_be_understood_is_told_and_the_rest_is_shown(query):
    default = PageState(columns=(Column("sjf"),))
    state = PageState.parse(f"?{query}&log=atlas", default)
    assert len(state.complaints) == 1
    assert state.columns == default.columns


def test_words_of_others_in_an_address_are_passed_over():
    assert PageState.parse("?utm_source=mail&log=atlas").complaints == ()


def test_no_more_columns_than_can_be_told_apart():
    query = "&".join(f"column=power(alpha%3D{i})" for i in range(20))
    state = PageState.parse(query)
    assert len(state.columns) == MOST_COLUMNS
    assert "first" in state.complaints[0]


def test_a_column_tells_what_is_set_beside_its_policy():
    column = Column.parse("fcfs+easy @ load=1.2, cores=300, nodes.gpu1=12")
    assert column == Column("fcfs+easy", 1.2, 300, (("gpu1", 12),))
    assert Column.parse(str(column)) == column
    with pytest.raises(UsageError, match="load=, cores= or nodes"):
        Column.parse("fcfs @ color=red")

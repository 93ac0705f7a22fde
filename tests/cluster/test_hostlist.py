import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.hostlist import expanded, folded, natural

NAMES = st.from_regex(r"[a-c]{1,2}[0-9]{0,3}(-[0-9]{1,2})?", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-4,7]", ["n1", "n2", "n3", "n4", "n7"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("a,b[1-2]", ["a", "b1", "b2"]),
        ("r[1-2]c[1-2]", ["r1c1", "r1c2", "r2c1", "r2c2"]),
        ("cpn-f13-[01-02]-ib", ["cpn-f13-01-ib", "cpn-f13-02-ib"]),
        ("", []),
    ],
)
def test_short_lists_are_expanded(text, names):
    assert list(expanded(text)) == names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n1", "n2", "n3", "n7"], "n[1-3,7]"),
        (["n098", "n099", "n100"], "n[098-100]"),
        (["b1", "g1", "m4"], "b1,g1,m4"),
        (["n2", "n1"], "n[2,1]"),
    ],
)
def test_names_are_folded_in_their_order(names, text):
    assert folded(names) == text


@given(st.lists(NAMES))
def test_folding_is_the_inverse_of_expanding(names):
    assert expanded(folded(names)) == tuple(dict.fromkeys(names))


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[4-1]", "n[a]", "n[1-99999999]", "n[[1]]"])
def test_a_list_that_is_none_is_told_in_one_sentence(text):
    with pytest.raises(ClusterError, match="list of nodes"):
        expanded(text)


def test_names_are_sorted_as_people_do():
    assert sorted(["n10", "n2", "m1"], key=natural) == ["m1", "n2", "n10"]

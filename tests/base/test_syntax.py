"""Python text is read as a tree from several threads at once."""

import ast
from concurrent.futures import ThreadPoolExecutor

import pytest

from queuesmith.base.syntax import parse

TEXT = "def f(x):\n    return [x * (y + 1) for y in range(10)]\n" * 50


def test_threads_may_parse_at_the_same_time():
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(parse, [TEXT] * 100))
    assert {len(tree.body) for tree in trees} == {50}


def test_an_expression_is_read_as_one_and_a_wrong_text_is_refused():
    assert isinstance(parse("1 + 2", "eval").body, ast.BinOp)
    with pytest.raises(SyntaxError):
        parse("1 +", "eval")

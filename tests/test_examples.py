"""Every example runs and prints what is recorded beside it."""

import ast

import pytest

from tests.pages import EXAMPLES, ROOT, output_of

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_is_recorded(example, tmp_path):
    recorded = example.with_suffix(".out").read_text(encoding="utf-8")
    assert output_of(example, tmp_path) == recorded, "record anew: python -m tests.pages"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(script):
    source = script.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 40
    assert ast.get_docstring(ast.parse(source))


def test_all_examples_but_functions_that_others_name_have_a_recorded_output():
    unrecorded = {path.stem for path in SCRIPTS} - {path.stem for path in EXAMPLES}
    assert unrecorded == {"my_backfill", "my_order"}

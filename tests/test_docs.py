"""The documentation is true: its code runs, its outputs are real, its links lead somewhere."""

import re
import runpy

import pytest
import yaml

from queuesmith.policy import BACKFILLS, ORDERS
from queuesmith.policy.features import FEATURES
from queuesmith.policy.self_tuning import DECIDERS, PLAN_METRICS
from queuesmith.policy.strategies import THIRTEEN
from tests.pages import PAGES, ROOT, WIDTH, comparable, today

DOCS = ROOT / "docs"
MARKDOWN = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("conformance/*.md")])
LINK = re.compile(r"\[[^\]]*\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_code_prints(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    page = (ROOT / name).read_text(encoding="utf-8")
    assert comparable(page) == comparable(today(page)), "record anew: python -m tests.pages"


def test_the_reference_of_the_command_line_is_up_to_date():
    made = runpy.run_path(str(DOCS / "generate_reference.py"))["reference"]()
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == made, "run docs/generate_reference.py"


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        file = path.parent / target if target else path
        assert file.exists(), f"{path.name} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{path.name} links to {target}#{anchor}"


def anchors(path):
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in heads}


def test_every_page_can_be_reached_from_the_menu():
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = set(re.findall(r"[\w-]+\.md", str(menu)))
    assert named == {path.name for path in DOCS.rglob("*.md")}


@pytest.mark.parametrize("name", [*ORDERS, *BACKFILLS])
def test_every_order_and_backfill_is_explained(name):
    page = (DOCS / "policies.md").read_text(encoding="utf-8")
    assert re.search(rf"\| `{name}` \||^### {name}$", page, re.MULTILINE)


def test_parameters_of_orders_are_explained():
    page = (DOCS / "policies.md").read_text(encoding="utf-8")
    for order in ORDERS.values():
        for parameter in order.parameters:
            assert f"`{parameter}`" in page


@pytest.mark.parametrize("name", [*FEATURES, *THIRTEEN, *DECIDERS, *PLAN_METRICS], ids=str)
def test_what_policies_that_choose_are_made_of_is_explained(name):
    pages = [(DOCS / page).read_text("utf-8") for page in ("rule_bases.md", "self_tuning.md")]
    for part in str(name).split("+"):
        assert f"`{part}`" in pages[0] + pages[1] or re.fullmatch(r"group_[2-4]_share", part)


def test_the_first_example_of_the_readme_is_short():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert len([line for line in first[1].splitlines() if line]) <= 12

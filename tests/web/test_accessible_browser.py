"""The page read by whoever cannot see it, or not its colours: axe finds nothing serious."""

import pytest

pytestmark = pytest.mark.browser

PARTS = {
    "": "#facts table",
    "?tab=log": "#described table",
    "?tab=knobs": "#sweep-start",
    "?tab=learn": "#learn-start",
    "?tab=plan": "#plan-start",
    "?tab=live": "#live",
}


@pytest.fixture(scope="module")
def axe():
    found = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="no Python package 'axe-playwright-python': install it to check accessibility",
    )
    return found.Axe()


def test_axe_finds_nothing_serious_in_any_part_light_or_dark(visitor, axe):
    found = {}
    for query, until in PARTS.items():
        visitor.page.emulate_media(color_scheme="light")
        page = visitor.open(query, until=until)
        for summary in page.locator("summary").all():
            summary.click()
        if not query:
            page.locator("#command-line").wait_for()
        found |= serious(axe.run(page), f"{query} light")
        page.emulate_media(color_scheme="dark")
        only = {"runOnly": ["color-contrast"]}
        found |= serious(axe.run(page, options=only), f"{query} dark")
    assert found == {}


def serious(results, where):
    """Return what axe takes for serious, by its rule, with the first places."""
    return {
        f"{where} {each['id']}": [node["html"][:200] for node in each["nodes"][:2]]
        for each in results.response["violations"]
        if each["impact"] in ("serious", "critical")
    }

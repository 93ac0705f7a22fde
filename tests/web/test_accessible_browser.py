"""The page read by whoever cannot see it, or not its colours: axe finds nothing serious."""

import pytest

from tests.web.conftest import Visitor

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_part(browser, served, axe, scheme):
    tab = Visitor(browser, served, viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    found = {}
    for query, until in PARTS.items():
        page = tab.open(query, until=until)
        for summary in page.locator("summary").all():
            summary.click()
        violations = axe.run(page).response["violations"]
        serious = [each for each in violations if each["impact"] in ("serious", "critical")]
        found |= {
            f"{query} {each['id']}": [node["html"][:200] for node in each["nodes"][:2]]
            for each in serious
        }
    tab.close()
    assert found == {}

"""The pictures in docs/serve.md are taken here.

    QUEUESMITH_RENEW_PICTURES=1 pytest tests/web/test_pictures_browser.py

takes them anew; otherwise it is checked that the page still has what they show.
"""

import os

import pytest

from tests.conftest import ROOT
from tests.web.conftest import Visitor

pytestmark = pytest.mark.browser

PICTURES = {
    "page-what-if.png": (
        "?log=demo&column=fcfs%2Beasy&column=power(alpha%3D0.5,gamma%3D-0.5)%2Beasy",
        "#over-time .scatterlayer .trace",
    ),
    "page-log.png": ("?tab=log&log=demo", ".bars path"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_docs_can_be_taken(window, served, tmp_path, name):
    query, drawn = PICTURES[name]
    tab = Visitor(window, served, height=1000)
    page = tab.open(query, until=drawn)
    page.wait_for_timeout(500)
    renew = os.environ.get("QUEUESMITH_RENEW_PICTURES") == "1"
    target = (ROOT / "docs" / "images" if renew else tmp_path) / name
    page.screenshot(path=target, full_page=True)
    tab.close()
    assert target.read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "docs" / "images" / name).exists()
    assert f"images/{name}" in (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")

"""The pictures in docs/serve.md are taken here.

    QUEUESMITH_RENEW_PICTURES=1 pytest tests/web/test_pictures_browser.py

takes them anew; otherwise it is checked that the page still has what they show.
"""

import os
import time

import pytest

from tests.conftest import ROOT
from tests.live.conftest import slurm_commands  # noqa: F401
from tests.web.conftest import Visitor

pytestmark = pytest.mark.browser

#: Who waits in the picture of a running cluster: user, account, cores, hours.
WAITING = (
    ("ann", "bio", 16, 6),
    ("bob", "chem", 4, 1),
    ("cem", "chem", 32, 4),
    ("dora", "bio", 8, 2),
    ("bob", "chem", 2, 1),
    ("ann", "bio", 8, 8),
    ("eva", "physics", 1, 1),
    ("cem", "chem", 16, 2),
)
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
    _take(page, name, tmp_path)
    tab.close()


def test_a_picture_of_a_running_cluster_can_be_taken(window, served, tmp_path, slurm_commands):  # noqa: F811
    now = int(time.time())
    slurm_commands.set(nodes=4, jobs={})
    for node in (1, 2, 3, 4):
        facts = {"node_list": f"n{node}", "elapsed": f"{10 * node}:00", "user": "ann"}
        slurm_commands.job(node, state="RUNNING", cores=8, submit=now - 4000, **facts)
    for number, (user, account, cores, hours) in enumerate(WAITING, 5):
        facts = {"cores": cores, "nodes": (cores + 7) // 8, "walltime": f"{hours}:00:00"}
        slurm_commands.job(
            number,
            parts=1000 - number,
            user=user,
            account=account,
            submit=now - 60 * (40 - 3 * number),
            **facts,
        )
    tab = Visitor(window, served, height=1000)
    # A click before the page has filled its parts counts, too.
    page = tab.open("?tab=live&policy=sjf%2Beasy", until="#live-look")
    page.locator("#live-look").click()
    page.locator("#live-starts .scatterlayer .point").first.wait_for()
    page.locator("#live-advice", has_text="sjf+easy would move").wait_for()
    _take(page, "page-live.png", tmp_path)
    tab.close()


def _take(page, name, tmp_path):
    page.wait_for_timeout(500)
    renew = os.environ.get("QUEUESMITH_RENEW_PICTURES") == "1"
    target = (ROOT / "docs" / "images" if renew else tmp_path) / name
    page.screenshot(path=target, full_page=True)
    assert target.read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "docs" / "images" / name).exists()
    assert f"images/{name}" in (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")

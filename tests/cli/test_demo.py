"""The demo: from nothing to a report one can open."""

import pytest

from queuesmith import read
from queuesmith.cli.demo import DEMO_POLICIES


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch):
    monkeypatch.setattr("queuesmith.cli.demo.GENERATIONS", 1)
    monkeypatch.setattr("queuesmith.cli.demo.FRONT_GENERATIONS", 1)


def test_the_demo_writes_its_log_and_a_report(run, tmp_path):
    outcome = run("demo", "--out", "a/new/folder")
    assert outcome.code == 0
    folder = tmp_path / "a" / "new" / "folder"
    files = {path.name for path in folder.iterdir()}
    assert files == {"demo.swf.gz", "policy.json", "report.html"}
    assert len(read(folder / "demo.swf.gz")) == 5000
    assert all(policy in outcome.out for policy in DEMO_POLICIES)
    assert "★" in outcome.out
    assert "report.html: open the page in a browser." in outcome.err
    # The command that the page shows does what the demo did.
    page = (folder / "report.html").read_text()
    assert "queuesmith report a/new/folder/demo.swf.gz --policies" in page
    # It learns a policy, and says what that is worth and what it does.
    assert "Learned: pittsburgh" in outcome.said
    for title in ("The learned policy", "What it does", "Groups before and after"):
        assert f">{title}</h2>" in page
    explained = run("explain", folder / "policy.json")
    assert explained.code == 0
    assert "Policy 'pittsburgh': 10 fuzzy rules" in explained.said


def test_without_pymoo_the_demo_leaves_the_front_out_and_says_so(run, tmp_path, monkeypatch):
    monkeypatch.setattr("queuesmith.cli.demo.find_spec", lambda name: None)
    outcome = run("demo", "--out", "demo")
    assert outcome.code == 0
    assert "The off-line front is left out: it needs the library pymoo." in outcome.err
    assert ">The off-line front</h2>" not in (tmp_path / "demo" / "report.html").read_text()


def test_the_demo_can_be_quiet_and_gives_the_same_files_again(run, tmp_path):
    pages = []
    for _ in range(2):
        outcome = run("demo", "--quiet", "--out", "demo")
        assert (outcome.code, outcome.err) == (0, "")
        files = sorted((tmp_path / "demo").iterdir())
        pages.append([file.read_bytes() for file in files])
    assert pages[0] == pages[1]


def test_the_demo_does_not_write_over_a_file_that_stands_in_the_way(run, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = run("demo", "--out", "taken")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error: the folder 'taken' cannot be made")
    assert (tmp_path / "taken").read_text() == "mine"

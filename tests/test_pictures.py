import shutil

import plotly.graph_objects as go
import pytest
from papers.pictures import keep_pictures


@pytest.mark.browser
def test_figures_are_drawn_beside_the_page_that_shows_them(tmp_path):
    if shutil.which("chromium") is None:
        pytest.skip("no 'chromium' on the PATH: install Chromium to draw pictures")
    pytest.importorskip("playwright.sync_api", reason="no Python package 'playwright'")
    figure = go.Figure().add_bar(y=[1, 2], name="bars & bars").update_layout(showlegend=True)
    shown = keep_pictures({"Figure 7, SDSC 00: a <front>": figure}, tmp_path / "study.md")
    assert shown == "![Figure 7, SDSC 00: a <front>](study-figure-7-sdsc-00.png)"
    picture = (tmp_path / "study-figure-7-sdsc-00.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 2000


def test_without_a_browser_there_are_no_pictures_and_a_word_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert keep_pictures({"Figure 5": go.Figure()}, tmp_path / "study.md") == ""
    assert "Chromium" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

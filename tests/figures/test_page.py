import plotly.graph_objects as go
import pytest

from queuesmith.base.errors import OutputError
from queuesmith.figures.page import write_figures


def test_the_page_holds_all_figures_and_fetches_nothing(tmp_path):
    figures = [go.Figure().add_bar(y=[1, 2], name=name) for name in ("first", "second")]
    write_figures(figures, tmp_path / "page.html", title="A <page>")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(name in page for name in ('id="figure-1"', 'id="figure-2"', "first", "second"))
    assert "<h1>A &lt;page&gt;</h1>" in page
    assert 'src="http' not in page
    assert len(page) < 2_200_000
    assert "prefers-color-scheme: dark" in page
    assert "default-src 'none'" in page


def test_a_page_in_no_folder_is_refused(tmp_path):
    with pytest.raises(OutputError, match="no-such"):
        write_figures([go.Figure()], tmp_path / "no-such" / "page.html", title="A page")

"""The picture: its data, then its drawing."""

import pytest

from queuesmith.base.errors import UsageError
from queuesmith.federation import Federation, FederationCluster, FederationJobs, as_schedule
from queuesmith.federation import picture as pictures
from queuesmith.federation.picture import Rectangle, draw, picture_data


@pytest.fixture
def placement():
    federation = Federation(
        [FederationCluster("a", 3, 1.0, 100), FederationCluster("b", 2, 0.5, 50)]
    )
    jobs = FederationJobs([3, 1], [100, 50], [10, 0], [0.5, 1.0], id=["x", "<y>"])
    nodes = [4, 0, 1, 2]
    return as_schedule(federation, jobs, [0, 0], [150, 50], nodes, "by hand", lower_bound=150)


def test_neighbouring_nodes_make_one_rectangle(placement):
    data = picture_data(placement)
    assert data.rectangles == [
        Rectangle(0, 0, 2, 0, 150), Rectangle(0, 4, 1, 0, 150), Rectangle(1, 2, 1, 0, 50),
    ]  # fmt: skip
    assert data.link_time.tolist() == [0, 50, 150]
    assert data.link_share.tolist() == [[0.1, 0.2], [0.1, 0.2]]


def test_the_figure_has_all_jobs_and_a_line_for_each_link(placement):
    figure = draw(placement)
    assert list(figure.data[0].base) == [0, 0, 0]
    assert [trace.name for trace in figure.data[1:]] == ["link of a", "link of b"]
    assert "at most 0.00 % above" in figure.layout.title.text


def test_too_many_rectangles_are_refused(placement, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_RECTANGLES", 2)
    with pytest.raises(UsageError, match="3 rectangles"):
        draw(placement)

"""Files that the page places and maps: named, uploaded, refused."""

import pytest

from queuesmith.base.errors import QueuesmithError, UsageError
from queuesmith.federation.model.generate import PAPER_QUEUES, paper_federation, paper_queue
from queuesmith.web import plan_view
from queuesmith.web.instances import (
    MADE_GRIDS,
    PAPER_CLUSTERS,
    InstanceShelf,
    clusters_of,
    grid_of,
    is_grid,
    queue_of,
)
from tests.web.conftest import small_log

TOML = b'[[cluster]]\nname = "a"\nnodes = 4\npower = 1.0\nbandwidth = 100.0\n'
QUEUE = b"id,tasks,base_time,task_bandwidth,sigma\n1,2,10,1,0.5\n2,4,20,1,0.5\n"
ETC = b"m1,m2\n3,4\n5,1\n2,2\n"


@pytest.fixture
def shelf(tmp_path):
    return InstanceShelf(tmp_path, limit=2**20)


def test_clusters_queues_and_grids_are_told_apart_and_kept(shelf):
    names = [
        shelf.upload(*file)
        for file in (("sites.toml", TOML), ("jobs.csv", QUEUE), ("my times.csv", ETC))
    ]
    assert [name.split("-")[0] for name in names] == ["clusters", "queue", "grid"]
    assert names[0] in shelf.places
    assert names[1] in shelf.queues
    assert names[1] not in shelf.places
    assert names[2].endswith("-my-times.csv")
    assert clusters_of(names[0], shelf.folder).nodes == 4
    assert len(queue_of(names[1], shelf.folder)) == 2
    assert grid_of(names[2], shelf.folder).times.shape == (3, 2)


def test_files_that_were_named_come_first(tmp_path):
    (tmp_path / "kept").mkdir()
    path = tmp_path / "mine.etc"
    path.write_bytes(b"2 2 1\n1\n2\n3\n4\n")
    shelf = InstanceShelf(tmp_path / "kept", limit=10, given=[path])
    assert shelf.places[0].startswith("grid-")
    assert shelf.places[1] == PAPER_CLUSTERS
    assert shelf.queues == list(PAPER_QUEUES)
    with pytest.raises(UsageError, match="cannot be read"):
        InstanceShelf(tmp_path, limit=10, given=[tmp_path / "none.toml"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.toml", b"this is no toml"),
        ("bad.csv", b"id,tasks,base_time\n1,2\n"),
        ("bad.etc", b"import os\n"),
        ("empty.toml", b""),
        ("empty.csv", b""),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_own_name_and_not_kept(shelf, name, content):
    with pytest.raises(QueuesmithError) as error:
        shelf.upload(name, content)
    assert str(shelf.folder) not in str(error.value)
    assert list(shelf.folder.iterdir()) == []


def test_an_upload_that_is_too_large_is_refused(tmp_path):
    with pytest.raises(UsageError, match="an upload may have"):
        InstanceShelf(tmp_path, limit=3).upload("x.toml", TOML)


@pytest.mark.parametrize("name", ["../run.json", "clusters-000000000000-x.toml", "/etc/passwd"])
def test_no_other_file_is_read(tmp_path, name):
    with pytest.raises(UsageError, match="there is no"):
        clusters_of(name, tmp_path)


def test_what_is_built_in_needs_no_file(tmp_path):
    assert clusters_of(PAPER_CLUSTERS, tmp_path).nodes == paper_federation().nodes
    assert len(queue_of("WL-1", tmp_path)) == len(paper_queue("WL-1"))
    assert all(is_grid(name) for name in MADE_GRIDS)


def test_what_a_run_is_asked_for_is_checked(make_page):
    context, _ = make_page(small_log())
    asked = plan_view.placement_asked(context, PAPER_CLUSTERS, "WL-2", "exact", "2")
    assert (asked["method"], asked["queue"], asked["seconds"]) == ("oas", "WL-2", 2.0)
    asked = plan_view.placement_asked(context, "grid u_c_hihi", "WL-1", "exact", "2")
    assert asked["method"] == "exact"
    assert "queue" not in asked
    for wrong in (("nowhere", "WL-1", "", "2"), (PAPER_CLUSTERS, "WL-9", "", "2")):
        with pytest.raises(UsageError):
            plan_view.placement_asked(context, *wrong)
    with pytest.raises(UsageError, match="seconds is 'soon'"):
        plan_view.placement_asked(context, PAPER_CLUSTERS, "WL-1", "", "soon")
    with pytest.raises(UsageError, match="whole number from 1 to"):
        plan_view.gap_asked(context, "fcfs+easy", "artww", "many", "1")
    with pytest.raises(UsageError, match="no order with a backfill"):
        plan_view.gap_asked(context, "dynp", "artww", "5", "1")

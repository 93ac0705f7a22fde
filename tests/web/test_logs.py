import pytest

from queuesmith.base.errors import QueuesmithError, UsageError, WorkloadError
from queuesmith.web.logs import LogShelf, choices, filtered
from queuesmith.web.state import Filters
from tests.web.conftest import small_log

SWF = b"1 0 0 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"


@pytest.fixture
def shelf(tmp_path):
    return LogShelf(small_log(), tmp_path, limit=1000)


def test_filters_take_the_jobs_that_pass_all_of_them():
    jobs = small_log()
    part = filtered(jobs, Filters(since="1000", partition="gpu", account="chem", widest="8"))
    assert 0 < len(part) < len(jobs)
    assert set(part.extra["partition"].tolist()) == {1}
    assert set(part.extra["account"].tolist()) == {1}
    assert part.cores.max() <= 8
    assert part.submit.min() >= 1000
    assert len(filtered(jobs, Filters(until="1000"))) + len(
        filtered(jobs, Filters(since="1000"))
    ) == len(jobs)


def test_dates_filter_where_the_log_has_dates():
    jobs = small_log(epoch=1_700_000_000)
    assert len(filtered(jobs, Filters(since="2023-11-15"))) < len(jobs)
    with pytest.raises(UsageError, match="is a date"):
        filtered(small_log(), Filters(since="2023-11-15"))


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(partition="tpu"), "no partition 'tpu'"),
        (Filters(widest="many"), "whole number"),
        (Filters(narrowest="65"), "no job"),
        (Filters(since="soon"), "seconds of the log or a date"),
        (Filters(since="--5"), "seconds of the log or a date"),
        (Filters(widest="9" * 5000), "whole number"),
    ],
)
def test_a_filter_that_takes_nothing_says_so(filters, words):
    with pytest.raises(QueuesmithError, match=words):
        filtered(small_log(), filters)


def test_names_to_choose_from_are_those_of_the_log():
    jobs = small_log()
    assert set(choices(jobs, "partition")) == {"cpu", "gpu", "<b>big</b>"}
    assert choices(jobs, "qos") == []
    assert len(choices(jobs, "user", most=3)) == 3


def test_an_upload_is_kept_under_its_content_and_read_again(shelf, tmp_path):
    name = shelf.upload("../../etc/my log.swf", SWF)
    assert name.endswith("-my-log.swf")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len(shelf.whole(name)) == 1
    assert shelf.upload("my log.swf", SWF) == name
    again = LogShelf(None, tmp_path, limit=1000)
    assert name in again.names
    assert again.whole(name).name == "my-log"


@pytest.mark.parametrize(
    "content", [b"import os\nos.system('true')\n", b"\x80\x04K\x01.", b"", b"\0" * 50]
)
def test_what_is_no_log_is_refused_and_not_kept(shelf, tmp_path, content):
    with pytest.raises(WorkloadError):
        shelf.upload("evil.swf", content)
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_is_refused(shelf):
    with pytest.raises(UsageError, match="may have"):
        shelf.upload("large.swf", SWF * 100)


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "upload-0123456789abcdef-../x", "nothing"]
)
def test_only_names_of_the_shelf_are_read(shelf, name):
    with pytest.raises(UsageError, match="there is no log"):
        shelf.whole(name)

from pathlib import Path

import numpy as np
import pytest

from queuesmith.base.errors import OutputError
from queuesmith.cluster import Cluster
from queuesmith.schedule import Schedule
from queuesmith.schedule.export import save_csv
from queuesmith.workload import Workload


def test_a_schedule_is_written_as_id_submit_start_end(tiny, tmp_path):
    tiny.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (
        "id,submit,start,end\n1,0,0,10\n2,0,10,30\n3,30,30,70\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_an_empty_schedule_is_a_header_alone(empty, tmp_path):
    save_csv(empty, str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text() == "id,submit,start,end\n"


def test_an_existing_file_is_replaced(tiny, tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    save_csv(tiny, target)
    assert target.read_text().startswith("id,")


def test_a_missing_folder_is_one_clear_sentence(tiny, tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        save_csv(tiny, tmp_path / "missing" / "out.csv")


def test_a_folder_is_no_file_to_write(tiny, tmp_path):
    with pytest.raises(OutputError, match="is a folder"):
        save_csv(tiny, tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_clear_sentence(tiny):
    with pytest.raises(OutputError, match="cannot be written"):
        save_csv(tiny, "/dev/full")


def test_many_jobs_are_written_one_a_line(tmp_path):
    count = 300_000
    submit = np.arange(count)
    runtime = np.full(count, 7)
    schedule = Schedule(
        Workload(submit, runtime, runtime, runtime), Cluster(8), submit + 3, "by-hand"
    )
    save_csv(schedule, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert len(lines) == count + 1
    assert lines[100_001] == "100001,100000,100003,100010"
    assert lines[-1] == "300000,299999,300002,300009"

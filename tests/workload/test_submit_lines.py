"""What people typed: command lines tell what the accounting forgets."""

import numpy as np

from queuesmith.workload.sacct import parse_sacct
from queuesmith.workload.submit_lines import with_submit_lines

ROW = "{id}|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T10:01:00|60|8|8|{memory}|{line}"
NAMES = "JobID|Submit|Start|End|ElapsedRaw|ReqCPUS|AllocCPUS|ReqMem|SubmitLine"


def read(*rows):
    text = "\n".join(
        [NAMES, *(ROW.format(id=i, memory=m, line=x) for i, (m, x) in enumerate(rows))]
    )
    return parse_sacct(text.encode(), "atlas.sacct")


def test_a_command_line_tells_how_a_job_may_be_spread():
    log = read(
        ("8G", "sbatch -N 2-4 --ntasks-per-node=4 --exclusive run.sh --mem=5"),
        ("8G", "/usr/bin/srun -n8 --mem-per-cpu=512 -w n1 hostname"),
        ("8G", ""),
    )
    assert log.extra["requested_nodes"].tolist() == [2, -1, -1]
    assert log.extra["most_nodes"].tolist() == [4, -1, -1]
    assert log.extra["exclusive"].tolist() == [1, -1, -1]
    assert log.extra["memory_per_core"].tolist() == [-1, 512, -1]
    assert log.extra["memory"].tolist() == [8192, -1, 8192]  # what is told by the core is not twice
    assert log.labels["wanted_nodes"] == ("n1",)


def test_an_option_without_a_value_takes_none_from_the_next():
    lines = ["srun --pty -n 4 bash", "srun -l --x11 -n 4 a", "salloc --no-shell -I -n 4"]
    own = ["srun --pty python -n 9", "srun -u a -n 9"]  # of the program
    columns, _ = with_submit_lines({}, {}, [*lines, *own])
    assert columns["tasks"].tolist() == [4, 4, 4, -1, -1]


def test_arrays_licenses_and_reservations_are_told():
    names = "JobID|JobIDRaw|Submit|Start|End|ElapsedRaw|ReqCPUS|ReqTRES|Reservation|SubmitLine"
    when = "2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T10:01:00|60|8"
    rows = [
        f"7_0|7|{when}|cpu=8,license/matlab=2||sbatch --array=0-9%3 run.sh",
        f"7_1|8|{when}|cpu=8,license/matlab=2||sbatch --array=0-9%3 run.sh",
        f"9|9|{when}|cpu=8|course|sbatch --reservation=course run.sh",
    ]
    log = parse_sacct("\n".join([names, *rows]).encode(), "atlas.sacct")
    assert log.extra["array"].tolist() == [7, 7, -1]
    assert log.extra["array_limit"].tolist() == [3, 3, -1]
    told = [
        log.label(name, log.extra[name][i]) for name, i in (("licenses", 0), ("reservation", 2))
    ]
    assert told == ["matlab:2", "course"]


def test_what_is_no_call_of_slurm_or_cannot_be_read_tells_nothing():
    lines = ["python -N 4", "sbatch -N many", "sbatch 'half", "sbatch --wrap=a|b -N 3"]
    columns, labels = with_submit_lines({}, {}, lines)
    assert columns["requested_nodes"].tolist() == [-1, -1, -1, 3]
    assert labels == {}


def test_what_the_accounting_knows_stays():
    known = {"constraint": np.array([0])}
    columns, labels = with_submit_lines(known, {"constraint": ("ib",)}, ["sbatch -C rome -p day x"])
    assert (columns, labels) == (known, {"constraint": ("ib",)})


def test_a_bar_in_the_last_column_is_part_of_it():
    assert read(("4G", "sbatch --wrap='a|b' -N 1")).extra["most_nodes"].tolist() == [1]

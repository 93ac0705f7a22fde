import gzip
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queuesmith.base.errors import ClusterError, QueuesmithError, UsageError, WorkloadError
from queuesmith.engine import simulate
from queuesmith.schedule.schedule import history
from queuesmith.workload.busy import peak_cores
from queuesmith.workload.sacct import parse_sacct, read_sacct
from queuesmith.workload.slurm_text import date_parser, duration
from queuesmith.workload.swf import read_swf
from queuesmith.workload.swf_writing import write_swf

NAMES = (
    "JobID|JobIDRaw|User|Account|Group|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|State"
    "|NNodes|AllocCPUS|ReqCPUS|JobName"
)
LOG = f"""\
{NAMES}
100|100|eve|phys|staff|day|high|2024-03-01T08:00:00|2024-03-01T08:01:00|2024-03-01T09:01:00|\
01:00:00|02:00:00|COMPLETED|1|4|4|run
100.batch|100.batch||phys||||2024-03-01T08:01:00|2024-03-01T08:01:00|2024-03-01T09:01:00|\
01:00:00||COMPLETED|1|4|4|batch
101_7|105|bob|chem|staff|night|low|2024-03-01T08:00:30|2024-03-01T09:00:30|2024-03-02T10:00:30|\
1-01:00:00|1-00:00:00|TIMEOUT|2|64|40|a|b|c
102|102|bob|chem|staff|night|low|2024-03-01T08:00:40|Unknown|2024-03-01T08:10:00|\
00:00:00|10:00|CANCELLED by 1003|1|0|8|gone
103|103|eve|phys|staff|day|high|2024-03-01T08:00:50|2024-03-01T08:10:00|Unknown|\
5-00:00:00|UNLIMITED|RUNNING|1|8|8|on
104_[1-9]|104|eve|phys|staff|day|high|2024-03-01T08:00:55|Unknown|Unknown|\
00:00:00|Partition_Limit|PENDING|1|0|8|later
110+1|111|amy|phys|staff|day|high|2024-03-01T08:02:00|2024-03-01T08:02:00|2024-03-01T08:02:05|\
00:00:05|UNLIMITED|FAILED|1|2|2|het
"""


def parse(text=LOG, **options):
    return parse_sacct(text.encode(), "atlas.sacct", **options)


def simple(*rows, names="JobID|Submit|Start|End|Elapsed|Timelimit|State|NCPUS"):
    return "\n".join([names, *rows]) + "\n"


def row(job="1", submit="1000", start="1010", end="1020", elapsed="00:10", **more):
    limit, state, cores = (
        more.get(key, d) for key, d in zip("lsc", ("5", "COMPLETED", "2"), strict=True)
    )
    return f"{job}|{submit}|{start}|{end}|{elapsed}|{limit}|{state}|{cores}"


# -- jobs ----------------------------------------------------------------------------------


def test_jobs_that_ran_are_read():
    jobs = parse()
    assert jobs.name == "atlas"
    assert jobs.id.tolist() == [100, 105, 111]
    assert jobs.submit.tolist() == [0, 30, 120]
    assert jobs.runtime.tolist() == [3600, 90_000, 5]
    assert jobs.walltime.tolist() == [7200, 90_000, 5]
    assert jobs.extra["real_start"].tolist() == [60, 3630, 120]
    assert jobs.extra["jobid"].tolist() == ["100", "101_7", "110+1"]
    assert jobs.epoch == 1709280000
    assert jobs.machine_cores is None


def test_names_become_numbers_with_labels():
    jobs = parse()
    assert [jobs.label("user", code) for code in jobs.user] == ["eve", "bob", "amy"]
    for column, names in {
        "account": ["phys", "chem", "phys"],
        "log_group": ["staff"] * 3,
        "partition": ["day", "night", "day"],
        "qos": ["high", "low", "high"],
        "state": ["COMPLETED", "TIMEOUT", "FAILED"],
    }.items():
        assert [jobs.label(column, code) for code in jobs.extra[column]] == names
    assert jobs.extra["nodes"].tolist() == [1, 2, 1]


def test_everything_left_out_is_counted_under_its_own_reason():
    changes = {change.reason.split(";")[0]: change for change in parse().changes}
    dropped = {reason: c.count for reason, c in changes.items() if c.dropped}
    assert dropped == {
        "still waiting when the log was written": 1,
        "still running when the log was written": 1,
        "cancelled before it began": 1,
    }
    steps = changes["steps of jobs (.batch, .extern, .0)"]
    assert (steps.count, steps.dropped) == (1, False)
    assert changes["no walltime"].count == 1
    assert changes["ran beyond the walltime"].count == 1


def test_where_more_cores_were_allocated_than_requested_these_count():
    jobs = parse()
    assert jobs.cores.tolist() == [4, 64, 2]
    assert jobs.extra["requested_cores"].tolist() == [4, 40, 2]
    assert [c.count for c in jobs.changes if "allocated" in c.reason] == [1]


def test_where_fewer_cores_were_allocated_the_request_counts():
    text = simple(
        row() + "|8", names="JobID|Submit|Start|End|Elapsed|Timelimit|State|NCPUS|ReqCPUS"
    )
    assert parse(text).cores.tolist() == [8]


@pytest.mark.parametrize(
    ("tres", "cores"),
    [("billing=3,cpu=12,node=1", 12), ("cpu=2K", 2048), ("cpu=1.5K,mem=3G", 1536)],
)
def test_cores_are_found_among_the_trackable_resources(tres, cores):
    text = f"JobID|Submit|Elapsed|AllocTRES\n1|1000|00:10|{tres}\n"
    assert parse(text).cores.tolist() == [cores]


def test_the_history_is_a_schedule_and_its_peak_is_known():
    jobs = parse()
    real = history(jobs)
    assert real is not None
    assert real.wait.tolist() == [60, 3600, 0]
    # Job 105 begins 30 seconds before job 100 ends.
    assert peak_cores(jobs) == 68


def test_jobs_that_ended_in_the_second_they_began_do_not_add_up():
    text = "JobID|Submit|Start|Elapsed|AllocCPUS\n" + "".join(
        f"{number}|1000|1000|{elapsed}|{cores}\n"
        for number, elapsed, cores in [(1, "00:00", 8), (2, "00:00", 6), (3, "00:10", 4)]
    )
    jobs = parse(text)
    assert jobs.runtime.tolist() == [1, 1, 10]
    assert peak_cores(jobs) == 8
    with pytest.raises(ClusterError, match="8 were really busy at once"):
        simulate(jobs)


def test_exports_put_together_hold_each_run_once():
    january = simple(row(), row(job="2", start="1030", end="1040"))
    february = simple(row(), row(job="3"))
    jobs = parse(january + february)
    assert jobs.extra["jobid"].tolist() == ["1", "2", "3"]
    assert "attempt" not in jobs.extra and jobs.dropped == 0
    assert [str(change) for change in jobs.changes] == [
        "1 line passed over: the same run of a job once more"
    ]
    assert ("passed over", "1: the same run of a job once more") in jobs.describe().rows()


def test_a_shortened_array_is_a_job_and_no_step():
    array = row(job="7_[1-9,20-30,...]", start="None", elapsed="00:00", s="CANCELLED by 5")
    jobs = parse(simple(row(), array), cancelled=True)
    assert jobs.cancelled.id.tolist() == [7] and not jobs.changes


def test_a_job_that_was_requeued_has_a_line_for_each_run():
    again = row(submit="1050", start="1060", end="1070")
    jobs = parse(simple(row(s="NODE_FAIL"), again, again))
    assert jobs.extra["attempt"].tolist() == [1, 2]


def test_a_job_cancelled_in_the_queue_may_have_its_end_as_start():
    names = "JobID|Submit|Start|End|State|NCPUS"
    text = simple("1|5|6|9|COMPLETED|2", "2|5|9|9|CANCELLED by 7|2", names=names)
    assert [str(change) for change in parse(text).changes if change.dropped] == [
        "1 job left out: cancelled before it began"
    ]


def test_strict_refuses_jobs_that_did_not_run():
    with pytest.raises(WorkloadError, match=r"line 7 .* still waiting"):
        parse(strict=True)


def test_a_log_without_jobs_that_ran_says_why():
    with pytest.raises(WorkloadError, match="1 job left out: cancelled before it began"):
        parse(simple(row(start="None", elapsed="00:00", s="CANCELLED by 5")))


def test_runtime_comes_from_start_and_end_where_elapsed_is_not_exported():
    text = "JobIDRaw|Submit|Start|End|NCPUS\n7|1000|1010|1050|1\n8|1000|1010|Unknown|1\n"
    jobs = parse(text)
    assert (jobs.id.tolist(), jobs.runtime.tolist()) == ([7], [40])


def test_raw_columns_are_read():
    text = "JobID|Submit|ElapsedRaw|TimelimitRaw|NCPUS\n7|1000|45|2|1\n"
    jobs = parse(text)
    assert (jobs.runtime.tolist(), jobs.walltime.tolist()) == ([45], [120])
    assert "real_start" not in jobs.extra


def test_several_clusters_in_one_log_are_told_apart():
    text = "JobID|Cluster|Submit|Elapsed|NCPUS\n1|a|1000|00:10|1\n1|b|1001|00:10|1\n"
    assert parse(text).labels["cluster"] == ("a", "b")


def test_a_start_before_the_submission_is_mended():
    jobs = parse(simple(row(start="900")))
    assert jobs.extra["real_start"].tolist() == [0]
    assert any("before the submission" in change.reason for change in jobs.changes)


def test_a_log_may_be_written_as_swf_with_its_history(tmp_path):
    write_swf(parse(), tmp_path / "atlas.swf")
    again = read_swf(tmp_path / "atlas.swf")
    assert again.extra["real_start"].tolist() == [60, 3630, 120]
    assert again.cores.tolist() == [4, 64, 2]
    assert again.epoch == 1709280000
    assert again.extra["status"].tolist() == [1, 0, 0]


# -- spellings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("05:30", 330),
        ("01:02:03", 3723),
        ("2-01:02:03", 176523),
        ("2-01", 176400),
        ("2-01:02", 176520),
        ("00:12.600", 13),
        ("90", 5400),
        ("UNLIMITED", -1),
        ("Partition_Limit", -1),
        ("INVALID", -1),
        ("", -1),
    ],
)
def test_durations_are_read_in_all_of_slurms_spellings(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["x", "1:2:3:4", "-5", "1-", "٣:٣", "1.5", "9" * 30])
def test_a_strange_duration_is_refused(text):
    with pytest.raises(WorkloadError, match=r"line 2 of 'atlas.sacct' has .* as timelimit"):
        parse(simple(row(l=text)))


@pytest.mark.parametrize(
    ("zone", "epoch"),
    [("UTC", 1719828000), ("Europe/Berlin", 1719820800), ("Asia/Tokyo", 1719795600)],
)
def test_dates_are_those_of_the_clusters_zone(zone, epoch):
    text = simple(row(submit="2024-07-01T10:00:00", start="2024-07-01T10:00:10", end="Unknown"))
    text = text.replace("Unknown", "2024-07-01T10:00:20")
    assert parse(text, timezone=zone).epoch == epoch


def test_summer_time_does_not_change_how_long_a_job_waited():
    night = row(
        submit="2024-03-31T01:30:00", start="2024-03-31T03:30:00", end="2024-03-31T04:30:00"
    )
    assert parse(simple(night), timezone="Europe/Berlin").extra["real_start"].tolist() == [3600]
    assert parse(simple(night)).extra["real_start"].tolist() == [7200]


def test_in_a_repeated_hour_no_job_begins_before_its_submission():
    night = row(
        submit="2024-10-27T02:50:00", start="2024-10-27T02:10:00", end="2024-10-27T03:30:00"
    )
    jobs = parse(simple(night), timezone="Europe/Berlin")
    assert jobs.extra["real_start"].tolist() == [1200]


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_dates_of_one_hour_are_right_on_both_sides_of_a_clock_that_is_changed(zone, fold):
    changes = ["2021-03-14", "2021-03-28", "2021-04-04", "2021-10-03", "2021-10-31", "2021-11-07"]
    parse_date, own = date_parser(ZoneInfo(zone), fold), ZoneInfo(zone)
    for begin in map(datetime.fromisoformat, changes):
        moments = [begin + timedelta(seconds=397 * i) for i in range(60)]
        for moment in [*moments, *reversed(moments)]:  # whichever of an hour is the first
            truth = int(moment.replace(tzinfo=own, fold=fold).timestamp())
            assert parse_date(moment.isoformat()) == truth


def test_dates_with_spaces_around_are_read_as_ever():
    parse_date = date_parser(ZoneInfo("UTC"))
    for text in (" 2021-03-14T07:00  ", "2021-03-14T07:00Z  ", "2021-03-14T08:00+01"):
        assert parse_date(text) == 1615705200
    assert parse_date("2021-03-14T07:00:05") == 1615705205


@pytest.mark.parametrize("rest", [":60:00", ":00:60", ":1:00", ":00:0 ", ":00:00Q", ":0a:00"])
def test_an_hour_that_is_known_lets_no_wrong_date_pass(rest):
    parse_date = date_parser(ZoneInfo("UTC"))
    assert parse_date("2021-03-14T07:00:01") == 1615705201
    with pytest.raises(ValueError):
        parse_date(f"2021-03-14T07{rest}")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "a\0b"])
def test_a_bad_zone_is_refused(zone):
    with pytest.raises(UsageError, match="IANA"):
        parse(timezone=zone)


@pytest.mark.parametrize("date", ["yesterday", "2024-13-01T00:00:00", "2024-01-01", "1" * 20])
def test_a_strange_date_is_named(date):
    with pytest.raises(WorkloadError, match=r"line 3 .* as submit, but that is a date"):
        parse(simple(row(), row(submit=date)))


# -- files ---------------------------------------------------------------------------------


def test_a_gzipped_file_with_a_trailing_separator_is_read(tmp_path):
    text = "".join(f"{line}|\n" for line in LOG.splitlines())
    path = tmp_path / "atlas.sacct.gz"
    path.write_bytes(gzip.compress(text.encode()))
    jobs = read_sacct(path)
    assert (jobs.name, jobs.id.tolist()) == ("atlas", [100, 105, 111])


@pytest.mark.parametrize("ending", ["", "|"])
def test_columns_may_be_named_where_there_is_no_header(ending):
    body = "".join(f"{line}{ending}\n" for line in LOG.splitlines()[1:])
    names = NAMES.replace("|", ",").replace("JobName", "JobName%30")
    assert parse(body, columns=names).id.tolist() == [100, 105, 111]
    assert parse(body, columns=names.split(",")).id.tolist() == [100, 105, 111]


def test_a_header_line_counts_more_than_named_columns():
    assert len(parse(columns="xdmod")) == 3


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (LOG.partition("\n")[2], {}, "no header line .* --columns"),
        (simple(row(), "1|2|3"), {}, "line 3 .* has 3 columns, but there are 8"),
        (simple(row() + "|x"), {}, "line 2 .* has 9 columns"),
        ("JobID|Submit|Elapsed\n1|1000|5\n", {}, "no column AllocCPUS"),
        ("JobID|Elapsed|NCPUS\n1|5|1\n", {}, "no column Submit"),
        ("JobID|Submit|NCPUS\n1|5|1\n", {}, "no column Elapsed"),
        ("JobID|Submit|Submit|Elapsed|NCPUS\n", {}, "'submit' twice"),
        (simple(row(job="x1")), {}, "line 2 .* 'x1' as jobid"),
        (simple(row(c="many")), {}, "line 2 .* 'many' as ncpus"),
        (NAMES, {}, "it has no jobs"),
        ("\x1c", {}, "no line of text"),
        ("  JobID   Submit Elapsed\n------- ------ -------\n", {}, "no '|' .* --parsable2"),
    ],
)
def test_a_bad_file_is_explained(text, options, message):
    with pytest.raises(WorkloadError, match=message):
        parse(text, **options)


@pytest.mark.parametrize("columns", ["", "jobid", ["jobid", ""]])
def test_strange_columns_are_a_wrong_call(columns):
    with pytest.raises(UsageError, match="sacct --format"):
        parse("1|2\n", columns=columns)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, "xdmod", "jobid,submit,elapsed,ncpus"]))
def test_random_bytes_give_a_clear_error(data, columns):
    with pytest.raises(QueuesmithError):
        parse_sacct(b"JobID|" + data, "fuzz.sacct", columns=columns)


PIECES = st.sampled_from(["|", "\n", "\r", "-", ":", ".", "\x85", "9" * 20, "None", "[", "+", "٣"])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(LOG)), st.integers(0, 12), PIECES | st.text(max_size=5))
def test_a_mutated_log_is_read_or_refused(position, cut, inserted):
    text = LOG[:position] + inserted + LOG[position + cut :]
    try:
        jobs = parse_sacct(text.encode("utf-8", "replace"), "f.sacct", timezone="Europe/Berlin")
    except QueuesmithError:
        return
    assert 0 < len(jobs) <= 7


# -- real logs -----------------------------------------------------------------------------


@pytest.mark.data
def test_a_real_export_without_a_header_is_read(data):
    jobs = read_sacct(data / "sacct" / "phillips.sacct.gz", columns="xdmod", timezone="US/Eastern")
    assert len(jobs) + jobs.dropped == 4285
    assert jobs.epoch == 1482408912
    assert history(jobs) is not None
    assert peak_cores(jobs) == 340


@pytest.mark.data
def test_a_real_export_with_a_header_is_read(data):
    jobs = read_sacct(data / "sacct" / "micro.sacct")
    assert len(jobs) + jobs.dropped == 500
    assert jobs.labels["state"] == ("COMPLETED", "TIMEOUT")


def test_jobs_cancelled_while_they_waited_are_kept_beside_the_others_where_asked():
    gone = row(start="None", elapsed="00:00", s="CANCELLED by 5")
    text = simple(row(), gone.replace("1|", "7|", 1))
    assert parse(text).cancelled is None
    kept = parse(text, cancelled=True)
    assert len(kept) == 1 and kept.cancelled.id.tolist() == [7]
    assert kept.cancelled.extra["cancelled_after"].min() > 0
    assert not any(change.dropped for change in kept.changes)


def test_cancelled_jobs_are_in_the_groups_of_their_users_or_of_their_column():
    def of(job, user, account, **more):
        return f"{row(job, **more)}|{user}|{account}"

    gone = {"start": "None", "elapsed": "00:00", "s": "CANCELLED by 5"}
    text = simple(
        of("1", "ann", "bio"),
        of("2", "ben", "chem", elapsed="00:01", c="1"),
        of("7", "ann", "chem", **gone),
        of("8", "eve", "bio", **gone),
        names="JobID|Submit|Start|End|Elapsed|Timelimit|State|NCPUS|User|Account",
    )
    jobs = parse(text, cancelled=True)
    assert jobs.group.tolist() == [1, 2]
    assert jobs.cancelled.group.tolist() == [1, 5]  # of eve, who has no job that ran, nothing
    assert jobs.grouped((0.5,)).cancelled.group.tolist() == [1, 2]
    assert jobs.grouped(by="account").cancelled.group.tolist() == [2, 1]

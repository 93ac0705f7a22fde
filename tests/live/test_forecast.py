"""When jobs will start, and why they wait."""

import json
from dataclasses import replace

import numpy as np
import pytest

from queuesmith import Workload
from queuesmith.base.errors import UsageError
from queuesmith.cli import main
from queuesmith.live.changes import AllowList
from queuesmith.live.forecast import forecast, why_it_waits
from queuesmith.live.newcomers import PastArrivals
from queuesmith.live.ordering import order_to_come
from queuesmith.live.picture import picture
from queuesmith.live.state import look, state_of
from queuesmith.live.steered import Steered
from queuesmith.policy import as_policy


def history(share):
    """A hundred jobs of ann that ran for such shares of their requests."""
    walltime = np.full(100, 3600)
    runtime = np.resize(np.rint(3600 * np.array(share)).astype(int), 100)
    return Workload(np.arange(100) * 60, runtime, walltime, [1] * 100, labels={"user": ("ann",)})


def expected(state, *past, **options):
    return {each.job.id: each for each in forecast(state, *past, **options)}


def test_without_a_history_jobs_run_to_their_limits(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    found = expected(look())
    # Job 1 runs for 10 seconds already; then come 2, 3 and 4, of three, two and one hours.
    assert [found[i].median // 3600 for i in (2, 3, 4)] == [0, 3, 5]
    assert found[2].median == found[2].late


def test_with_a_history_starts_come_earlier_and_have_a_spread(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    found = expected(look(), history([0.1, 0.5, 0.9]), replays=30)
    assert 0 < found[2].median < found[3].median < found[4].median < 5 * 3600
    assert found[4].late > found[4].median
    assert found[4].median == expected(look(), history([0.1, 0.5, 0.9]), replays=30)[4].median


def test_new_jobs_can_come(slurm):
    found = expected(look(), history([0.5]), replays=3, arrivals=True)
    assert set(found) == {2, 3, 4}


def arriving(state, walltime):
    """A job of a user came every minute up to now, used a tenth of its time, and was narrow."""
    count = 60
    submit = state.now - 60 * np.arange(count, 0, -1)
    runtime = [walltime // 10] * count
    return Workload(
        submit, runtime, [walltime] * count, [8] * count, id=np.arange(count) + 1000, epoch=0
    )


def test_jobs_that_a_steerer_puts_first_are_foreseen(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    state = look()
    shortest, longest = (Steered(as_policy(p), 30) for p in ("sjf+easy", "ljf+easy"))
    past = arriving(state, 1800)
    alone, overtaken, first = (
        expected(state, past, steered=by, replays=3, arrivals=coming)
        for by, coming in ((shortest, False), (shortest, None), (longest, True))
    )
    assert alone[4].late < alone[3].late < alone[2].late  # the shortest first
    assert all(overtaken[job].late > alone[job].late for job in (2, 3))
    assert all(overtaken[job].median == alone[job].median for job in (2, 3, 4))
    assert first[2].late < first[3].late < first[4].late
    assert first[2].late == first[2].median == alone[4].median  # nobody who comes is longer


def test_who_may_not_be_steered_keeps_the_place(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    slurm.job(2, user="bob")
    by = Steered(as_policy("sjf+easy"), 30, AllowList(users=frozenset({"bob"})))
    found = expected(look(), steered=by)
    assert found[2].median < found[3].median < found[4].median


def test_a_planner_puts_shorter_jobs_that_come_first_too(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    state = look()
    by = Steered(as_policy("optimal(seconds=0.1)"), 30)
    alone, overtaken = (
        expected(state, arriving(state, 1800), steered=by, replays=3, arrivals=coming)
        for coming in (False, True)
    )
    assert all(overtaken[job].late > alone[job].late for job in (2, 3))
    assert all(overtaken[job].median == alone[job].median for job in (2, 3, 4))


@pytest.mark.parametrize("objective", ["artww", "sldwa", "response", "makespan"])
def test_what_a_planner_minimises_orders_those_who_come(slurm, objective):
    state = look()
    coming = PastArrivals(state, arriving(state, 600))
    new = coming.after(coming.course(np.random.default_rng(2)), 600)
    policy = as_policy(f"optimal(seconds=0.1; objective={objective})")
    order = order_to_come(state, policy)(new)
    assert {job.id for job in order} == {2, 3, 4, *(job.id for job in new)}


@pytest.mark.parametrize("policy", ["dynp(fcfs,sjf)", "wfp3+easy"])
def test_other_policies_order_those_who_come_as_well(slurm, policy):
    state = look()
    coming = PastArrivals(state, arriving(state, 600))
    new = coming.after(coming.course(np.random.default_rng(2)), 600)
    assert new
    order = order_to_come(state, as_policy(policy))(new)
    assert {job.id for job in order} == {2, 3, 4, *(job.id for job in new)}


def test_held_jobs_have_no_expected_start(recorded):
    found = expected(state_of(recorded))
    assert set(found) == {67, 61, 62, 58, 60, 66}


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (60, "6 jobs for 60 cores stand before it; it needs 8 cores of partition main, where 0"),
        (64, "it is held (JobHeldUser)"),
        (63, "it is not due yet (Dependency: afterok:61"),
        (62, "a limit keeps it waiting: JobArrayTaskLimit"),
    ],
)
def test_why_a_job_waits(recorded, job, words):
    state = state_of(recorded)
    waiting = next(each for each in state.waiting if each.id == job)
    assert words in why_it_waits(state, waiting)


def test_nodes_that_partitions_share_are_free_and_held_for_all_of_them(recorded):
    state = state_of(recorded)
    main_part = next(part for part in state.machine.partitions if part.name == "main")
    twin = replace(main_part, name="twin")
    machine = replace(state.machine, partitions=(*state.machine.partitions, twin))
    jobs = tuple(replace(job, partition="twin") if job.id == 60 else job for job in state.jobs)
    shared = replace(state, machine=machine, jobs=jobs)
    (job,) = (each for each in shared.waiting if each.id == 60)
    (same,) = (each for each in state.waiting if each.id == 60)
    told = why_it_waits(state, same).replace("partition main", "partition twin")
    assert why_it_waits(shared, job) == told
    lines = [line.split() for line in picture(shared).splitlines()]
    used = {line[0]: line[3] for line in lines if line[:1] in (["main"], ["twin"])}
    assert used["main"] == used["twin"] != "0"


def test_a_limit_is_named(recorded):
    state = state_of(recorded)
    job = replace(state.waiting[1], reason="QOSMaxCpuPerUserLimit")
    assert why_it_waits(state, job) == "a limit keeps it waiting: QOSMaxCpuPerUserLimit"


def test_the_number_of_replays_is_checked(slurm):
    with pytest.raises(UsageError, match="replays"):
        forecast(look(), replays=0)


def test_the_command_shows_starts_and_reasons(slurm, capsys, tmp_path):
    assert main(["slurm", "forecast", "-q"]) == 0
    assert "nine in ten" in " ".join(capsys.readouterr().out.split())
    assert main(["slurm", "forecast", "4", "-q"]) == 0
    assert "stand before it" in " ".join(capsys.readouterr().out.split())
    assert main(["slurm", "forecast", "-q", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("job,user,median_seconds,late_seconds")
    assert main(["slurm", "forecast", "--policy", "sjf+easy", "--every", "5"]) == 0
    assert "steered by sjf+easy, every 5 s" in capsys.readouterr().err
    slurm.job(4, reason="JobHeldUser")
    assert main(["slurm", "forecast", "4", "-q"]) == 0
    assert "it is held" in " ".join(capsys.readouterr().out.split())
    assert main(["slurm", "forecast", "4", "-q", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["median_seconds"] is None and "it is held" in row["why"]
    assert main(["slurm", "forecast"]) == 0
    assert "1 job that waits has no expected start" in capsys.readouterr().err
    assert main(["slurm", "forecast", "99"]) == 2
    assert "job 99 does not wait" in capsys.readouterr().err

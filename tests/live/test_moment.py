"""The present moment as a workload."""

from dataclasses import replace

import numpy as np
import pytest

from queuesmith import simulate, verify
from queuesmith.base.errors import WorkloadError
from queuesmith.cluster.outages import Outage
from queuesmith.live.advice import AS_THEY_STAND
from queuesmith.live.moment import moment_of_cores, moment_of_nodes, walltime_left
from queuesmith.live.state import state_of


@pytest.mark.parametrize("policy", ["fcfs", "sjf+easy", "wfp3+conservative", "ljf+plan"])
def test_nothing_that_waits_starts_before_now_and_all_that_runs_runs(recorded, policy):
    state = state_of(recorded)
    moment = moment_of_cores(state)
    schedule = verify(simulate(moment.workload, cores=moment.cores, policy=policy))
    waits = moment.is_waiting
    assert schedule.start[waits].min() >= state.now
    assert set(schedule.start[~waits]) == {moment.workload.submit.min()}
    assert schedule.end[~waits].max() == state.now + max(map(walltime_left, state.running))
    assert np.count_nonzero(waits) == 5 + 3  # 67, 61, 58, 60, 66 and the tasks of 62


def test_on_nodes_running_jobs_stand_where_they_run(recorded):
    state = state_of(recorded)
    moment = moment_of_nodes(state)
    schedule = verify(simulate(moment.workload, moment.machine, AS_THEY_STAND))
    assert len(schedule) == len(moment.workload)
    pieces = schedule.pieces
    began = pieces.start < state.now
    wanted = moment.workload.extra["partition"][pieces.job[began]]
    names = [moment.workload.label("partition", int(code)) for code in wanted]
    where = [moment.machine.node_names[i] for i in pieces.place[began]]
    assert [f"(running on {node})" for node in where] == names
    assert schedule.start[moment.is_waiting].min() >= state.now


def test_a_node_that_is_away_gives_no_cores(recorded):
    state = state_of(recorded)
    gone = replace(state, machine=replace(state.machine, outages=(Outage(("n4",)),)))
    assert moment_of_cores(gone).cores == 48
    moment = moment_of_nodes(gone)
    schedule = verify(simulate(moment.workload, moment.machine, AS_THEY_STAND))
    assert 3 not in schedule.pieces.place


def test_runtimes_that_are_given_are_cut_to_the_limit(recorded):
    state = state_of(recorded)
    moment = moment_of_cores(state, runtime=lambda job: 10**9 if job.id == 61 else 7)
    runtime = dict(zip(moment.workload.extra["slurm_id"], moment.workload.runtime, strict=True))
    assert (runtime[61], runtime[58]) == (20 * 60, 7)


def test_a_queue_in_which_nothing_can_start_is_one_sentence(slurm):
    from queuesmith.live.state import look

    for number in (2, 3, 4):
        slurm.job(number, reason="JobHeldUser")
    with pytest.raises(WorkloadError, match="nothing to foretell"):
        moment_of_cores(look())


def kept_for(state, begin, end):
    """The cluster with n4, where nothing runs, kept for a reservation that job 61 names."""
    kept = Outage("n4", state.now + begin, state.now + end, reservation="course")
    machine = replace(state.machine, outages=(kept,))
    jobs = [replace(job, reservation="course") if job.id == 61 else job for job in state.jobs]
    jobs = [job for job in jobs if not (job.running and "n4" in job.node_list)]
    return replace(state, machine=machine, jobs=tuple(jobs))


@pytest.mark.parametrize(("begin", "first"), [(1800, 1800), (-60, 0)])
def test_a_job_that_names_a_reservation_waits_for_it_and_runs_there(recorded, begin, first):
    state = kept_for(state_of(recorded), begin, 20_000)
    moment = moment_of_nodes(state)
    schedule = verify(simulate(moment.workload, moment.machine, AS_THEY_STAND))
    own = int(np.flatnonzero(moment.workload.extra["slurm_id"] == 61)[0])
    assert 0 <= schedule.start[own] - state.now - first < 60
    places = schedule.pieces.place[schedule.pieces.job == own]
    assert {moment.machine.node_names[i] for i in places} == {"n4"}
    others = schedule.pieces.job != own
    inside = schedule.pieces.end[others] > state.now + max(begin, 0)
    assert "n4" not in {moment.machine.node_names[i] for i in schedule.pieces.place[others][inside]}
    with_cores = moment_of_cores(state).workload.extra["slurm_id"]
    assert 61 not in with_cores and 58 in with_cores

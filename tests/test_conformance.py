"""Schedules worked out by hand: the engine and its twin give exactly these starts."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from queuesmith import Cluster, Policy, Schedule, Workload, simulate, verify
from queuesmith.cluster.toml import machine_of_table
from queuesmith.policy import BACKFILLS, SelfTuning, Slurm, as_policy
from queuesmith.schedule.reservations import Request
from tests.oracle import simulate_slowly

FOLDER = Path(__file__).resolve().parent.parent / "conformance"
FILES = sorted(FOLDER.glob("*.json"))
CASES = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FILES}
NEEDED = {"id", "submit", "runtime", "walltime", "cores"}
NAMES = {"partition", "qos", "reservation"}
ASKED = {"most_nodes", "requested_nodes", "memory_per_node", "gpus_per_node", "exclusive"}

each_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def workload_of(case):
    def column(key):
        return [job[key] for job in case["jobs"]]

    extra, labels = {}, {}
    for key in sorted(NAMES | ASKED):
        values = [job.get(key, -1) for job in case["jobs"]]
        if key in NAMES:
            labels[key] = tuple(sorted({value for value in values if value != -1}))
            values = [-1 if value == -1 else labels[key].index(value) for value in values]
        if set(values) != {-1}:
            extra[key] = np.array(values)
    return Workload(
        **{key: column(key) for key in sorted(NEEDED)},
        user=[job.get("user", 0) for job in case["jobs"]],
        group=[job.get("group", 1) for job in case["jobs"]],
        extra=extra,
        labels=labels,
        name=case["name"],
    )


def machine_of(case):
    if "machine" in case:
        return machine_of_table(case["machine"], case["name"])
    return Cluster(case["cores"])


def starts_by_id(schedule):
    pairs = zip(schedule.workload.id.tolist(), schedule.start.tolist(), strict=True)
    return {str(job): start for job, start in pairs}


def runs_by_id(schedule):
    """Return from when to when each job ran, every time that it did."""
    ids, parts = schedule.workload.id[schedule.parts.job].tolist(), schedule.parts
    rows = sorted(set(zip(ids, parts.start.tolist(), parts.end.tolist(), strict=True)))
    return {str(job): [[a, b] for i, a, b in rows if i == job] for job in ids}


def requests_of(case):
    asked = case.get("reservations", [])
    return [Request(**{k: v for k, v in row.items() if k != "answer"}) for row in asked]


def answers_by_id(schedule):
    return {
        answer.request.id: "accepted" if answer.accepted else answer.alternative
        for answer in schedule.reservations
    }


@each_case
@pytest.mark.parametrize("replay", [simulate, simulate_slowly])
def test_engine_and_twin_give_what_was_worked_out_by_hand(replay, case):
    cluster, requests = machine_of(case), requests_of(case)
    schedule = verify(replay(workload_of(case), cluster, case["policy"], reservations=requests))
    assert starts_by_id(schedule) == case["start"], case["reasoning"]
    answers = {row["id"]: row["answer"] for row in case.get("reservations", [])}
    assert answers_by_id(schedule) == answers, case["reasoning"]
    if "runs" in case:
        assert runs_by_id(schedule) == case["runs"], case["reasoning"]


@each_case
def test_the_starts_worked_out_by_hand_are_feasible(case):
    workload = workload_of(case)
    start = [case["start"][str(job)] for job in workload.id]
    runs = case.get("runs")  # where jobs may end before their time
    end = [runs[str(job)][-1][1] for job in workload.id] if runs else None
    verify(Schedule(workload, Cluster(machine_of(case).cores), start, "by hand", own_end=end))


@each_case
def test_a_case_is_well_formed(case):
    keys = {"name", "policy", "jobs", "start", "reasoning"}
    assert set(case) - {"reservations", "runs"} in (keys | {"cores"}, keys | {"machine"})
    assert 3 <= len(case["jobs"]) <= 8
    for job in case["jobs"]:
        assert set(job) >= NEEDED
        assert set(job) <= NEEDED | {"user", "group"} | (
            NAMES | ASKED if "machine" in case else set()
        )
        assert all(type(value) is (str if key in NAMES else int) for key, value in job.items())
        assert 1 <= job["cores"] <= machine_of(case).cores
        assert 0 <= job["runtime"] <= job["walltime"]
    assert sorted(case["start"], key=int) == sorted((str(j["id"]) for j in case["jobs"]), key=int)
    assert str(as_policy(case["policy"])) == case["policy"]


@each_case
def test_a_case_says_in_sentences_why(case):
    assert len(case["reasoning"].split()) >= 20
    assert case["reasoning"].endswith(".")


def test_names_are_unique_and_are_the_names_of_the_files():
    names = Counter(case["name"] for case in CASES.values())
    assert [name for name, count in names.items() if count > 1] == []
    for stem, case in CASES.items():
        assert stem == case["name"].replace(",", "").replace(" ", "-")


def test_every_backfill_has_a_case():
    policies = [as_policy(case["policy"]) for case in CASES.values()]
    assert len(CASES) >= 12
    assert {p.backfill for p in policies if isinstance(p, Policy)} == set(BACKFILLS)
    assert any(isinstance(p, SelfTuning) for p in policies)


def test_nodes_have_cases_of_their_own():
    on_nodes = [case for case in CASES.values() if "machine" in case]
    assert len(on_nodes) >= 8
    policies = [as_policy(case["policy"]) for case in on_nodes]
    assert {p.backfill for p in policies if isinstance(p, Policy)} == set(BACKFILLS)
    assert any(isinstance(p, Slurm) for p in policies)

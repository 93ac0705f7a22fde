"""Schedules worked out by hand: the engine and its twin give exactly these starts."""

import json
from collections import Counter
from pathlib import Path

import pytest

from queuesmith import Cluster, Policy, Schedule, Workload, simulate, verify
from queuesmith.policy import BACKFILLS
from tests.oracle import simulate_slowly

FOLDER = Path(__file__).resolve().parent.parent / "conformance"
FILES = sorted(FOLDER.glob("*.json"))
CASES = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FILES}
NEEDED = {"id", "submit", "runtime", "walltime", "cores"}

each_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def workload_of(case):
    def column(key):
        return [job[key] for job in case["jobs"]]

    return Workload(
        **{key: column(key) for key in sorted(NEEDED)},
        user=[job.get("user", 0) for job in case["jobs"]],
        group=[job.get("group", 1) for job in case["jobs"]],
        name=case["name"],
    )


def starts_by_id(schedule):
    pairs = zip(schedule.workload.id.tolist(), schedule.start.tolist(), strict=True)
    return {str(job): start for job, start in pairs}


@each_case
def test_the_engine_gives_the_starts_worked_out_by_hand(case):
    schedule = verify(simulate(workload_of(case), cores=case["cores"], policy=case["policy"]))
    assert starts_by_id(schedule) == case["start"], case["reasoning"]


@each_case
def test_the_twin_gives_the_starts_worked_out_by_hand(case):
    schedule = simulate_slowly(workload_of(case), Cluster(case["cores"]), case["policy"])
    assert starts_by_id(verify(schedule)) == case["start"], case["reasoning"]


@each_case
def test_the_starts_worked_out_by_hand_are_feasible(case):
    workload = workload_of(case)
    start = [case["start"][str(job)] for job in workload.id]
    verify(Schedule(workload, Cluster(case["cores"]), start, "by hand"))


@each_case
def test_a_case_is_well_formed(case):
    assert set(case) == {"name", "cores", "policy", "jobs", "start", "reasoning"}
    assert 3 <= len(case["jobs"]) <= 8
    for job in case["jobs"]:
        assert set(job) >= NEEDED
        assert set(job) <= NEEDED | {"user", "group"}
        assert all(type(value) is int for value in job.values())
        assert 1 <= job["cores"] <= case["cores"]
        assert 0 <= job["runtime"] <= job["walltime"]
    assert sorted(case["start"], key=int) == sorted((str(j["id"]) for j in case["jobs"]), key=int)
    assert str(Policy.parse(case["policy"])) == case["policy"]


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
    used = {Policy.parse(case["policy"]).backfill for case in CASES.values()}
    assert len(CASES) >= 12
    assert used == set(BACKFILLS)

"""The tables of the multi-cluster study, made of pieces that stand for measured ones."""

import pytest
from papers.multicluster_claims import claims
from papers.multicluster_law import growth
from papers.multicluster_runs import (
    LOADS,
    PAPER_HEURISTICS,
    SLOT_PERCENTS,
    STREAM_SEEDS,
    Pieces,
)
from papers.multicluster_tables import METHODS, Summary
from papers.study import mean_and_half

from queuesmith.federation.model.generate import PAPER_QUEUES


@pytest.fixture
def pieces(tmp_path):
    made = Pieces(tmp_path / "kept.json", make=False, workers=1)
    for percent in SLOT_PERCENTS:
        for seed in range(2):
            made.kept.add(
                f"slots {percent} % seed {seed}",
                {
                    "makespan": 100 + percent + seed,
                    "optimum": 100,
                    "compaction": 90,
                    "proven": True,
                },
            )
    for name in PAPER_QUEUES:
        row = {method: {"makespan": 110, "compaction": 80} for method in METHODS}
        row["slots 50 %"] = {"makespan": 120, "compaction": 70}
        row["oas"] = {"makespan": 100, "compaction": 95, "status": "optimal"}
        made.kept.add(f"workload {name} seed 0", row | {"best of all rules": 105})
    facts = {
        "plans": 10,
        "plans_proven": 4,
        "plan_gap_percent_mean": 2.0,
        "plan_gap_percent_worst": 9.0,
    }
    for load in LOADS:
        for seed in STREAM_SEEDS:
            stream = {name: {"wait": 100.0, "makespan": 50 - seed} for name in PAPER_HEURISTICS}
            stream["oas"] = {"wait": 80.0, "makespan": 45}
            made.kept.add(f"stream load {load:g} seed {seed}", stream | {"facts": facts})
    made.kept.add("favoured matching", dict.fromkeys(PAPER_HEURISTICS, 1) | {"fpfs": 9})
    made.kept.add("favoured small-first", dict.fromkeys(PAPER_HEURISTICS, 5) | {"lpt": 9})
    return made


def test_claims_that_fail_are_named(pieces):
    told = claims(Summary(pieces, 2, 20))
    failed = [line for line in told.splitlines() if "**fails**" in line]
    assert any("`slots 50 %` at or below the best of the six on 0 of 6" in line for line in failed)
    assert any("SJF is best or tied on 5 of 300" in line for line in failed)
    assert any("makespans become similar" in line for line in failed)
    assert any("% above `oas`" in line for line in failed)
    assert "`oas` at or below the best of the six on 6 of 6 workloads | by construction" in told
    assert "`oas` at or above the best of the six on 6 of 6 workloads | holds" in told
    assert "FPFS is best or tied on 9 of 300" in told


def test_small_slots_are_judged_by_the_least_of_all_sizes_and_by_none(pieces):
    """As figure 3 does, which knows no schedule without slots; on both sides, with the seeds."""
    told = claims(Summary(pieces, 2, 20)).splitlines()
    own, without = (line for line in told if "minimum (4.1)" in line or "no slots give" in line)
    assert "9.7 ± 0.5 % above the least of all slot sizes, 0.0 % at 15 %, 4.3 % at 20 %" in own
    assert "± 6.4 % above `oas` | **fails**" in without


def test_each_technique_is_counted_as_best_and_as_worst(pieces):
    """One that is never the worst is against the paper's sentence."""
    first = pieces.kept["workload WL-1 seed 0"]
    pieces.kept.add("workload WL-1 seed 0", first | {"FPFS": {"makespan": 90, "compaction": 80}})
    told = claims(Summary(pieces, 2, 20))
    assert "FCFS 5 and 6, SJF 5 and 6, BJF 5 and 6, FPFS 6 and 5" in told
    assert "but FPFS is seldom bad" in told


def test_streams_are_counted_one_by_one(pieces):
    summary = Summary(pieces, 2, 20)
    assert "| 1 | FCFS | -20.0 ± 0.0 | 12 of 12 |" in summary.streams()
    assert summary.beaten("wait").endswith("12 of 12 at load 1, 12 of 12 at load 2")
    assert summary.beaten("makespan").endswith("6 of 12 at load 2")
    assert "48 of 120 were proven" in summary.plan_gaps()


def test_what_was_not_made_is_a_dash(pieces):
    summary = Summary(pieces, 2, 20)
    assert "| 15 | 2 | 15.5 ± 6.4 | 90.0 ± 0.0 | 2 of 2 | - | - |" in summary.slots()
    assert summary.counted() == "with 1 seeds for each workload, 2 for each slot size"


def test_an_interval_is_student_s():
    mean, half = mean_and_half([1.0, 2.0, 3.0])
    assert (mean, half) == (2.0, pytest.approx(4.3027 / 3**0.5, rel=1e-3))
    assert mean_and_half([5.0]) == (5.0, None)


def test_the_law_of_the_solving_time_is_told_from_runs_that_ended(pieces):
    for seed in range(2):
        for percent in (50, 75, 100, 200, 250):
            seconds = (1 + seed) * 3.0 ** (100 / percent)
            status = "optimal" if percent > 50 else "time is up"
            made = {"cpu_seconds": seconds, "status": status}
            pieces.kept.add(f"small mip started 3 jobs {percent} % seed {seed}", made)
    told = claims(Summary(pieces, 2, 20))
    assert "2 queues of 3 jobs, 4 to 4 slot sizes of 50 to 250 % each" in told
    assert "explains 100 % of the variance" in told
    assert "3.0 times as long" in told


def test_a_power_law_is_told_from_an_exponential_one():
    found = growth([{p: c * (100 / p) ** 4 for p in (20, 50, 100, 200)} for c in (1.0, 7.0)])
    assert found.power == pytest.approx(1.0)
    assert found.degree == pytest.approx(4.0)
    assert found.exponential < 0.99

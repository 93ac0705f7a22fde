"""The claims about dynP, and steps that are kept: each is solved once."""

from dataclasses import replace

import pytest
from papers.dynp_claims import claims
from papers.kept_pieces import KeptPieces
from papers.study import rank_correlation

from papers import dynp_optimal
from queuesmith import lublin, simulate
from queuesmith.planning.gap import GapStudy, gap
from queuesmith.planning.steps import snapshots


@pytest.fixture(scope="module")
def steps():
    busy = simulate(lublin(200, 32, load=1.5, seed=4), cores=32, policy="fcfs+easy")
    found = list(snapshots(busy, steps=4, fewest=20, most=30))
    assert len(found) == 4
    return found


@pytest.fixture(scope="module")
def ours(steps):
    return gap(steps, objective="sldwa", seconds=0.2)


def solved(steps, ours, factor):
    """What the paper's model might have found: so many times the value of the best policy."""
    return [
        (
            step,
            {
                "status": "optimal",
                "value": factor * found.policy_value,
                "variables": 100 + place,
                "scale": 60,
                "seconds": 2.0 - place,
            },
        )
        for place, (step, found) in enumerate(zip(steps, ours.steps, strict=True))
        if place < 2
    ]


def judged(ours, steps, factor):
    rows = [claim.row() for claim in claims(ours, steps, solved(steps, ours, factor))]
    return {row["the paper"].split(" (")[0]: row for row in rows}


def test_each_sentence_is_judged_by_what_was_found(ours, steps):
    rows = judged(ours, steps, 0.97)
    assert len(rows) == 11
    close = rows["the best policy loses less than 1 % on average, 0.7 %"]
    assert "by the paper's model 3.00 % on the 2 steps" in close["found here"]
    negative = rows["sometimes a policy is better than the model, because of the time scale"]
    assert negative[""] == "undecided"
    unpredictable = next(row for name, row in rows.items() if "cannot be predicted" in name)
    assert "times as long, or more; ranks of variables" in unpredictable["found here"]
    assert unpredictable[""] == "**fails**"
    assert rows["with many jobs the loss is very small and in the 1 % range"][""] == "not measured"


def test_a_policy_that_is_better_by_a_rounding_decides_nothing(ours, steps):
    rows = judged(ours, steps, 1 + 1e-7)
    negative = rows["sometimes a policy is better than the model, because of the time scale"]
    assert "on 2 of the 2 steps" in negative["found here"]
    assert "by at most 1e-05 %" in negative["found here"]
    assert negative[""] == "undecided"


def test_a_policy_that_is_better_than_the_model_is_counted(ours, steps):
    rows = judged(ours, steps, 1.01)
    negative = rows["sometimes a policy is better than the model, because of the time scale"]
    assert (negative["found here"][:9], negative[""]) == ("on 2 of t", "holds")


def test_a_plan_worse_than_a_policys_would_be_told(ours, steps):
    worse = [replace(step, value=step.policy_value * 1.1) for step in ours.steps]
    rows = judged(GapStudy(worse, "sldwa"), steps, 0.97)
    name = "without time scaling a solver always finds at least a policy's schedule, most likely a "
    assert rows[name + "better one"][""] == "**fails**"


def test_a_step_is_solved_once(steps, tmp_path, monkeypatch):
    kept = KeptPieces(tmp_path / "kept.json")
    first = dynp_optimal.study(steps, 0.2, kept)
    monkeypatch.setattr(dynp_optimal, "gap", None)
    again = dynp_optimal.study(steps, 0.2, KeptPieces(tmp_path / "kept.json"))
    assert again.steps == first.steps


def test_ranks_agree_whatever_the_distances():
    assert rank_correlation([1, 2, 30], [5, 6, 7]) == pytest.approx(1)
    assert rank_correlation([1, 2, 30], [7, 6, 5]) == pytest.approx(-1)

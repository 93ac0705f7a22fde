"""The page on knobs, made of pieces that stand for measured ones."""

import numpy as np
import pytest
from papers.dynamic_priority_figures import BALANCE, _announced, _as_announced, _halved
from papers.dynamic_priority_sweeps import (
    OBJECTIVES,
    SCHEDULERS,
    Sweeps,
    _found,
    figure_6_claims,
)
from papers.dynamic_priority_tuning import BEFORE, INTREPID, LOGS, NOW, _name, text
from papers.dynamic_priority_tuning import OBJECTIVES as TUNED
from papers.kept_pieces import KeptPieces

from queuesmith import lublin
from queuesmith.knobs import Knobs, sweep


@pytest.fixture(scope="module")
def log():
    jobs = lublin(60, 32, load=1.2, seed=2)
    return jobs.replaced(extra={**jobs.extra, "allocated_cores": jobs.cores})


@pytest.fixture(scope="module")
def found(log):
    return _found(sweep(log, cores=32, ranges="-1:1:1", backfill="easy"))


def test_a_search_is_kept_as_numbers(log, found):
    swept = sweep(log, cores=32, ranges="-1:1:1", backfill="easy")
    assert (found["settings"], found["jobs"]) == (27, 60)
    assert found["low"][4] == swept.costs[:, 4].min()
    waits = swept.costs[:, 5]
    best = found["best"]["mean_wait"]
    assert best["value"] == waits.min()
    assert best["near"] == np.count_nonzero(waits <= 1.01 * waits.min())


def test_the_sections_are_made_of_what_is_kept(log, found, tmp_path):
    kept = KeptPieces(tmp_path / "kept.json")
    timed = {**found, "processor_seconds": 1.5}
    for size in ("requested", "allocated"):
        for scheduler, *_ in SCHEDULERS:
            kept.add(f"50 jobs {size} {scheduler}", timed)
    for cores in (163_840, 65_536):
        kept.add(f"1,000 jobs {cores} cores", timed)
        for objective in OBJECTIVES:
            kept.add(f"1,000 jobs {cores} cores quick {objective}", {**timed, "settings": 9})
    kept.add("the whole log quick", timed)
    sweeps = Sweeps(log.replaced(machine_cores=32), kept)
    page = sweeps.text()
    assert page.count("| requested |") == 3
    assert page.count("| 0.000 % | 9 (33.3%) |") == 12
    assert "27 full replays in 2 s of the\nprocessor" in page
    claims = figure_6_claims(sweep(log, cores=32, ranges="-1:1:1", backfill="easy"), kept)
    told = [claim.row() for claim in (*claims, sweeps.class_b_claim())]
    assert told[0]["found here"].startswith("1.5 s of the processor; ")
    assert (told[0][""], told[3][""], told[4][""]) == ("faster", "**fails**", "not measured")
    assert told[5]["found here"].startswith("on the whole log E_f of B is ")


def test_a_longer_response_time_is_called_longer_and_every_knob_must_be_followed():
    claim = _halved({Knobs(1, 0, 0): [100.0, 100.0], BALANCE: [104.0, 106.0]})
    assert claim.found.endswith("% longer than the mean of the four settings of figure 2")
    assert not claim.holds
    assert _as_announced(Knobs(-1, 0, -1), 0.9, 0.4)
    assert not _as_announced(Knobs(-1, 0, -1), 0.9, -0.1)
    assert _announced([True, False]).row()[""] == "**fails**"


def held_out(ours, fixed):
    values = {"self-tuning": ours, "best fixed": fixed, "best fixed among neighbours": 1.0}
    values |= {"best fixed in hindsight": 0.9, "first come, first served": 3.0}
    rows = {
        name: {"knobs": "4 turns", "held out": value, "longest wait": 7200.0}
        for name, value in values.items()
    }
    return {"rows": rows, "gain": [100 * (1 - ours / fixed), -1.0, 2.0]}


def test_a_loss_is_told_as_one(tmp_path):
    kept = KeptPieces(tmp_path / "kept.json")
    for log in LOGS:
        for objective in TUNED:
            kept.add(_name(log, objective, NOW), held_out(1.06 if log == INTREPID else 0.8, 1.0))
            kept.add(_name(log, objective, BEFORE), held_out(1.43, 1.0))
    page = text(kept)
    assert (
        "**On ANL-Intrepid one fixed setting did better**, though by no more than chance: +6.0 %"
        in page
    )
    assert "it is 20 % better than the best fixed setting by the geometric mean, -20 %" in page
    assert "(before: 43 % worse than the best fixed setting" in page
    assert "+6.0 (-2.0 to +1.0)" in page

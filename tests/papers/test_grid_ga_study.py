from dataclasses import replace

import numpy as np
import pytest
from papers.grid_ga_curves import Curves
from papers.grid_ga_figures import FIGURE_SEEDS, POINTS, Compared, compared_figures
from papers.grid_ga_operators import comparisons
from papers.grid_ga_paper import TABLE_5, TABLE_6
from papers.grid_ga_runs import COLUMNS, Pieces, _stem, generated_names
from papers.grid_ga_tables import WORK, Summary
from papers.kept_pieces import KeptPieces

from papers import grid_ga_figures, grid_ga_runs

NAMES = ["u_c_hihi.0", "u_i_lolo.0"]


@pytest.fixture
def pieces(tmp_path, data, monkeypatch):
    monkeypatch.setenv("QUEUESMITH_DATA", str(data))
    return Pieces(tmp_path / "work" / "kept.json", seconds=0.2, exact_seconds=1.0, workers=1)


def keep(pieces, column, name, seed, makespans):
    """Keep a run as if it had been made."""
    course = {moment: {"makespan": m, "flowtime": 10 * m} for moment, m in makespans.items()}
    last = list(makespans)[-1]
    by_time = last != WORK
    stop = f"{last} s" if by_time else f"{COLUMNS[column].generations} generations"
    start = _stem(column, name, by_time=by_time)
    pieces.kept.add(f"{start}{stop} seed {seed}", {"course": course, "end": course[last]})


@pytest.mark.data
def test_a_run_that_is_kept_is_read_and_not_made_again(pieces):
    pieces.make_runs("carretero", NAMES[:1], 1)
    (run,) = pieces.runs("carretero", NAMES[0])
    assert run["course"]["0.2"]["makespan"] > TABLE_5[NAMES[0]].simultaneous
    keep(pieces, "carretero", NAMES[0], 0, {"0.2": 1.0})
    again = Pieces(pieces.kept.path, seconds=0.2, exact_seconds=1.0, workers=1)
    again.make_runs("carretero", NAMES[:1], 1)
    assert again.runs("carretero", NAMES[0])[0]["course"]["0.2"]["makespan"] == 1.0


@pytest.mark.data
def test_claims_are_judged_at_the_paper_s_work_and_say_how_many_runs_there_were(pieces):
    for name in NAMES:
        paper = TABLE_5[name].simultaneous
        keep(pieces, "carretero", name, 0, {WORK: 1.01 * paper})
        keep(pieces, "queuesmith", name, 0, {"0.1": 1.1 * paper, "0.2": 0.99 * paper})
    keep(pieces, "carretero", NAMES[0], 1, {WORK: 1.0})
    keep(pieces, "queuesmith", NAMES[0], 1, {"0.2": 2 * TABLE_5[NAMES[0]].simultaneous})
    kept_figures(pieces.curves, ["u_c_hihi"])
    summary = Summary(pieces, NAMES, early=[0.1])
    claims = summary.claims()
    assert "cx is best by far (figure 5) | `cx` ranks 6 of 7" in claims
    found = "`carretero`, best of 1 to 2 runs: at or below the paper's on 1 of 2"
    assert f"{found} | **fails**" in claims
    assert "`strict`: not run | not measured" in claims
    assert "(table 5) | not run | not measured" in claims
    assert "it ends below Min-Min, 12 of 12 (table 5), with our choices | `carretero` on" in claims
    words = summary.reached()
    assert "1 to 2 runs, after 0.2 s: below the paper's makespan in every run on 1 of 2" in words
    assert "exact" not in words
    assert summary.larger() == summary.generated() == summary.front(NAMES[0]) == ""
    table = summary.work_table([("carretero", "simultaneous")], WORK)
    assert "| u_i_lolo.0 | 2613.1 | +1.00 | +1.00 |" in table
    columns = [("queuesmith", "simultaneous"), ("braun", "braun")]
    assert summary.equal_time(columns, "0.2") == (
        "- `queuesmith` (table 5, simultaneous), best of 1 to 2 runs: at or below the paper's on 2 "
        "of 2."
    )
    assert summary.equal_time(columns[1:], "0.2") == "No column was run as long."
    assert "best, 0.1 s" in summary.own_makespans()


@pytest.mark.data
def test_a_long_run_stands_for_a_short_one_too(pieces):
    (name,) = NAMES[:1]
    keep(pieces, "carretero", name, 0, {"0.1": 9.0, "0.2": 8.0})
    keep(pieces, "carretero", name, 0, {"0.1": 7.0, "0.2": 6.0, "1": 5.0})
    keep(pieces, "carretero", name, 1, {"0.1": 4.0, "0.2": 3.0})
    summary = Summary(pieces, [name], early=[0.1])
    assert summary.values("carretero", name, "0.2") == [6.0, 3.0]
    assert summary.values("carretero", name, "1") == [5.0]
    assert summary.values("carretero", name, WORK) == []


def test_pieces_are_added_by_several_and_none_is_lost(tmp_path):
    one, other = (KeptPieces(tmp_path / "kept.json") for _ in range(2))
    one.add("a", {"x": 1})
    other.add("b", {"x": 2})
    assert sorted(KeptPieces(tmp_path / "kept.json").names()) == ["a", "b"]
    assert one.piece("c") is None
    made = KeptPieces(tmp_path / "kept.json")
    assert made.piece("a", lambda: {"x": 9}) == {"x": 1}


def test_large_instances_are_generated_and_their_gaps_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(grid_ga_runs, "SIZES", ((40, 4), (60, 4)))
    monkeypatch.setattr(grid_ga_runs, "SEED", 3)
    pieces = Pieces(tmp_path / "kept.json", seconds=0.2, exact_seconds=1.0, workers=1)
    found = [pieces.exact(name, "makespan") for name in generated_names()]
    near = sum(piece["gap_percent"] <= 1 for piece in found)
    page = Summary(pieces, [], early=[]).generated()
    assert f"within 1 % of the proven bound on {near} of 6" in page
    assert "| u_s_hihi-60x4-seed3 |" in page
    assert "CPR" not in page


def test_the_figures_compare_all_operators_of_the_paper():
    figures = comparisons()
    assert [figure.title.split(":")[0] for figure in figures] == [
        "Figure 3, left",
        "Figure 3, right",
        "Figure 4",
        "Figure 5",
        "Figure 6",
        "Figure 7",
    ]
    assert figures[3].configs["cx"].generations == 2500
    assert figures[5].configs["steady-state"].generations == 16500
    work = {name: c.children * c.generations for name, c in figures[5].configs.items()}
    assert max(work.values()) < 1.3 * min(work.values())


def kept_figures(kept, kinds):
    """Keep runs of all curves that end the higher, the later their configuration comes."""
    for comparison in comparisons():
        for configs in (comparison.configs, comparison.ours):
            for place, config in enumerate(configs.values()):
                for kind in kinds:
                    name = grid_ga_figures._name(config, kind, FIGURE_SEEDS[0])
                    above = [90.0] * (POINTS - 1) + [10.0 + place]
                    kept._pieces.setdefault(name, {"above": above})
    return kept


def compared(comparison, ends):
    """A figure whose curves end at given values, one for each of three runs, on either reading."""
    rows = {
        label: np.tile(np.broadcast_to(ends.get(label, 50.0), 3)[:, None], POINTS)
        for label in comparison.configs
    }
    curves = Curves(rows, ("consistent", "consistent", "inconsistent"))
    return Compared(comparison, curves, curves)


def test_figures_are_of_the_instances_on_which_every_curve_was_run(tmp_path):
    kept = kept_figures(KeptPieces(tmp_path / "kept.json"), ["u_c_hihi", "u_s_lolo"])
    assert compared_figures(KeptPieces(tmp_path / "kept.json")) == []
    kept._pieces["figures u_i_hihi seed 501 half"] = {"above": []}
    left, *_, crossover, selection, _ = compared_figures(kept)
    assert left.printed.consistency == ("consistent", "semi-consistent")
    assert left.title == "Figure 3, left: move & swap (mean of 2 runs)"
    assert left.claims() == []
    row = "| one-point | 10.0 | 0.00 ± 0.00 | 10.0 | - | 10.0 | 10.0 | 0.00 ± 0.00 |"
    assert row in crossover.table()
    assert "| two-point | 11.0 | 1.00 ± 0.00 |" in crossover.table()
    (claim,) = crossover.claims()
    assert claim.holds is False
    assert claim.found == "`cx` ranks 6 of 7, 5.00 ± 0.00 points behind `one-point`"
    assert claim.why == grid_ga_figures.NEITHER
    better = Curves(
        crossover.ours.rows | {"cx": crossover.ours.rows["cx"] - 9}, ("consistent",) * 2
    )
    (claim,) = replace(crossover, ours=better).claims()
    assert claim.why.startswith("with our operators: `cx` ranks 1 of 7, 4.00 ± 0.00 points before")
    assert claim.paper == "cx is best by far (figure 5)"
    assert selection.claims()[0].found.startswith("`binary-tournament` ranks 3 of 5")


def test_both_readings_differ_in_the_operators_that_the_paper_leaves_open():
    rebalancing, crossover, replacement = (comparisons()[place] for place in (1, 3, 5))
    assert crossover.configs["cx"].crossover == "cx-literal"
    assert crossover.ours["cx"].crossover == "cx"
    assert crossover.configs["pmx"].mutation == "rebalance-literal"
    for configs in (rebalancing.configs, rebalancing.ours):
        assert {config.crossover for config in configs.values()} == {"two-point"}
        assert {config.crossover_probability for config in configs.values()} == {0.7}
    assert not replacement.configs["if-better"].distinct


def test_an_order_is_judged_run_by_run_and_told_by_consistency():
    mutation = comparisons()[2]
    ends = {"rebalancing 75%": 1.0, "swap": 5.0, "move": np.array([6.0, 6.2, 8.0])}
    best, swap, worst = compared(mutation, ends).claims()
    assert best.holds
    assert "`rebalancing 75%` ranks 1 of 4, 4.00 ± 0.00 points before `swap`" in best.found
    assert swap.instead == "undecided"
    assert "(1.1 consistent, 3.0 inconsistent)" in swap.found
    assert (worst.holds, worst.instead) == (False, "")  # move & swap ends at 50


def test_the_best_by_far_is_so_only_beyond_chance_and_what_is_too_close_is_undecided():
    rebalancing, crossover = comparisons()[1], comparisons()[3]
    ends = np.array([1.0, 2.0, 3.0])
    for lead, holds in ((np.array([0.1, -0.2, 0.3]), False), (np.array([5.0, 5.1, 5.2]), True)):
        curves = dict.fromkeys(crossover.configs, ends + lead) | {"cx": ends}
        (claim,) = compared(crossover, curves).claims()
        assert claim.holds is holds
        assert "`cx` ranks 1 of 7" in claim.found
    curves = dict.fromkeys(rebalancing.configs, ends + 5)
    curves |= {"rebalancing 75%": ends, "rebalancing 100%": ends - [0.3, -0.2, 0.1]}
    (claim,) = compared(rebalancing, curves).claims()
    assert claim.row()[""] == "undecided"


def test_where_two_are_named_the_better_is_set_against_what_is_not_named():
    selection, replacement = comparisons()[4:]
    ends = {"binary-tournament": 1.0, "n-tournament": 1.1, "linear-ranking": 3.0}
    (claim,) = compared(selection, ends).claims()
    found = "`binary-tournament` ranks 1 of 5, 2.00 ± 0.00 points before `linear-ranking`"
    assert (claim.found, claim.holds) == (found, True)
    for elitist, holds, side in ((3.0, True, "before"), (1.5, False, "behind")):
        ends = {"if-better": 1.0, "steady-state": 2.0, "elitist": elitist}
        (claim,) = compared(replacement, ends).claims()
        assert claim.holds is holds
        assert f"`steady-state`, is {abs(elitist - 2):.2f} ± 0.00 points {side}" in claim.found


def test_a_curve_is_in_per_cent_above_the_bound(monkeypatch):
    monkeypatch.setattr(grid_ga_figures, "JOBS", 20)
    monkeypatch.setattr(grid_ga_figures, "MACHINES", 3)
    config = replace(comparisons()[0].configs["move & swap 40%"], generations=20)
    above = grid_ga_figures._course(config, "u_i_hihi", 7)["above"]
    assert len(above) == POINTS
    assert min(above) >= 0


def test_the_tables_of_the_paper_cover_the_same_twelve_instances():
    assert list(TABLE_5) == list(TABLE_6)
    assert len(TABLE_5) == 12

from dataclasses import replace

import numpy as np
import pytest
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
    assert "cx is best by far (figure 5) | `cx` is 6 of 7" in claims
    assert "`carretero`, best of 1 to 2 runs: at or below on 1 of 2 | **fails**" in claims
    assert "`strict`: not run | not measured" in claims
    words = summary.reached()
    assert "1 to 2 runs, after 0.2 s: below the paper's makespan in every run on 1 of 2" in words
    assert "exact" not in words
    assert summary.larger() == summary.generated() == summary.front(NAMES[0]) == ""
    table = summary.work_table([("carretero", "simultaneous")], WORK)
    assert "| u_i_lolo.0 | 2613.1 | +1.00 | +1.00 |" in table
    columns = [("queuesmith", "simultaneous"), ("braun", "braun")]
    assert summary.equal_time(columns, "0.2") == (
        "- `queuesmith` (table 5, simultaneous), best of 1 to 2 runs: at or below on 2 of 2."
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
        for place, config in enumerate(comparison.configs.values()):
            for kind in kinds:
                name = grid_ga_figures._name(config, kind, FIGURE_SEEDS[0])
                above = [90.0] * (POINTS - 1) + [10.0 + place]
                kept._pieces.setdefault(name, {"above": above})
    return kept


def test_figures_are_of_the_instances_on_which_every_curve_was_run(tmp_path):
    kept = kept_figures(KeptPieces(tmp_path / "kept.json"), ["u_c_hihi", "u_s_lolo"])
    assert compared_figures(KeptPieces(tmp_path / "kept.json")) == []
    kept._pieces["figures u_i_hihi seed 501 half"] = {"above": []}
    left, *_, crossover, selection, _ = compared_figures(kept)
    assert left.consistency == ("consistent", "semi-consistent")
    assert left.title == "Figure 3, left: move & swap (mean of 2 runs)"
    assert left.claim() is None
    assert "| one-point | 10.0 | 0.0 ± 0.0 | 10.0 | - | 10.0 |" in crossover.table()
    assert "| two-point | 11.0 | 1.0 ± 0.0 |" in crossover.table()
    claim = crossover.claim()
    assert claim.holds is False
    assert claim.found == "`cx` is 6 of 7, 5.0 ± 0.0 points behind `one-point`"
    assert claim.paper == "cx is best by far (figure 5)"
    assert selection.claim().found.startswith("`binary-tournament` is 3 of 5")


def test_a_figure_s_claim_holds_only_in_the_order_that_the_paper_states(tmp_path):
    mutation = comparisons()[2]
    for order, holds in ((mutation.order, True), (("rebalancing 75%", "move", "swap"), False)):
        ends = dict.fromkeys(mutation.configs, 50.0) | {
            label: float(place) for place, label in enumerate(order)
        }
        curves = {label: np.full((3, POINTS), end) for label, end in ends.items()}
        assert Compared(mutation, curves, ("consistent",) * 3).claim().holds is holds


def test_the_best_by_far_is_so_only_beyond_chance_and_what_is_too_close_is_undecided():
    mutation, crossover = comparisons()[1], comparisons()[3]
    ends = np.array([1.0, 2.0, 3.0])
    for lead, holds in ((np.array([0.1, -0.2, 0.3]), False), (np.array([5.0, 5.1, 5.2]), True)):
        curves = {label: np.tile((ends + lead)[:, None], POINTS) for label in crossover.configs}
        curves["cx"] = np.tile(ends[:, None], POINTS)
        claim = Compared(crossover, curves, ("consistent",) * 3).claim()
        assert claim.holds is holds
        assert "`cx` is 1 of 7" in claim.found
    curves = {label: np.tile((ends + 5)[:, None], POINTS) for label in mutation.configs}
    curves["rebalancing 75%"] = np.tile(ends[:, None], POINTS)
    curves["rebalancing 100%"] = np.tile((ends - [0.3, -0.2, 0.1])[:, None], POINTS)
    claim = Compared(mutation, curves, ("consistent",) * 3).claim()
    assert claim.row()[""] == "undecided"


def test_where_two_are_named_the_better_is_set_against_what_is_not_named():
    selection = comparisons()[4]
    ends = {"binary-tournament": 1.0, "n-tournament": 1.1, "linear-ranking": 3.0}
    curves = {label: np.full((3, POINTS), ends.get(label, 9.0)) for label in selection.configs}
    claim = Compared(selection, curves, ("consistent",) * 3).claim()
    assert claim.found == "`binary-tournament` is 1 of 5, 2.0 ± 0.0 points before `linear-ranking`"
    assert claim.holds


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

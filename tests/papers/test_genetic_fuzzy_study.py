import pytest
from papers.genetic_fuzzy_approaches import APPROACHES, parse_settings
from papers.genetic_fuzzy_claims import claims
from papers.genetic_fuzzy_course import courses
from papers.genetic_fuzzy_draws import more_draws
from papers.genetic_fuzzy_logs import PAPER_JOBS, Scaling
from papers.genetic_fuzzy_paper import TABLE_4
from papers.genetic_fuzzy_price import extensions, held_out, missing, waits
from papers.genetic_fuzzy_results import Results, Spread
from papers.genetic_fuzzy_rolling import rolling_table
from papers.genetic_fuzzy_runs import Runs, kept_results, with_nine_digits
from papers.genetic_fuzzy_scalings import other_scalings
from papers.genetic_fuzzy_tables import improvements, rivals
from papers.kept_pieces import KeptPieces

import queuesmith as qs
from papers import genetic_fuzzy, genetic_fuzzy_draws, genetic_fuzzy_logs
from queuesmith.base.errors import UsageError

CORES = 256
TINY = {"generations": 1, "offspring": 2}


@pytest.fixture
def kept(tmp_path):
    return KeptPieces(tmp_path / "kept.json", apart="policy")


@pytest.fixture
def runs(kept, monkeypatch):
    """Runs on a CTC log that is some jobs of the demo, on a machine of its size."""
    monkeypatch.setattr(genetic_fuzzy_logs, "CORES", CORES)
    runs = Runs(kept, "CTC", Scaling(), workers=1)
    runs.log = qs.demo_workload().select(range(600))
    return runs


def test_what_was_learned_is_kept_and_not_learned_again(runs, kept):
    first = runs.learned("pitts", "held out", 1, TINY)
    assert first["evaluations"] == 3 + 2
    assert set(first["held out"]["gain"]) == {"baseline", "best fixed"}
    assert set(first["learning"]["learned"]["waits"]) == {"1", "2", "3", "4", "5"}
    kept = KeptPieces(kept.path, apart="policy")
    again = Runs(kept, "CTC", Scaling())  # whoever learned again would need a log
    assert again.learned("pitts", "held out", 1, TINY) == first
    assert again.learned("pitts", "held out", 2, TINY) is None


def test_what_is_long_is_kept_in_a_file_of_its_own(tmp_path):
    kept = KeptPieces(tmp_path / "kept.json", apart="policy")
    kept.add("learned", {"f": 1, "policy": {"name": "a"}})
    kept.add("fixed", {"f": 2})
    again = KeptPieces(kept.path, apart="policy")
    assert again["learned"] == {"f": 1, "policy": {"name": "a"}}
    assert again.piece("fixed") == {"f": 2}
    assert again.piece("other") is None
    assert KeptPieces(kept.path)["learned"] == {"f": 1}
    assert KeptPieces(tmp_path / "kept_policy.json").names() == ["learned"]


def test_policies_are_kept_with_nine_digits_of_each_number():
    content = {"name": "a", "rules": {"centre": [[0.12345678912345, 2.0]], "count": 3}}
    kept = {"name": "a", "rules": {"centre": [[0.123456789, 2.0]], "count": 3}}
    assert with_nine_digits(content) == kept


def test_the_paper_s_learners_start_from_chance_and_change_every_number():
    for name in ("pitts", "cca"):
        settings = APPROACHES[name].method().settings()
        assert (settings["seeded"], settings["changed"]) == (0, 1.0)
        assert APPROACHES[name].method().evaluations == 843
        assert APPROACHES[name].longest_wait is None
    assert APPROACHES["prob"].method().evaluations == 651
    assert all(approach.longest_wait == 2 for approach in APPROACHES.values() if approach.ours)


def test_settings_are_for_all_approaches_or_for_one():
    found = parse_settings(["generations=5", "cca:step=0.2"], ["pitts", "cca"])
    assert found == {"pitts": {"generations": 5}, "cca": {"generations": 5, "step": 0.2}}


@pytest.mark.parametrize(
    "text", ["genrations=5", "cca:genrations=5", "prob:step=1", "rigid:step=1"]
)
def test_a_setting_or_an_approach_that_is_unknown_is_refused(text):
    with pytest.raises(UsageError, match=r"no (parameter|approach)"):
        parse_settings([text], ["prob", "cca"])


def test_a_log_is_scaled_from_its_machine_or_to_the_paper_s_jobs():
    assert Scaling().size("CTC", 77_222) == 430
    size = Scaling(paper_jobs=True).size("CTC", 77_222)
    expected = 77_222 * (1 + 1024 / size) / 2
    assert expected == pytest.approx(PAPER_JOBS["CTC"], rel=0.01)


def test_a_spread_tells_median_range_and_seeds():
    assert str(Spread((3.0, 1.0, 2.0))) == "2.00 (1.00 to 3.00, 3 seeds)"
    assert str(Spread((1.5,))) == "1.50 (1 seed)"


def test_spreads_overlap_where_they_have_a_value_in_common():
    wide, above, inside = Spread((1.0, 3.0)), Spread((3.1, 4.0)), Spread((2.0,))
    assert not wide.overlaps(above) and not above.overlaps(wide)
    assert wide.overlaps(inside) and inside.overlaps(wide)


def known(runs):
    pieces = {
        (name, part): [runs.learned(name, part, 0, TINY)]
        for name, part in (("pitts", "all"), ("pitts", "held out"), ("ours", "all"))
    }
    return Results("CTC", runs.fixed(), pieces)


def test_the_page_says_what_holds_and_what_was_not_run(runs):
    results = known(runs)
    gain = results.gains("pitts").median
    assert f"| {gain:.2f} (1 seed) |" in improvements([results])
    assert "| - | - | - |" in rivals([results])  # no PROB, no CCA
    assert "PROB (all)" in missing([results])
    assert "PITTS (all)" not in missing([results])


def test_the_claims_come_first_in_short(runs):
    results = known(runs)
    text = claims([results], runs.kept)
    holds = "holds" if results.gains("pitts").median >= TABLE_4["CTC"][-1] else "**fails**"
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert "PITTS improves f" in rows[1] and f"| {holds} |" in rows[1]
    assert "PROB improves f" in rows[2] and "| not measured |" in rows[2]
    assert f"{results.gains('ours').median:.1f} of " in text  # so few rounds do not reach it
    longest = max(own[1] for own in results.easy["waits"].values()) / 86_400
    assert f"under EASY {longest:,.1f}." in text
    assert "tune, as it is" not in text  # not run
    assert claims([Results("CTC", runs.fixed(), {})], runs.kept) == ""


def test_the_course_shows_how_far_children_are_from_the_best():
    ends = [(30.0, 22.0, 20.0), (12.0, 10.0, 10.0), (15.0, 13.0, 10.0)]
    runs = [
        {"course": dict(zip(("at first", "at last", "best"), own, strict=True))} for own in ends
    ]
    table = courses([Results("CTC", {}, {("pitts", "all"): runs, ("prob", "all"): runs})])
    assert "| CTC | PITTS | 3 | 50.0 | 10.0 |" in table
    assert "PROB" not in table  # it has no generations
    assert courses([Results("CTC", {}, {})]) == ""


def test_every_gain_has_the_waits_of_all_groups_beside_it(runs):
    results = known(runs)
    table = waits([results])
    longest = results.easy["waits"]["1"][1] / 86_400
    assert f"| EASY | 0.00 | {longest:,.1f}" in table
    assert "| group 5 |" in table
    beaten = results.of("pitts", "held out")[0]["held out"]["gain"]["best fixed"][0] > 0
    assert f"| PITTS | {int(beaten)} of 1 |" in held_out([results])
    assert f"| {results.over_best_of_thirteen('pitts'):.2f} |" in held_out([results])
    assert "tune, the thirteen" in extensions([results])


def test_the_page_is_made_of_what_is_kept(runs, kept, tmp_path):
    runs.fixed()
    runs.piece("pitts, all, seed 0", lambda: runs._learned("pitts", "all", 0, TINY, "pitts"))
    results = kept_results(KeptPieces(kept.path), tmp_path, Scaling())
    assert [each.name for each in results] == ["CTC"]
    assert len(results[0].of("pitts")) == 1
    assert "## What groups pay" in genetic_fuzzy.report(results, kept, tmp_path)


def test_logs_that_are_scaled_in_another_way_have_a_table_of_their_own(runs, kept, tmp_path):
    assert other_scalings(kept, tmp_path) == ""
    again = Runs(kept, "CTC", Scaling(1), workers=1)
    again.log = runs.log
    again.fixed()
    again.piece("pitts, all, seed 0", lambda: again._learned("pitts", "all", 0, TINY, "pitts"))
    gains, easy, _, learned = (
        line for line in other_scalings(kept, tmp_path).splitlines() if "| CTC |" in line
    )
    assert "| scaling 1 |" in gains and "(1 seed)" in gains
    assert easy.startswith("| scaling 1 | CTC | EASY | 0.00 |")
    assert learned.startswith("| scaling 1 | CTC | PITTS |")
    again.piece("race, all, seed 0", lambda: again._learned("pitts", "all", 0, TINY, "pitts"))
    text = other_scalings(kept, tmp_path)
    assert "Extensions of ours there" in text
    assert "| scaling 1 | CTC | tune, as it is |" in text


def test_prob_with_more_draws_stands_beside_the_papers(runs, kept, tmp_path, monkeypatch):
    monkeypatch.setattr(genetic_fuzzy_draws, "MORE", 1)
    runs.fixed()
    assert more_draws(kept_results(kept, tmp_path, Scaling()), kept) == ""
    runs.learned("prob", "all", 3, {"participations": 1})
    text = more_draws(kept_results(kept, tmp_path, Scaling()), kept)
    assert "| log | PROB, 650 rule bases drawn | 13 drawn |" in text
    assert "| CTC | - |" in text and "(1 seed)" in text
    assert "CTC alone: 9.47 %" in text


def test_what_is_learned_again_each_month_is_counted_for_each_method(kept):
    def months(*gains):
        return {"rows": [{"learned up to day": 30, "over best fixed (%)": each} for each in gains]}

    assert rolling_table(kept) == ""
    kept.add("CTC, scaling 0: rolled 3 times, pittsburgh, seed 0", months(1.0, -1.0, None))
    kept.add("CTC, scaling 0: rolled 3 times, race, seed 0", months(2.0))
    table = rolling_table(kept)
    assert "pittsburgh in 1 of 2 months; race in 1 of 1 month." in table
    assert "| CTC | pittsburgh | 30 | - |" in table

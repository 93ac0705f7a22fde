import pytest
from papers.genetic_fuzzy_figures import draw_figures
from papers.genetic_fuzzy_results import Results
from papers.genetic_fuzzy_runs import OBJECTIVE, Budget, Pieces, best_of, guarded_objective
from papers.genetic_fuzzy_tables import budgets, held_out, improvements

import queuesmith as qs
from papers import genetic_fuzzy, genetic_fuzzy_runs

CORES = 256


@pytest.fixture
def pieces(tmp_path, monkeypatch):
    """Pieces of a study whose CTC log is some jobs of the demo, on a machine of its size."""
    monkeypatch.setattr(genetic_fuzzy_runs, "CORES", CORES)
    pieces = Pieces(tmp_path, scale_seed=0, workers=1, only_kept=False)
    pieces._logs = {"CTC": qs.demo_workload().select(range(600))}
    return pieces


@pytest.fixture
def tiny():
    """PITTS with the keeping strategies, as few replays as it can have."""
    return Budget(generations=1, participations=None, settings={"offspring": 2}).method("keep")


def results(pieces, on_all=(), split=()):
    return Results("CTC", pieces.fixed("CTC"), dict(on_all), dict(split), front=None)


def test_what_was_learned_is_kept_and_not_learned_again(pieces, tiny, tmp_path):
    first = pieces.learned("CTC", tiny, 0.7, seed=1, guarded=True)
    assert first["seed"] == 1
    assert first["evaluations"] == 3 + 2
    assert set(first["held_out"]["improvement"]) == {"baseline", "best_fixed", "thirteen"}
    pieces._logs = {}  # whoever would learn again needs the log
    again = Pieces(tmp_path, scale_seed=0, workers=1, only_kept=True)
    assert again.learned("CTC", tiny, 0.7, seed=1, guarded=True) == first
    assert again.learned("CTC", tiny, 0.7, seed=2, guarded=True) is None


def test_the_wall_stands_where_the_utilisation_may_not_fall_further(pieces):
    workload = pieces.log("CTC")
    easy = qs.simulate(workload, qs.Cluster(CORES), "fcfs+easy")
    slow = qs.simulate(workload, qs.Cluster(CORES), "fcfs")
    least = {
        name: s.value("utilization") - 0.0009 for name, s in {"easy": easy, "slow": slow}.items()
    }
    assert least["slow"] < least["easy"]
    assert (
        guarded_objective(slow, None)
        == f"{OBJECTIVE} + 1e9*max(0, {least['easy']:.6f} - utilization)"
    )
    assert f"max(0, {least['slow']:.6f} -" in guarded_objective(slow, 0.7)
    assert f"max(0, {least['easy']:.6f} -" in guarded_objective(easy, 0.7)


def test_of_several_runs_the_best_on_the_jobs_learned_from_counts():
    runs = [{"learning": {"learned": {"f": f}}} for f in (3.0, 1.0, 2.0)]
    assert best_of(runs) == {**runs[1], "runs": runs}


def test_the_page_says_what_was_reached(pieces, tiny):
    runs = [pieces.learned("CTC", tiny, None, seed=seed) for seed in (0, 1)]
    split = [pieces.learned("CTC", tiny, 0.7, seed=0, guarded=True)]
    known = results(pieces, on_all={"keep": best_of(runs)}, split={"keep": best_of(split)})
    gains = [run["learning"]["improvement"]["baseline"][0] for run in runs]
    assert f"| {max(gains):.2f} |" in improvements([known])
    assert f"| {gains[0]:.2f}, {gains[1]:.2f} | - | - |" in budgets([known])
    beaten = split[0]["held_out"]["improvement"]
    won = all(beaten[part][0] > 0 for part in ("baseline", "thirteen"))
    assert f"PITTS that keeps cores free on {int(won)} of 1" in held_out([known])
    assert [title[:8] for title in draw_figures([known])] == ["Figure 5", "Figure 6"]


def test_the_page_names_the_command_that_made_it(pieces, monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["genetic_fuzzy", "--logs", "CTC", "--runs", "3", "--only-kept"]
    )
    asked = genetic_fuzzy._arguments()
    page = genetic_fuzzy.report([results(pieces)], asked)
    assert "python -m papers.genetic_fuzzy --logs 'CTC' --runs 3" in page
    assert "not learned in the time there was" in page
    assert "## Fixed strategies that keep cores free" in page

from queuesmith.report import Comparison, write_report
from queuesmith.report.gantt import gantt_payload, unpacked
from queuesmith.report.lanes import assign_lanes
from queuesmith.report.placed import best_proven, place_use
from queuesmith.solving.status import Proof
from tests.schedule.machines import Nodes, placed


def test_rectangles_lie_in_the_band_of_their_place():
    lanes = assign_lanes(placed())
    drawn = sorted(zip(lanes.job.tolist(), lanes.low.tolist(), lanes.height.tolist(), strict=True))
    assert drawn == [(0, 0, 2), (0, 2, 1), (1, 0, 2), (2, 3, 1)]
    assert lanes.cores == 5


def test_a_schedule_that_cannot_be_is_drawn_as_one_band():
    lanes = assign_lanes(placed(Nodes(forbidden="no.")))
    assert lanes.cores == 5


def test_the_chart_knows_names_places_and_times_of_pieces():
    payload = gantt_payload([placed()])
    assert payload["names"] == {"0": "a", "1": "b", "2": "c"}
    assert payload["places"] == {"names": ["n0", "n1", "n2"], "border": [0, 2, 4, 5]}
    lanes = payload["policies"][0]["lanes"]
    assert (unpacked(lanes["start"]) * payload["tick"]).round(3).tolist() == [0, 0, 1, 4.5]
    assert (unpacked(lanes["length"]) * payload["tick"]).round(3).tolist() == [4.5, 4.5, 2.25, 3]


def test_the_use_of_places_is_a_share_of_the_time_until_the_last_end():
    use = place_use(placed())
    assert use.names == ("n0", "n1", "n2")
    assert use.share.round(6).tolist() == [1.0, 0.45, 0.0]
    assert use.finish.tolist() == [7.5, 4.5, 0.0]
    assert place_use(placed(), most=2).names == ("n0 … n1", "n2")


def test_the_best_that_is_proven_is_said_in_a_sentence():
    assert best_proven([placed()]).endswith(
        "makespan 7.50 s, at most 25.00 % above the least possible."
    )
    optimal = placed(proof=Proof("makespan", 7.5, 7.5))
    assert best_proven([optimal]).endswith("proven to be the least possible.")
    assert "Nothing is proven" in best_proven([placed(proof=Proof("makespan", 7.5))])
    assert best_proven([placed(proof=None)]) is None


def test_what_one_method_proves_holds_for_the_others():
    weak, strong = placed(), placed(proof=Proof("makespan", 7.5, 7.5))
    assert best_proven([weak, strong]).endswith("proven to be the least possible.")


def test_a_report_of_placed_jobs_shows_proof_and_places(tmp_path):
    comparison = Comparison((placed(),), ("makespan", "mean_wait", "peak_link_load"))
    page = write_report(comparison, tmp_path / "page.html", command="queuesmith place ...")
    text = page.read_text()
    assert "How far from the optimum" in text and "Use of each place" in text
    assert "Each band is one place" in text and "qs.compare" not in text

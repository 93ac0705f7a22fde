import pytest

from queuesmith.campaign.ranking import rank_policies
from queuesmith.report import study_page
from queuesmith.report.study_page import verdict, write_study_report
from tests.campaign.test_ranking import results


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[[1, 1, 2]]], "'a' and 'b' share the best rank over 1 log, at 1.50"),
        ([[[1, 2, 3]]], "'a' ranks best over 1 log, at 1.00"),
        ([[[5, 5, 5]]] * 3, "'a', 'b' and 'c' share the best rank over 3 logs, at 2.00, but"),
        ([[[1, 1, 9]]] * 30, "at 1.50 and differ from all others"),
        ([[[1, 2, 9]]] * 30, "'a' ranks best over 30 logs, at 1.00 and differs from all others"),
        ([[[1, 1, 2, 3]]] * 4, "rank over 4 logs, at 1.50; they do not differ from c"),
    ],
)
def test_the_verdict_of_a_study_names_all_that_share_the_best_rank(values, said):
    policies = ("a", "b", "c", "d")[: len(values[0][0])]
    assert said in verdict(rank_policies(results(values, policies=policies)))


def test_the_page_of_a_study_says_what_of_a_long_table_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.setattr(study_page, "MOST_ROWS", 2)
    found = results([[[1, 2]]] * 3, policies=("a", "b"))
    page = write_study_report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Of 3 rows the first 2 are shown; study table has all values." in page
    monkeypatch.setattr(study_page, "MOST_ROWS", 3)
    page = write_study_report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "are shown" not in page

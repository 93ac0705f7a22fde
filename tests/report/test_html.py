import json
import re
from dataclasses import replace

import pytest

from queuesmith.base.errors import OutputError
from queuesmith.figures.page import json_script
from queuesmith.report import Comparison, write_report
from queuesmith.report.sections import gantt_section
from queuesmith.schedule import Schedule
from queuesmith.workload import Change

NASTY = "</script><img src=x onerror=alert(1)> & \"quoted\" 'policy'"


def own_text(path) -> str:
    """Return the page without the code that it embeds."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


@pytest.fixture
def page(schedules, tmp_path) -> str:
    return own_text(write_report(Comparison(schedules), tmp_path / "report.html"))


def test_the_sections_stand_in_their_order(page):
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == [
        "What was replayed",
        "Comparison",
        "Waits",
        "Who waits how long",
        "Utilization and queue over time",
        "Gantt chart",
        "Slowdowns",
        "How the metrics are defined",
        "How to reproduce",
    ]


def test_every_link_leads_to_a_section(page):
    links = re.findall(r'href="#(.*?)"', page)
    assert links
    assert all(f'<section id="{link}">' in page for link in links)


def test_what_was_replayed_is_told(page):
    assert "testlog" in page
    assert "<dd>400</dd>" in page
    assert "<dd>64</dd>" in page
    assert "No job of the log was left out or mended." in page


def test_what_was_dropped_or_mended_is_told_with_its_reason(schedules, tmp_path):
    changes = (Change("never ran <odd>", 12, dropped=True), Change("too long", 3, dropped=False))
    noted = schedules[0].workload.noting(*changes)
    told = [replace(each, workload=noted) for each in schedules]
    page = own_text(write_report(Comparison(tuple(told)), tmp_path / "report.html"))
    assert "<li>12 jobs left out: never ran &lt;odd&gt;</li>" in page
    assert "<li>3 jobs mended: too long</li>" in page


def test_the_best_of_every_metric_is_marked(page):
    table = page[page.index("<table") : page.index("</table>")]
    assert table.count('class="best"') >= 5
    assert 'aria-label="best"' in table


def test_the_table_is_told_in_words(page):
    assert re.search(r"fcfs\+list waits \d+ % less than fcfs on average\.", page)


def test_confidence_intervals_are_shown_or_their_absence_explained(page, long_schedules, tmp_path):
    assert "too short for confidence intervals" in page
    long = own_text(write_report(Comparison(long_schedules), tmp_path / "long.html"))
    assert re.search(r"<small>[\d.,]+ to [\d.,]+</small>", long)
    assert "redrawing the weeks of the log" in long


def test_nothing_in_the_page_asks_for_the_network(page):
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "default-src 'none'" in page


def test_names_cannot_break_out_of_the_page(schedules, workload, tmp_path):
    jobs = workload.replaced(name=NASTY, labels={"user": (NASTY,) * 40, "group": (NASTY,) * 9})
    nasty = [
        Schedule(jobs, schedules[0].cluster, each.start, f"{NASTY} {i}")
        for i, each in enumerate(schedules)
    ]
    path = write_report(
        Comparison(tuple(nasty)),
        tmp_path / "report.html",
        description=NASTY,
        command=NASTY,
        extra_sections=[(NASTY, "<p>fine</p>")],
    )
    assert "<img" not in own_text(path)


def test_title_description_and_command_are_shown(schedules, tmp_path):
    page = own_text(
        write_report(
            Comparison(schedules),
            tmp_path / "report.html",
            title="Atlas in May",
            description="Would backfilling help?",
            command="queuesmith compare atlas.swf",
        )
    )
    assert "<h1>Atlas in May</h1>" in page
    assert "Would backfilling help?" in page
    assert "queuesmith compare atlas.swf" in page


def test_further_sections_stand_before_the_definitions(schedules, tmp_path):
    import plotly.graph_objects as go

    extra = [("Rules", "<p id='rule'>wide first</p>"), ("Convergence", go.Figure())]
    path = write_report(Comparison(schedules), tmp_path / "r.html", extra_sections=extra)
    page = own_text(path)
    assert "<p id='rule'>wide first</p>" in page
    places = [page.index(f"<h2>{title}") for title in ("Slow", "Rules", "Conv", "How the")]
    assert places == sorted(places)
    assert page.count('class="plot"') == 6


def test_two_further_sections_of_one_title_have_their_own_anchors(schedules, tmp_path):
    extra = [("Rules", "a"), ("Rules", "b")]
    path = write_report(Comparison(schedules), tmp_path / "r.html", extra_sections=extra)
    anchors = re.findall(r'<section id="(.*?)"', own_text(path))
    assert len(set(anchors)) == len(anchors)


def test_history_is_reproduced_as_history(schedules, workload, tmp_path):
    real = Schedule(workload, schedules[0].cluster, workload.submit, "history")
    page = own_text(write_report(Comparison((*schedules, real)), tmp_path / "report.html"))
    assert "[&#x27;fcfs&#x27;, &#x27;fcfs+list&#x27;]" in page


def test_the_heading_counts_policies_and_not_what_happened(schedules, workload, tmp_path):
    real = Schedule(workload, schedules[0].cluster, workload.submit + 10, "history")
    page = own_text(write_report(Comparison((real, *schedules)), tmp_path / "r.html"))
    assert "2 policies compared with what happened</h1>" in page


def test_an_objective_is_defined_by_its_metrics(schedules, tmp_path):
    comparison = Comparison(schedules, ("10*awrt[1] + mean_wait",))
    page = own_text(write_report(comparison, tmp_path / "report.html"))
    assert "<dt>awrt</dt>" in page
    assert "<dt>10*awrt[1] + mean_wait</dt>" in page


def test_a_log_too_long_for_single_jobs_is_told(schedules):
    assert "most loaded stretch" not in gantt_section(Comparison(schedules)).body
    body = gantt_section(Comparison(schedules), most_jobs=100).body
    assert "This log has 400 jobs" in body
    assert "most loaded stretch" in body


def test_the_path_comes_back_and_nothing_else_is_left(schedules, tmp_path):
    path = write_report(Comparison(schedules), str(tmp_path / "report.html"))
    assert path == tmp_path / "report.html"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_is_not_there_is_an_error(schedules, tmp_path):
    with pytest.raises(OutputError, match="nowhere"):
        write_report(Comparison(schedules), tmp_path / "nowhere" / "report.html")


def test_the_same_comparison_makes_the_same_page(schedules, tmp_path):
    one = write_report(Comparison(schedules), tmp_path / "one.html").read_bytes()
    assert write_report(Comparison(schedules), tmp_path / "two.html").read_bytes() == one


def test_data_cannot_end_its_element():
    assert "</" not in json_script("x", json.dumps({"a": "</script>"}))[:-9]


def test_the_library_travels_packed(schedules, tmp_path):
    path = write_report(Comparison(schedules), tmp_path / "report.html")
    assert path.stat().st_size < 2_500_000


def test_waits_are_divided_by_user_size_and_hour(page):
    assert "<h2>Who waits how long</h2>" in page
    parts = ("user", "size", "hour")
    assert [part for part in parts if f"<summary>By {part}</summary>" in page] == list(parts)
    assert ">2 to 4 cores</th>" in page

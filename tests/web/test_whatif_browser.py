"""What if, in a real browser: sliders move figures, the address holds everything."""

import json
import subprocess
import sys
import threading

import pytest

import queuesmith as qs
from queuesmith.web import replays
from tests.web.conftest import Visitor

pytestmark = pytest.mark.browser


def seconds_of(text: str) -> float:
    number, unit = text.split()
    return float(number.replace(",", "")) * {"s": 1, "min": 60, "h": 3600, "d": 86_400}[unit]


def test_a_slider_moves_figures_names_and_the_address(visitor, served):
    page = visitor.open()
    before = visitor.facts()
    bars = "() => document.querySelector('#by-part .js-plotly-plot').data.map(t => t.name)"
    visitor.slide(1, "group_5", 9)
    visitor.wait_for_name(1, "ranked(group_5=9)+easy")
    page.wait_for_function(f"name => ({bars})().includes(name)", arg="ranked(group_5=9)+easy")
    after = visitor.facts()
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert "ranked(group_5=9)+easy instead of fcfs+easy" in page.locator("#changes").inner_text()
    page.wait_for_function("() => location.search.includes('group_5%3D9')")
    expected = qs.simulate(served.context.logs.whole("small"), policy="ranked(group_5=9)+easy")
    assert seconds_of(after[1][4]) == pytest.approx(float(expected.wait.max()), rel=0.01)


def test_load_and_machine_of_a_column_can_be_turned(visitor):
    visitor.open("?column=fcfs%2Beasy&column=sjf%2Beasy")
    visitor.slide(1, "load", 1.5)
    visitor.wait_for_name(1, "sjf+easy @ load=1.5")
    visitor.slide(1, "cores", 128)
    visitor.wait_for_name(1, "sjf+easy @ load=1.5, cores=128")


def test_reload_and_back_restore_what_was_seen(visitor):
    page = visitor.open("?column=power%2Beasy&by=size")
    page.wait_for_timeout(1600)  # moves in quick succession are one step back
    visitor.slide(0, "alpha", 3)
    visitor.wait_for_name(0, "power(alpha=3)+easy")
    page.wait_for_function("() => location.search.includes('alpha%3D3')")
    page.reload()
    visitor.wait_for_name(0, "power(alpha=3)+easy")
    page.locator("#facts table").wait_for()
    assert page.locator(".readout").first.inner_text() == "3"
    page.go_back()
    visitor.wait_for_name(0, "power+easy")
    page.wait_for_function("() => document.querySelector('.readout').innerText === '1'")
    page.go_forward()
    visitor.wait_for_name(0, "power(alpha=3)+easy")


def test_columns_are_added_changed_and_removed(visitor):
    page = visitor.open("?column=fcfs%2Beasy")
    page.locator("#add-column").click()
    visitor.wait_for_name(1, "sjf+easy")
    text = page.get_by_label("Another policy").nth(1)
    text.fill("wfp3+list")
    text.press("Enter")
    visitor.wait_for_name(1, "wfp3+list")
    page.get_by_label("Backfill").nth(1).select_option("conservative")
    visitor.wait_for_name(1, "wfp3+conservative")
    page.get_by_label("Remove column 1").click()
    visitor.wait_for_name(0, "wfp3+conservative")
    page.wait_for_function("() => document.querySelectorAll('.column').length === 1")


def test_what_is_wrong_is_said_where_it_stands_and_the_rest_is_shown(visitor):
    page = visitor.open("?column=fcfs%2Beasy&column=my.py%3Amine&objective=nonsense")
    words = page.locator("#notices").inner_text()
    assert "names a file" in words or "nonsense" in words
    assert len(visitor.facts()) == 1
    page.locator("#objective").fill("10*awrt[1] + nonsense")
    page.locator("#objective").press("Enter")
    page.get_by_text("no metric").first.wait_for()


def test_tabs_do_not_mix(window, served):
    tabs = [Visitor(window, served) for _ in range(2)]
    for i, tab in enumerate(tabs):
        tab.open("?column=power%2Beasy")
        tab.slide(0, "alpha", i + 2)
    for i, tab in enumerate(tabs):
        tab.wait_for_name(0, f"power(alpha={i + 2})+easy")
        tab.page.wait_for_function(f"() => location.search.includes('alpha%3D{i + 2}')")
    for i, tab in enumerate(tabs):
        assert tab.name_of(0) == f"power(alpha={i + 2})+easy"
        tab.close()


def test_everything_seen_can_be_kept(visitor, served, tmp_path):
    page = visitor.open("?column=fcfs%2Beasy&column=power(alpha%3D2)%2Beasy&partition=gpu")
    page.get_by_text("Keep this").click()
    with page.expect_download() as policy:
        page.get_by_text("Policy of column 2 as a file").click()
    policy.value.save_as(tmp_path / "policy.json")
    assert qs.Policy.load(tmp_path / "policy.json").order.parameters["alpha"] == 2
    with page.expect_download() as report:
        page.get_by_text("The page as a report").click()
    report.value.save_as(tmp_path / "report.html")
    assert "power(alpha=2)+easy" in (tmp_path / "report.html").read_text()
    for kind in ("#command-line", "#python-call"):
        assert "partition == " in page.locator(kind).inner_text()


def test_the_call_in_python_gives_what_the_page_shows(visitor, tmp_path):
    page = visitor.open("?log=demo&column=sjf%2Beasy+%40+load%3D1.2&objective=mean_wait")
    shown = visitor.facts()[0][2]
    page.get_by_text("Keep this").click()
    code = page.locator("#python-call").inner_text()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seconds_of(shown) == pytest.approx(float(ran.stdout), rel=0.01)


def test_the_gantt_chart_has_the_jobs_in_view_and_no_others(visitor):
    page = visitor.open("?column=fcfs%2Beasy")
    page.get_by_text("Gantt chart of what is in view").click()
    page.get_by_role("button", name="Draw").click()
    page.locator(".gantt[data-redraws]").wait_for()
    everything = page.locator(".gantt-status").inner_text()
    page.evaluate(
        """() => { const plot = document.querySelector('#over-time .js-plotly-plot');
        const x = plot._fullData[0].x;
        return Plotly.relayout(plot, {'xaxis3.range': [x[10], x[40]]}); }"""
    )
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Draw").click()
    page.wait_for_function(
        "words => ![words, '', undefined].includes("
        "document.querySelector('.gantt-status')?.innerText)",
        arg=everything,
    )
    part = int(page.locator(".gantt-status").inner_text().split()[0].replace(",", ""))
    assert 0 < part < int(everything.split()[0].replace(",", ""))


def test_a_long_replay_shows_a_bar_and_can_be_stopped(visitor, monkeypatch):
    class UntilStopped(replays.Replay):
        def __init__(self, *nouns, **options):
            super().__init__(*nouns, **options)
            self.stopped = threading.Event()

        def cancel(self):
            super().cancel()
            self.stopped.set()

        def run(self):
            assert self.stopped.wait(60)
            return super().run()

    page = visitor.open("?column=power%2Beasy")
    monkeypatch.setattr(replays, "Replay", UntilStopped)
    visitor.slide(0, "beta", 2.2)
    page.locator("#bar").wait_for(state="visible")
    page.locator("#stop").click()
    page.get_by_text("Stopped. Move a slider to go on.").wait_for()
    monkeypatch.undo()
    visitor.slide(0, "beta", 2.3)
    visitor.wait_for_name(0, "power(beta=2.3)+easy")


def test_names_of_any_kind_are_shown_as_they_are(visitor):
    page = visitor.open("?by=partition&column=fcfs%2Beasy")
    assert page.locator("b b").count() == 0
    names = page.locator("#by-part .xtick text")
    names.first.wait_for()
    assert "<b>big</b>" in names.all_text_contents()


def test_the_answers_are_json_that_any_reader_takes(visitor):
    sent = []
    visitor.page.on(
        "response",
        lambda answer: sent.append(answer) if "_dash-update" in answer.url else None,
    )
    visitor.open()
    bodies = [answer.text() for answer in sent if answer.status == 200]
    assert bodies
    for body in bodies:
        json.loads(body, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

"""The report as a reader meets it: opened from a file in a real browser, without a network."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from queuesmith.report import Comparison, write_report
from queuesmith.report.sections import gantt_section
from queuesmith.schedule import Schedule

pytestmark = pytest.mark.browser

# How many colours a canvas shows; read from a copy, so that the chart itself stays fast.
COLOURFUL = """canvas => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) {
    seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  }
  return seen.size;
}"""


class Reader:
    """A page in the browser, and everything that went wrong on it."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._guard)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _guard(self, route: Any) -> None:
        self.asked.append(route.request.url)
        if route.request.url.startswith("file://"):
            route.continue_()
        else:
            route.abort()

    def open(self, path: Any) -> Any:
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
        self.page.wait_for_selector(".gantt[data-redraws]", timeout=60_000)
        return self.page

    def gantt(self, fact: str) -> str:
        return str(self.page.locator(".gantt").get_attribute(f"data-{fact}"))

    def view(self) -> list[float]:
        return [float(bound) for bound in self.gantt("view").split(",")]

    def changed(self, fact: str, action: Callable[[], Any]) -> None:
        """Do something and wait until the Gantt chart shows another view, policy or mode."""
        before = self.gantt(fact)
        action()
        self.page.wait_for_function(
            "([fact, before]) => document.querySelector('.gantt').dataset[fact] !== before",
            arg=[fact, before],
        )

    def check(self) -> None:
        """Check that nothing went wrong, and that nothing but the file was asked for."""
        assert self.complaints == []
        assert len(self.asked) == 1
        assert self.asked[0].startswith("file://")


@pytest.fixture
def reader(browser) -> Iterator[Reader]:
    """Somebody who opens a report of the test's own."""
    started = Reader(browser, viewport={"width": 1280, "height": 900})
    yield started
    started.page.close()
    started.check()


@pytest.fixture(scope="module")
def opened(browser, report) -> Iterator[Reader]:
    started = Reader(browser, viewport={"width": 1280, "height": 900})
    started.open(report)
    yield started
    started.page.close()


@pytest.fixture
def visitor(opened) -> Iterator[Reader]:
    """Somebody who looks at the one open report, which is put back as it was before."""
    page = opened.page
    page.mouse.move(0, 0)
    page.locator(".gantt-bar select").first.select_option(index=0)
    page.locator(".gantt").get_by_label("Show the whole").click()
    page.wait_for_function(
        """() => {
          const { view, policy } = document.querySelector(".gantt").dataset;
          const { span, policies } = JSON.parse(document.getElementById("gantt-data").textContent);
          return policy === policies[0].name && view === [...span, 0, policies[0].height].join();
        }"""
    )
    yield opened
    opened.check()


@pytest.fixture(scope="module")
def report(schedules, workload, tmp_path_factory) -> Any:
    real = Schedule(workload, schedules[0].cluster, workload.submit + 60, "history")
    comparison = Comparison((*schedules, real))
    return write_report(comparison, tmp_path_factory.mktemp("report") / "report.html")


def over(page: Any, x: float, y: float) -> None:
    """Point at a place of the Gantt chart, given as shares from the left and from the top."""
    chart = page.locator(".gantt-chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_all_figures_are_drawn(visitor):
    page = visitor.page
    plots = page.locator(".plot")
    assert plots.count() == 5
    for i in range(5):
        assert plots.nth(i).locator("svg.main-svg").first.bounding_box()["width"] > 500
        assert plots.nth(i).locator("path").count() > 3
    for canvas in (".gantt-chart", ".gantt-overview"):
        assert page.locator(canvas).evaluate(COLOURFUL) > 3


def test_a_click_in_a_legend_hides_a_policy_and_another_shows_it(visitor):
    page = visitor.page
    curves = page.locator("#waits .plot").first.locator(".scatterlayer .trace")
    entry = page.locator("#waits .legend").first.get_by_text("fcfs", exact=True)
    assert curves.count() == 3
    entry.click()
    page.wait_for_function(
        "() => document.querySelectorAll('#waits .plot .scatterlayer .trace').length === 2"
    )
    assert entry.get_attribute("aria-pressed") == "false"
    entry.click()
    page.wait_for_function(
        "() => document.querySelectorAll('#waits .plot .scatterlayer .trace').length === 3"
    )


def test_the_table_marks_the_best(visitor):
    page = visitor.page
    assert page.locator("table.comparison tbody tr").count() == 3
    best = page.locator("table.comparison td.best")
    assert best.count() >= 5
    assert "★" in best.first.inner_text()
    assert page.locator("tr.history td.best").count() == 0


def test_the_wheel_zooms_and_a_double_click_shows_the_whole(visitor):
    page = visitor.page
    whole = visitor.view()
    over(page, 0.5, 0.5)
    visitor.changed("view", lambda: page.mouse.wheel(0, -240))
    closer = visitor.view()
    assert closer[1] - closer[0] < (whole[1] - whole[0]) / 2
    assert closer[2:] == whole[2:]
    page.keyboard.down("Shift")
    visitor.changed("view", lambda: page.mouse.wheel(0, -240))
    page.keyboard.up("Shift")
    assert visitor.view()[3] - visitor.view()[2] < (whole[3] - whole[2]) / 2
    visitor.changed("view", lambda: page.locator(".gantt-chart").dblclick())
    page.wait_for_function(
        "whole => document.querySelector('.gantt').dataset.view === whole",
        arg=",".join(f"{bound:g}" for bound in whole),
    )


def test_at_the_outermost_the_wheel_scrolls_the_page(visitor):
    page = visitor.page
    over(page, 0.5, 0.5)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 200)
    page.wait_for_function("before => scrollY > before", arg=before)


def test_dragging_moves_the_view(visitor):
    page = visitor.page
    over(page, 0.5, 0.5)
    visitor.changed("view", lambda: page.mouse.wheel(0, -240))
    before = visitor.view()
    page.mouse.down()
    visitor.changed("view", lambda: over(page, 0.4, 0.5))
    page.mouse.up()
    after = visitor.view()
    assert after[0] > before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])


def test_pointing_at_a_job_tells_about_it(visitor):
    page = visitor.page
    tooltip = page.locator(".gantt-tooltip")
    assert not tooltip.is_visible()
    for share in range(20, 80, 3):
        over(page, share / 100, 0.85)
        if tooltip.is_visible():
            break
    words = tooltip.inner_text()
    assert words.startswith("Job ")
    assert all(word in words for word in ("user", "group", "cores", "waited", "ran", "started"))


def test_buttons_and_keys_zoom_too(visitor):
    page = visitor.page
    whole = visitor.view()
    visitor.changed("view", lambda: page.locator(".gantt").get_by_label("Zoom in").click())
    visitor.changed("view", lambda: page.locator(".gantt-chart").press("+"))
    assert visitor.view()[1] - visitor.view()[0] == pytest.approx((whole[1] - whole[0]) / 4)
    visitor.changed("view", lambda: page.locator(".gantt-chart").press("ArrowRight"))
    visitor.changed("view", lambda: page.get_by_label("Show the whole").click())
    assert visitor.view() == whole


def test_another_policy_and_another_colouring_redraw_the_chart(visitor):
    page = visitor.page
    assert visitor.gantt("policy") == "history"
    visitor.changed("policy", lambda: page.get_by_label("Policy").select_option(label="fcfs+list"))
    assert visitor.gantt("policy") == "fcfs+list"
    page.get_by_label("Colour by").select_option(label="wait")
    page.locator(".gantt-legend").get_by_text("under 1 min").wait_for()
    page.get_by_label("Colour by").select_option(label="user group")
    page.locator(".gantt-legend").get_by_text("group 1").wait_for()


def test_the_rectangles_on_screen_are_those_of_the_schedule(visitor, schedules):
    page = visitor.page
    count = page.locator(".gantt-status").inner_text().split()[0]
    assert int(count.replace(",", "")) >= len(schedules[0])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_any_screen(browser, report, width, scheme):
    reader = Reader(browser, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = reader.open(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.locator(".plot .xtick text").first.evaluate("node => getComputedStyle(node).fill")
    assert ink == {"light": "rgb(28, 36, 48)", "dark": "rgb(228, 233, 240)"}[scheme]
    page.close()
    assert reader.complaints == []


def test_names_of_any_kind_are_shown_as_they_are(reader, schedules, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    strange = Schedule(schedules[1].workload, schedules[1].cluster, schedules[1].start, name)
    comparison = Comparison((schedules[0], strange))
    page = reader.open(write_report(comparison, tmp_path / "report.html"))
    assert name in page.locator("table.comparison").inner_text()
    assert name in page.locator(".gantt-bar select").first.inner_text()
    assert name in page.locator(".legend button").all_text_contents()
    assert page.locator("img").count() == 0


def test_of_a_log_beyond_the_limit_a_stretch_is_drawn(reader, schedules, tmp_path, monkeypatch):
    monkeypatch.setattr("queuesmith.report.sections.gantt_section", _of_a_hundred_jobs)
    page = reader.open(write_report(Comparison(schedules), tmp_path / "report.html"))
    assert "most loaded stretch" in page.locator("#gantt").inner_text()
    assert page.locator(".gantt-chart").evaluate(COLOURFUL) > 3


def _of_a_hundred_jobs(comparison: Comparison) -> Any:
    return gantt_section(comparison, most_jobs=100)


def test_a_hundred_thousand_jobs_are_drawn(reader, large_schedules, tmp_path):
    path = write_report(Comparison(large_schedules), tmp_path / "report.html")
    assert path.stat().st_size < 12_000_000
    page = reader.open(path)
    assert reader.gantt("mode") == "mixed"
    assert page.locator(".gantt-chart").evaluate(COLOURFUL) > 100
    over(page, 0.5, 0.5)
    for _ in range(9):
        reader.changed("view", lambda: page.mouse.wheel(0, -240))
    assert reader.gantt("mode") == "single"
    assert page.locator(".gantt-chart").evaluate(COLOURFUL) > 3

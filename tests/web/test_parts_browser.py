"""The other parts of the page in a real browser: logs, knobs, learning, planning, live."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from queuesmith.web.runs import Run
from queuesmith.web.server import serving
from tests.live.conftest import slurm_commands  # noqa: F401
from tests.web.conftest import Served, Visitor, small_log
from tests.web.test_instances import QUEUE, TOML

pytestmark = pytest.mark.browser

SWF = "".join(
    f"{i} {60 * i} 0 {100 + 7 * (i % 9)} 4 -1 -1 4 400 -1 1 {i % 3} 1 -1 -1 -1 -1 -1\n"
    for i in range(1, 60)
)

#: Whether the choices of a place and of a queue end with some words.
CHOSEN = """(ends) => ["place-where", "place-queue"].every((id, i) => document.querySelector(
  `.select[data-id='"${id}"'] select`)?.value.endsWith(ends[i]))"""


def test_a_log_is_described_filtered_and_drawn(visitor):
    page = visitor.open("?tab=log", until="#described table")
    assert "300" in page.locator("#described").inner_text()
    page.wait_for_function("() => document.querySelectorAll('.bars path').length > 50")
    page.get_by_label("Most cores").fill("4")
    page.get_by_label("Most cores").press("Enter")
    page.wait_for_function("() => location.search.includes('widest=4')")
    page.wait_for_function(
        "() => !/jobs\\t300/.test(document.querySelector('#described').innerText)"
    )
    page.get_by_label("Most cores").fill("none")
    page.get_by_label("Most cores").press("Enter")
    page.get_by_text("must be a whole number of cores").wait_for()


def test_an_uploaded_log_is_shown_and_what_is_no_log_is_refused(visitor, tmp_path):
    page = visitor.open("?tab=log", until="#upload input")
    bad, good, large = (tmp_path / name for name in ("bad.swf", "good.swf", "large.swf"))
    bad.write_text("import os\n")
    good.write_text(SWF)
    large.write_text("x" * (2**20 + 1))
    page.locator("#upload input").set_input_files(bad)
    page.locator("#notices", has_text="bad.swf").wait_for()
    page.locator("#upload input").set_input_files(large)
    page.locator("#notices", has_text="an upload may have 1 MB").wait_for()
    page.locator("#upload input").set_input_files(good)
    page.locator("#described", has_text="good").wait_for()
    assert "59" in page.locator("#described").inner_text()
    # Chromium tells of every answer that is an error; these two were meant to be.
    visitor.complaints = [each for each in visitor.complaints if "422" not in each]


def test_a_run_goes_on_when_its_server_is_killed_and_is_there_afterwards(window, make_page):
    context, options = make_page(small_log())
    code = (
        "import sys, pathlib\n"
        "from queuesmith.web.server import ServeOptions, serve\n"
        "from tests.web.conftest import small_log\n"
        "options = ServeOptions(folder=pathlib.Path(sys.argv[1]), port=0, token='known')\n"
        "serve(small_log(), options=options, open_browser=False,\n"
        "      ready=lambda link: print(link, flush=True))\n"
    )
    words = [sys.executable, "-c", code, str(options.folder)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        link = server.stdout.readline().strip()
        tab = Visitor(window, Served(link, context))
        page = tab.open("?tab=learn&column=fcfs%2Beasy", until="#learn-start")
        page.get_by_role("button", name="Add to the objective").click()
        page.wait_for_function(
            "() => document.querySelector('#learn-objective').value === 'mean_wait + 1 * mean_wait'"
        )
        page.locator("#learn-objective").fill("awrt")
        page.locator("#learn-generations").fill("100000")
        page.locator("#learn-start").click()
        page.get_by_role("button", name="Stop:").wait_for()
        page.locator("#learn-course .scatterlayer .trace").wait_for(timeout=300_000)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
    page.close()
    [run] = context.runs
    assert run.status == "running"
    with serving(context, options) as (again, link):
        thread = threading.Thread(target=again.serve_forever, daemon=True)
        thread.start()
        tab = Visitor(window, Served(link, context))
        page = tab.open("?tab=learn&column=fcfs%2Beasy", until=".run")
        assert "running" in page.locator(".run").inner_text()
        page.locator("#learn-result li").first.wait_for(timeout=300_000)
        page.get_by_role("button", name="Stop:").click()
        page.get_by_role("button", name="Go on:").wait_for()
        assert Run(run.folder).status == "stopped"
        page.get_by_role("button", name="Try it in What if").click()
        page.locator("#facts td").first.wait_for()
        assert page.locator(".column-name").last.inner_text() == f"learned-{run.name}"
        tab.close()
        again.shutdown()
        thread.join()


def test_the_map_of_a_sweep_sets_the_sliders(visitor):
    page = visitor.open("?tab=knobs&column=fcfs%2Beasy", until="#sweep-start")
    page.locator("#sweep-ranges").fill("0:1:1")
    page.locator("#sweep-start").click()
    page.locator(".run", has_text="finished").wait_for(timeout=300_000)
    page.wait_for_function("() => document.querySelector('#map .js-plotly-plot')?.data?.length")
    page.evaluate(
        """() => { const plot = document.querySelector('#map .js-plotly-plot');
        const points = [{ customdata: plot.data[0].customdata[1], curveNumber: 0, pointNumber: 1 }];
        plot.emit('plotly_click', { points, event: {} }); }"""
    )
    page.locator("#facts table").wait_for()
    assert page.locator(".column-name").last.inner_text().startswith("power(")


def test_planning_steps_are_compared_with_their_optimum(visitor):
    page = visitor.open("?tab=plan&column=fcfs%2Beasy", until="#plan-start")
    page.locator("#plan-steps").fill("3")
    page.locator("#plan-seconds").fill("0.2")
    page.locator("#plan-start").click()
    page.locator("#plan-result", has_text="mean loss percent").wait_for(timeout=300_000)
    page.locator("#plan-gaps .point").nth(2).wait_for(state="attached")


def test_a_placement_of_uploaded_files_is_a_picture_with_its_proven_bound(visitor, tmp_path):
    page = visitor.open("?tab=plan&column=fcfs%2Beasy", until="#upload input")
    bad, grid, clusters, queue = (
        tmp_path / name for name in ("bad.toml", "times.csv", "sites.toml", "jobs.csv")
    )
    bad.write_text("nonsense")
    grid.write_text("m1,m2\n30,40\n50,10\n20,20\n")
    clusters.write_bytes(TOML)
    queue.write_bytes(QUEUE)
    page.locator("#upload input").set_input_files(bad)
    page.locator("#notices", has_text="bad.toml").wait_for()
    page.locator("#upload input").set_input_files([clusters, queue])
    page.wait_for_function(CHOSEN, arg=["-sites.toml", "-jobs.csv"])
    page.locator("#upload input").set_input_files(grid)
    page.wait_for_function(CHOSEN, arg=["-times.csv", "-jobs.csv"])
    page.locator("#place-method").fill("min-min")
    page.locator("#place-start").click()
    page.locator("#plan-result", has_text="above the least possible").wait_for(timeout=300_000)
    page.locator("#plan-gantt[data-redraws]").wait_for()
    assert page.locator("#plan-gantt").get_attribute("data-policy") == "min-min"
    page.locator("#place-seconds").fill("soon")
    page.locator("#place-start").click()
    page.get_by_text("seconds is 'soon', but it must be a number").wait_for()
    # Chromium tells of every answer that is an error; this one was meant to be.
    visitor.complaints = [each for each in visitor.complaints if "422" not in each]


def test_without_a_slurm_the_page_says_so(visitor, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    page = visitor.open("?tab=live", until="#live")
    assert "No Slurm found here" in page.locator("#live").inner_text()


INK = """ink => { const text = document.querySelector("#by-part .xtick text");
  return text && getComputedStyle(text).fill === ink; }"""


def test_the_page_fits_any_screen_light_and_dark(visitor):
    for query, until in (("?tab=log", "#described table"), ("", "#by-part .xtick text")):
        visitor.page.emulate_media(color_scheme="dark")
        visitor.page.set_viewport_size({"width": 390, "height": 800})
        page = visitor.open(query, until=until)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 2560, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 2560
    page.wait_for_function(INK, arg="rgb(228, 233, 240)")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(INK, arg="rgb(28, 36, 48)")


def test_sliders_can_be_moved_by_keys(visitor):
    page = visitor.open("?column=power%2Beasy")
    slider = page.locator("input[type=range]").first
    assert slider.evaluate("node => node.labels[0].innerText").startswith("alpha")
    slider.focus()
    page.keyboard.press("ArrowRight")
    visitor.wait_for_name(0, "power(alpha=1.1)+easy")


def test_the_server_refuses_strangers(served):
    import urllib.error
    import urllib.request

    def code(link, **heads):
        try:
            return urllib.request.urlopen(urllib.request.Request(link, headers=heads)).status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    assert code(served.link) == 200
    assert code(served.link, Host="evil.example.org") == 403
    assert code(served.link, Origin="https://evil.example.org") == 403
    assert code(served.link.rsplit("/", 2)[0] + "/") == 403


def test_processes_of_runs_are_left_to_themselves(served):
    assert os.getpid() not in {run.process for run in served.context.runs}


def test_the_queue_of_a_slurm_is_looked_at_foretold_and_compared(visitor, slurm_commands):  # noqa: F811
    for number in (2, 3, 4):
        slurm_commands.job(number, cores=16, nodes=2)
    page = visitor.open("?tab=live&column=sjf%2Beasy", until="#live-look")
    page.get_by_text("Nobody has looked yet").wait_for()
    page.locator("#live-look").click()
    page.locator("#live-queue", has_text="16 cores on 2 nodes of partition day").wait_for()
    page.locator("#live-forecast table").wait_for()
    page.locator("#live-starts .scatterlayer .point").first.wait_for()
    page.locator("#live-advice", has_text="sjf+easy would move 2 of 3 jobs").wait_for()
    page.locator("#live-policy").fill("fcfs+easy")
    page.locator("#live-policy").press("Enter")
    page.locator("#live-advice", has_text="fcfs+easy would change nothing for 3 jobs").wait_for()
    page.wait_for_function("() => location.search.includes('policy=fcfs%2Beasy')")
    page.reload()
    page.locator("#live-advice", has_text="fcfs+easy would change nothing for 3 jobs").wait_for()
    slurm_commands.set(down=True)
    page.locator("#live-look").click()
    page.get_by_text("slurmctld does not answer").wait_for()
    assert slurm_commands.told == []

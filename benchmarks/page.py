"""The what-if page in a real browser: from the move of a slider to the figures being drawn.

    python -m benchmarks.page [--jobs 100000] [--moves 8]

Beside the time that passes stand the processor seconds of the server, of the page's own thread and
of the whole browser: on a machine that is busy with other things, they tell what it needs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

#: The order, the knob that is moved, its values, and what the page must keep to, in seconds.
CASES = (
    ("ranked+easy", "group_5", 1.0, 0.3),
    ("saf+easy", "load", 0.05, 0.3),
    ("power+easy", "alpha", 0.1, 1.0),
    ("multifactor+easy", "PriorityWeightAge", 500.0, 1.0),
    ("wfp3+easy", "load", 0.05, 1.0),
)
COLUMNS = "column=fcfs%2Beasy&column=sjf%2Beasy"
TICKS = os.sysconf("SC_CLK_TCK")

# Moves a slider as a hand does, and waits until all three figures are drawn anew.
MOVE = """([id, value]) => new Promise((resolve) => {
  const slider = document.getElementById(id);
  const plots = ["by-part", "distribution", "over-time"].map(
    (name) => document.querySelector(`#${name} .js-plotly-plot`));
  let begun = 0, missing = plots.length;
  const drawn = () => requestAnimationFrame(() => {
    missing -= 1;
    if (missing === 0) resolve((performance.now() - begun) / 1000);
  });
  plots.forEach((plot) => plot.once("plotly_react", drawn));
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  begun = performance.now();
  set.call(slider, value);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""

SERVER = """
import sys, pathlib
import queuesmith as qs
from queuesmith.web.server import ServeOptions, serve
log = qs.lublin(int(sys.argv[1]), 1024, load=0.85, seed=1, name="large")
options = ServeOptions(folder=pathlib.Path(sys.argv[2]), port=0)
serve(log, options=options, open_browser=False, ready=lambda link: print(link, flush=True))
"""


class Move(NamedTuple):
    """What one move of a slider took, in seconds."""

    drawn: float
    server: float
    drawing: float
    browser: float


def measure(
    page: Any, link: str, policy: str, knob: str, step: float, moves: int, pid: int
) -> list[Move]:
    page.goto(f"{link}?{COLUMNS}&column={policy.replace('+', '%2B')}")
    page.locator("#facts table").wait_for()
    page.wait_for_timeout(1000)
    id = f'{{"column":2,"name":"{knob}","type":"knob"}}'
    begin = float(page.locator(f"[id='{id}']").input_value())
    found = []
    for number in range(moves + 1):
        value = f"{begin + step * (number + 1):g}"
        before = cpu_of(pid), *cpu_of_browser(page)
        drawn = page.evaluate(MOVE, [id, value])
        after = cpu_of(pid), *cpu_of_browser(page)
        found.append(Move(drawn, *(b - a for a, b in zip(before, after, strict=True))))
        page.wait_for_timeout(100)
    return found[1:]  # the first move may compile


def cpu_of(pid: int, part: str = "") -> float:
    """Return the processor seconds of a process, all its threads, or of a part of it."""
    fields = Path(f"/proc/{pid}/{part}stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu_of_browser(page: Any) -> tuple[float, float]:
    """Return the processor seconds of the threads that run and draw pages, and of all processes."""
    session = page.context.browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    pages = [int(each["id"]) for each in found if each["type"] == "renderer"]
    return sum(map(cpu_of_main, pages)), sum(float(each["cpuTime"]) for each in found)


def cpu_of_main(pid: int) -> float:
    """Return the processor seconds of the first thread of a process."""
    return cpu_of(pid, f"task/{pid}/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--moves", type=int, default=8, help="more would reach a slider's end")
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first so many")
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        words = ["taskset", "-c", "0"] if shutil.which("taskset") else []  # one core
        words += [sys.executable, "-c", SERVER, str(asked.jobs), folder]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            link = server.stdout.readline().strip()
            with sync_playwright() as driver:
                browser = driver.chromium.launch(
                    executable_path=shutil.which("chromium"),
                    args=["--no-sandbox", "--disable-gpu"],
                )
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.set_default_timeout(300_000)
                print(
                    f"{asked.jobs:,} jobs, three columns, server on one core, load of the machine "
                    f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; seconds a move"
                )
                heads = ("drawn", "worst", "server", "page", "browser", "at most")
                print(" " * 28 + "".join(f"{head:>9}" for head in heads))
                for policy, knob, step, most in CASES[: asked.cases]:
                    moves = measure(page, link, policy, knob, step, asked.moves, server.pid)
                    row = (
                        statistics.median(move.drawn for move in moves),
                        max(move.drawn for move in moves),
                        statistics.median(move.server for move in moves),
                        statistics.median(move.drawing for move in moves),
                        statistics.median(move.browser for move in moves),
                        most,
                    )
                    name = f"{policy}: {knob}"[:28]
                    print(f"{name:28}" + "".join(f"{value:9.3f}" for value in row), flush=True)
                browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()

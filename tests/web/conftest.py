"""The page as a visitor meets it: a server of its own, and a real browser."""

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("dash", reason="no Python package 'dash': install queuesmith[web]")

from queuesmith.web.context import Context
from queuesmith.web.server import ServeOptions, make_context, serving
from queuesmith.workload import Workload


def small_log(count: int = 300, cores: int = 64, seed: int = 1, **facts: Any) -> Workload:
    """Return random jobs of three partitions and two accounts that load 64 cores well."""
    random = np.random.default_rng(seed)
    width = 2 ** random.integers(0, 6, count)
    runtime = np.maximum(random.lognormal(6, 1.5, count).astype(int), 1)
    span = (width * runtime).sum() / cores / 0.9
    submit = np.sort(random.uniform(0, span, count).astype(int))
    return Workload(
        submit,
        runtime,
        runtime * 2,
        width,
        user=random.zipf(1.6, count) % 20,
        extra={
            "partition": random.integers(0, 3, count),
            "account": random.integers(0, 2, count),
        },
        labels={"partition": ("cpu", "gpu", "<b>big</b>"), "account": ("bio", "chem")},
        name="small",
        machine_cores=cores,
        **facts,
    )


def words_of(shown: Any) -> str:
    """Return all words of some parts of a page."""
    if shown is None or isinstance(shown, str | int | float):
        return "" if shown is None else str(shown)
    if isinstance(shown, list | tuple):
        return " ".join(words_of(each) for each in shown)
    return words_of(getattr(shown, "children", None))


class Served(NamedTuple):
    """A page that is being served."""

    link: str
    context: Context


@pytest.fixture(scope="session")
def make_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return what makes the context of a page; runs that were begun on it end with the tests."""
    made = []

    def make(log: Workload | None = None, machine: Any = None, policies=("fcfs+easy",), **facts):
        options = ServeOptions(folder=tmp_path_factory.mktemp("runs"), port=0, **facts)
        made.append(make_context(log, machine, policies, options=options))
        return made[-1], options

    yield make
    for context in made:
        for run in context.runs:
            if run.process is not None:
                context.runs.stop(run)


@pytest.fixture(scope="session")
def served(make_page: Any) -> Iterator[Served]:
    context, options = make_page(
        small_log(), policies=("fcfs+easy", "ranked+easy"), upload_limit=2**20
    )
    with serving(context, options) as (server, link):
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Served(link, context)
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def window(browser: Any) -> Iterator[Any]:
    """One window for all tabs: what was fetched once is not fetched and read again."""
    opened = browser.new_context()
    yield opened
    opened.close()


class Visitor:
    """A tab of the browser, what it asked for, and all that went wrong on it."""

    def __init__(
        self, window: Any, served: Served, *, width: int = 1280, height: int = 900
    ) -> None:
        self.link = served.link
        self.page = window.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.set_default_timeout(60_000)
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", self._note)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.link, "data:", "blob:")):
            self.foreign.append(request.url)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, query: str = "", *, until: str = "#facts table") -> Any:
        self.page.goto(self.link + query)
        self.page.locator(until).first.wait_for()
        return self.page

    def slide(self, column: int, knob: str, value: float) -> None:
        """Move a slider as a hand does: the browser tells of an input."""
        id = f'{{"column":{column},"name":"{knob}","type":"knob"}}'
        self.page.locator(f"[id='{id}']").fill(str(value))

    def name_of(self, column: int) -> str:
        return self.page.locator(".column-name").nth(column).inner_text()

    def wait_for_name(self, column: int, name: str) -> None:
        self.page.wait_for_function(
            "([i, name]) => document.querySelectorAll('.column-name')[i]?.innerText === name",
            arg=[column, name],
        )

    def facts(self) -> list[list[str]]:
        """Return the cells of the table, row by row."""
        rows = self.page.locator("#facts tbody tr").all()
        return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]

    def close(self) -> None:
        """Check that nothing went wrong and nothing but this server was asked."""
        self.page.close()
        assert self.complaints == []
        assert self.foreign == []


@pytest.fixture
def visitor(window: Any, served: Served) -> Iterator[Visitor]:
    started = Visitor(window, served)
    yield started
    started.close()

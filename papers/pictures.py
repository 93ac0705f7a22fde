"""The figures of a study: as a page of their own, and as pictures beside the study's."""

from __future__ import annotations

import re
import shutil
from base64 import b64decode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from queuesmith.figures.page import write_figures

WIDTH, HEIGHT = 900, 460
#: A front of a thousand points is five times as large as SVG.
TO_PNG = """([figure, width, height]) =>
  Plotly.toImage(JSON.parse(figure), {format: "png", width: width, height: height, scale: 1.5})"""


def write_page(figures: Iterable[Any], path: Path, *, title: str) -> None:
    """Write figures as one HTML page, and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_figures(list(figures), path, title=title)
    print(f"wrote {path}")


def keep_pictures(figures: Mapping[str, Any], page: Path) -> str:
    """Draw figures into files beside a page, and return the Markdown that shows them.

    A browser that shows no window draws them. Without Chromium, or without Playwright to drive it,
    there are none, and a word says so.
    """
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("no pictures: Chromium and the Python package 'playwright' draw them")
        return ""
    from plotly.offline import get_plotlyjs

    shown = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page()
        tab.add_script_tag(content=get_plotlyjs())
        for title, figure in figures.items():
            name = f"{page.stem}-{_slug(title)}.png"
            # Grounds are transparent on pages with a dark side; a picture may be on any page.
            figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
            url = tab.evaluate(TO_PNG, [figure.to_json(), WIDTH, HEIGHT])
            page.with_name(name).write_bytes(b64decode(url.partition(",")[2]))
            shown.append(f"![{title}]({name})")
        browser.close()
    return "\n\n".join(shown)


def _slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.partition(":")[0].lower()).strip("-")

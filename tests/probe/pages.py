"""Names that are meant to break out of a page: its elements stay those of a page of plain names."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from tests.probe.tally import Tally

NAMES = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onclick='alert(1)",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "</title><iframe src=javascript:alert(1)>",
    "</style><b>",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "\u2028alert(1)",
    "${alert(1)}",
    "{{7*7}}",
    "\\u003cscript\\u003e",
)


class _Elements(HTMLParser):
    """Counts elements with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag, *sorted(name for name, _ in attrs)] += 1


def elements(page: Path) -> Counter[tuple[str, ...]]:
    """Return the elements of a page; what stands inside scripts is none."""
    parser = _Elements()
    parser.feed(page.read_text(encoding="utf-8"))
    parser.close()
    return parser.found


def hostile_pages(folder: Path, names: tuple[str, ...] = NAMES) -> Tally:
    """Write each kind of page with each name wherever a name can stand."""
    tally = Tally()
    plain = {kind: elements(page) for kind, page in _pages(folder, "plain").items()}
    for name in names:
        for kind, page in _pages(folder, name).items():
            if elements(page) == plain[kind]:
                tally.note(f"names in a {kind}", "kept out")
            else:
                odd = elements(page) - plain[kind]
                tally.fault(f"names in a {kind}", "broke out", f"{name!r} gave {dict(odd)}")
    return tally


def _pages(folder: Path, name: str) -> dict[str, Path]:
    from queuesmith.cli import main

    before = Path.cwd()
    os.chdir(folder)
    try:
        _inputs(name)
        words = {
            "report": ("report", "log.csv", "--cores", "8", "--policies", "rules.json,fcfs+easy",
                       "--title", name, "--out", "report.html"),
            "description": ("describe", "log.csv", "--plot", "description.html"),
            "front": ("pareto", "log.csv", "--cores", "8", "--objective", "awrt", "--population",
                      "6", "--generations", "1", "--policies", "rules.json", "--plot",
                      "front.html"),
        }  # fmt: skip
        for kind, command in words.items():
            with contextlib.redirect_stdout(io.StringIO()):
                code = main([*command, "--quiet"])
            if code != 0:
                raise RuntimeError(f"no {kind} of {name!r}")
    finally:
        os.chdir(before)
    return {kind: folder / f"{kind}.html" for kind in words}


def _inputs(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    rows = [
        f"{n},{10 * n},{30 + n},{60 + n},{1 + n % 4},{quoted if n % 2 else 'other'},{1 + n % 3},"
        f"{quoted}"
        for n in range(1, 30)
    ]
    header = "id,submit,runtime,walltime,cores,user,group,queue"
    Path("log.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    rules = {"centre": [[0.5]], "width": [[1.0]], "weight": [[1, 2]]}
    policy = {
        "kind": "rule base",
        "name": name,
        "features": ["utilization"],
        "strategies": ["fcfs+easy", "sjf"],
        "rules": rules,
    }
    Path("rules.json").write_text(json.dumps(policy), encoding="utf-8")

"""Runs what a page of the documentation says, and compares what it prints with what the page shows.

Blocks of a page are run from top to bottom in one folder:

- ``python``: executed, all blocks of a page in one namespace; a ``text`` block that follows at once
  is what it prints,
- ``python title="my.py"``: written to that file,
- ``console``: each line ``$ queuesmith ...`` is run; the lines below it are what it prints.
  Lines of other programs are passed over.

A block behind ``<!-- not run -->`` is only shown. ``python -m tests.pages`` writes what is printed
today into the pages and beside the examples.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The width of the terminal that pages are recorded for.
WIDTH = 100
PAGES = (
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    "docs/python.md",
    "docs/federation_exact.md",
)
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.py") if path.with_suffix(".out").exists()
)

_BLOCK = re.compile(
    r"(?P<before>(?:<!-- not run -->\n)?)"
    r"^```(?P<kind>python|console)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<code>.*?)^```\n"
    r"(?P<shown>(?:\n?```text\n(?P<output>.*?)^```\n)?)",
    re.MULTILINE | re.DOTALL,
)


def today(page: str) -> str:
    """Return the text of a page with the outputs of today, running it in the current folder."""
    namespace: dict[str, object] = {"__name__": "page"}
    return _BLOCK.sub(lambda block: _rerun(block, namespace), page)


def comparable(page: str) -> list[str]:
    """Return the lines of a page that must not change: all but measured times and empty lines."""
    lines = (line.rstrip() for line in page.splitlines())
    return [line for line in lines if line and not re.match(r"\s*(seconds|computing time)\W", line)]


def output_of(example: Path, folder: Path) -> str:
    """Run an example in a folder and return what it prints."""
    done = subprocess.run(
        [sys.executable, str(example)], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def _rerun(block: re.Match[str], namespace: dict[str, object]) -> str:
    if block["before"]:
        return block[0]
    if block["kind"] == "console":
        return f"```console\n{_console(block['code'])}```\n{block['shown']}"
    if block["file"]:
        Path(block["file"]).write_text(block["code"], encoding="utf-8")
        return block[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block["code"], "<page>", "exec"), namespace)
    if not block["shown"] and not printed.getvalue():
        return block[0]
    return f"```python\n{block['code']}```\n\n```text\n{_trimmed(printed.getvalue())}```\n"


def _console(code: str) -> str:
    commands = re.split(r"^(?=\$ )", code.replace("\\\n", "\\\0"), flags=re.MULTILINE)
    return "".join(_command(each.replace("\0", "\n")) for each in commands if each)


def _command(text: str) -> str:
    lines = re.match(r"\$ (?:.*\\\n)*.*\n", text)
    words = shlex.split(lines[0][2:].replace("\\\n", " ")) if lines else []
    if lines is None or words[0] != "queuesmith":
        return text
    from queuesmith.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        main(words[1:])
    return lines[0] + _trimmed(printed.getvalue())


def _trimmed(output: str) -> str:
    lines = [line.rstrip() for line in output.splitlines()]
    text = "\n".join(lines).strip("\n")
    return f"{text}\n" if text else ""


def update() -> None:
    """Record what pages and examples print today."""
    for name in PAGES:
        page = ROOT / name
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(today(page.read_text(encoding="utf-8")), encoding="utf-8")
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            example.with_suffix(".out").write_text(output_of(example, Path(folder)), "utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = str(WIDTH)
    update()

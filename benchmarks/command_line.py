"""What whole commands take: beside an empty Python, and before anything is compiled."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import queuesmith as qs
from benchmarks import first_answers
from benchmarks.data import synthetic

REPEATS = 3


def wall(*words: str) -> float:
    """Seconds of the quickest of a few runs, after one that may compile."""
    times = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def main(verbs: list[str]) -> None:
    """Print what commands take; with verbs, only the first and second answer of these."""
    if not verbs:
        beside_an_empty_python()
    first_answers.main(verbs)


def beside_an_empty_python() -> None:
    """Print the wall time of some commands that are compiled already."""
    command = str(Path(sys.executable).parent / "queuesmith")
    empty = wall(sys.executable, "-c", "pass")
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "log.swf.gz")
        qs.write(synthetic(70_000), log)
        for words, target in (
            (["--help"], 0.3),
            (["simulate", log, "--policy", "fcfs+easy", "--format", "json"], 2.0),
            (["simulate", log, "--policy", "wfp3+easy", "--format", "json"], 2.0),
            (["compare", log], None),
        ):
            took = wall(command, *words)
            name = " ".join(word if word != log else "LOG (70,000 jobs)" for word in words)
            verdict = "" if target is None else f"; target {target} s: "
            verdict += "" if target is None else ("met" if took <= target else "MISSED")
            print(f"queuesmith {name}: {took:.2f} s, {took / empty:.0f} x an empty Python{verdict}")

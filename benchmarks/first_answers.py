"""Processor seconds of each verb's first answer, nothing compiled yet, and of its second."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import queuesmith as qs
from benchmarks.data import folder
from queuesmith.federation.model.generate import generate_queue, paper_federation
from queuesmith.grid.etc import generate_etc, write_etc

RUN = "import sys; from queuesmith.cli import run; sys.argv[0] = 'queuesmith'; run()"
TARGETS = (20.0, 2.0)
#: What is typed for each verb; LOG, FEDERATION, JOBS and ETC are small files of each kind. Searches
#: are given a tenth of a second, for what is measured here is all the rest.
VERBS = {
    "simulate": "simulate LOG",
    "simulate conservative": "simulate LOG --policy fcfs+conservative",
    "simulate plan": "simulate LOG --policy fcfs+plan",
    "simulate wfp3": "simulate LOG --policy wfp3+easy",
    "simulate dynp": "simulate LOG --policy dynp",
    "compare": "compare LOG",
    "report": "report LOG --out PAGE",
    "tune": "tune LOG --generations 1",
    "pareto": "pareto LOG --generations 1",
    "sweep": "sweep LOG --head 50 --range -1:1:0.5",
    "gap": "gap LOG --steps 2 --seconds-per-step 0.1",
    "solve": "solve LOG --head 20 --seconds 0.1",
    "knapsack": "knapsack LOG",
    "place lpt": "place FEDERATION JOBS --method lpt",
    "place oas": "place FEDERATION JOBS --method oas --seconds 0.1",
    "map min-min": "map ETC --method min-min",
    "map ga": "map ETC --method ga --seconds 0.1",
    "map exact": "map ETC --seconds 0.1",
    "fidelity": "fidelity SACCT --machine MACHINE",
}


def files(where: Path) -> dict[str, str]:
    """Make the files that verbs are given; the last two only where the real data are."""
    made = {
        "LOG": "log.swf.gz",
        "FEDERATION": "federation.toml",
        "JOBS": "jobs.csv",
        "ETC": "etc.csv",
        "PAGE": "page.html",
    }
    paths = {word: str(where / name) for word, name in made.items()}
    qs.write(qs.lublin(2_000, 256, load=0.9, seed=0), paths["LOG"])
    paper_federation().write(paths["FEDERATION"])
    generate_queue("general", 8, seed=1).write(paths["JOBS"])
    write_etc(generate_etc("u_c_lolo", 512, 16), paths["ETC"])
    machine = folder() / "slurm-runs" / "micro"
    if machine.is_dir():
        paths |= {"SACCT": str(machine / "sacct.out"), "MACHINE": str(machine)}
    return paths


def processor_seconds(words: list[str], cache: str) -> float:
    """Run a command to its end and return what it took, its threads and processes included."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", RUN, *words], env=environment, check=True, capture_output=True
    )
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def answers(verbs: list[str], paths: dict[str, str]) -> Iterator[tuple[str, list[float]]]:
    """Yield the seconds of the first and the second answer of each verb."""
    for verb in verbs:
        words = VERBS[verb].split()
        if any(word.isupper() and word not in paths for word in words):
            print(f"{verb}: its data are not there; set QUEUESMITH_DATA to their folder")
            continue
        with tempfile.TemporaryDirectory() as cache:
            typed = [paths.get(word, word) for word in words]
            yield verb, [processor_seconds(typed, cache) for _ in range(2)]


def main(verbs: list[str]) -> None:
    """Print a line a verb; by default for all."""
    unknown = [verb for verb in verbs if verb not in VERBS]
    if unknown:
        raise SystemExit(f"there is no verb '{unknown[0]}' here. Choose from: {', '.join(VERBS)}.")
    with tempfile.TemporaryDirectory() as name:
        paths = files(Path(name))
        processor_seconds(["--help"], name)  # bytecode is made once and is not what is measured
        print(f"{'processor seconds':<24}{'first':>8}{'second':>8}")
        for verb, took in answers(verbs or list(VERBS), paths):
            late = any(seconds > most for seconds, most in zip(took, TARGETS, strict=True))
            line = f"{verb:<24}{took[0]:>8.1f}{took[1]:>8.1f}"
            print(
                f"{line}  more than {TARGETS[0]:g} or {TARGETS[1]:g}" if late else line, flush=True
            )

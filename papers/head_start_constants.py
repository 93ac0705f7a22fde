"""How long a head start may be: chosen on generated logs that no table uses.

``python -m papers.head_start_constants`` learns head starts with different limits and prints, for
each, by how many per cent the objective is better than under EASY on jobs not seen, how often that
is a loss, and in how many runs somebody starves there.
"""

from __future__ import annotations

import argparse
from itertools import product

import queuesmith as qs
from papers.genetic_fuzzy_worth import OBJECTIVE
from queuesmith.learning.head_start import HeadStart
from queuesmith.learning.result import Tuned

SEEDS = (201, 202, 203, 204, 205, 206)
LIMITS = (12.0, 24.0, 48.0, 96.0, 1000.0)
OBJECTIVES = (OBJECTIVE, "mean_wait")


def learned(seed: int, objective: str, most: float, generations: int) -> Tuned:
    """Return what is learned on a generated log of 6,000 jobs, judged on its last part."""
    log = qs.lublin(6000, 256, load=0.85, seed=seed)
    method = HeadStart(most=most, generations=generations)
    return qs.tune(log, qs.Cluster(256), objective, method, workers=1)


def main() -> None:
    """Learn with every limit on every log, and print what came of it."""
    parser = argparse.ArgumentParser(description="Head starts: how long they may be.")
    parser.add_argument("--generations", type=int, default=20)
    generations = parser.parse_args().generations
    for objective, most in product(OBJECTIVES, LIMITS):
        runs = [learned(seed, objective, most, generations) for seed in SEEDS]
        gains = [held_out_gain(run) for run in runs]
        starved = sum(bool(run.held_out and run.held_out.starved) for run in runs)
        print(
            f"{objective}, at most {most:g} h: {sum(gains) / len(gains):.2f} % on jobs not seen "
            f"({', '.join(f'{gain:.1f}' for gain in gains)}); somebody starves in {starved} of "
            f"{len(runs)}",
            flush=True,
        )


def held_out_gain(run: Tuned) -> float:
    """Return by how many per cent jobs not seen are better off than under FCFS with EASY."""
    assert run.held_out is not None
    gain = run.held_out.improvement_percent["baseline"]
    return 0.0 if gain is None else float(gain)


if __name__ == "__main__":
    main()

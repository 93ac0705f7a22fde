"""What `tune` does where no method is named: chosen on generated logs that no table uses.

``python -m papers.method_choice`` learns by every method on every log, at equal work, and prints by
how many per cent the objective is better than under FCFS with EASY on jobs not seen, and in how
many runs somebody starves there, as the guard has it by default; and by how many per cent it is
better than under the best fixed strategy. ``--longest-wait 1.5`` learns under a stricter guard,
``--longest-wait none --seeds 331:346`` under none, on other logs.
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import fmean, median

import queuesmith as qs
from papers.genetic_fuzzy_worth import OBJECTIVE
from papers.head_start_constants import held_out_gain
from queuesmith.cli.learner_options import wait_factor
from queuesmith.learning.result import Tuned
from queuesmith.schedule.starvation import DEFAULT_FACTOR, NobodyStarves

SEEDS = "301:306"
METHODS = ("pittsburgh", "priority", "head_start", "race")
OBJECTIVES = (OBJECTIVE, "mean_wait", "mean_bounded_slowdown")


def learned(seed: int, objective: str, method: str, factor: float | None) -> Tuned:
    """Return what is learned on a generated log of 6,000 jobs, judged on its last part."""
    log = qs.lublin(6000, 256, load=0.9 if seed % 2 else 0.8, seed=seed)
    return qs.tune(log, qs.Cluster(256), objective, method, longest_wait=factor, workers=1)


def somebody_starves(run: Tuned) -> bool:
    """Tell whether a group starves on jobs not seen, whatever guard was learned under."""
    judged = run.held_out
    return judged is not None and bool(NobodyStarves().starved(judged.learned, judged.baseline))


def over_best_fixed(run: Tuned) -> float:
    """Return by how many per cent jobs not seen are better off than under the best fixed one."""
    assert run.held_out is not None
    gain = run.held_out.improvement_percent["best_fixed"]
    return 0.0 if gain is None else float(gain)


def main() -> None:
    """Learn by every method on every log, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--methods", default=",".join(METHODS), help="comma-separated")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES), help="comma-separated")
    parser.add_argument(
        "--longest-wait", type=wait_factor, default=DEFAULT_FACTOR, help="as for tune"
    )
    parser.add_argument("--seeds", default=SEEDS, help="of the logs: FIRST:LAST")
    asked = parser.parse_args()
    first, last = map(int, asked.seeds.split(":"))
    for objective, method in product(asked.objectives.split(","), asked.methods.split(",")):
        seeds = range(first, last + 1)
        runs = [learned(seed, objective, method, asked.longest_wait) for seed in seeds]
        gains, added = [held_out_gain(run) for run in runs], [over_best_fixed(run) for run in runs]
        print(
            f"{objective}, {method}: {fmean(gains):.1f} % on jobs not seen "
            f"({', '.join(f'{gain:.1f}' for gain in gains)}); somebody starves in "
            f"{sum(map(somebody_starves, runs))} of {len(runs)}; better than the best fixed "
            f"strategy in {sum(gain > 0 for gain in added)}, median {median(added):.1f} % "
            f"({', '.join(f'{gain:.1f}' for gain in added)})",
            flush=True,
        )


if __name__ == "__main__":
    main()
